from .runs import Call, fired, front_desk, plain, refused, times, with_fault


def test_nothing_comes_for_a_while_then_all_of_it_at_once() -> None:
    begin = times(plain(), reply=1)[5]
    call = with_fault(f"clog:at={begin:.0f}ms,for=700ms")
    want = [begin + 700 if begin <= t < begin + 700 else t for t in times(plain())]
    assert times(call) == want
    assert [got.kind for got in call.got] == [got.kind for got in plain().got]
    assert fired(call) == [(begin, f"clog:at={begin:.0f}ms,for=700ms")]


def test_at_a_place_in_a_reply() -> None:
    call = with_fault("clog:reply=1,at=1500ms,for=700ms")
    begin = times(plain(), reply=1)[7]
    # what lies in front of that audio in the same burst is out already
    want = [begin + 700 if begin <= t < begin + 700 else t for t in times(plain(), reply=1)]
    assert times(call, reply=1) == want


def test_behind_an_event() -> None:
    call = with_fault("clog:event=session.created,for=10s")
    assert times(call, "session.created") == times(plain(), "session.created")
    assert times(call, "session.updated") == [times(plain(), "session.created")[0] + 10_000.001]


def test_a_clog_in_a_quiet_moment_does_nothing_and_says_so() -> None:
    call = with_fault("clog:at=1s,for=200ms")
    assert times(call) == times(plain())
    assert call.session.final_verdict().unfired == ["clog:at=1000ms,for=200ms"]


def test_no_moment_or_a_wrong_one_can_never_fire() -> None:
    assert "say when" in refused("clog:for=1s")
    assert "not by both" in refused("clog:event=session.created,at=1s")
    assert "no 'session.create' event" in refused("clog:event=session.create")
    assert "nth=1 is not there" in refused("clog:event=session.created,nth=1")
    assert "lies beyond" in refused("clog:reply=1,at=5s")


def test_a_pong_waits_as_everything_does() -> None:
    call = Call(front_desk(), ["clog:at=1s,for=3s"])
    assert call.session.pong_due(999_999) == 999_999
    assert call.session.pong_due(2_000_000) == 4_000_000
    assert call.session.pong_due(4_000_000) == 4_000_000
