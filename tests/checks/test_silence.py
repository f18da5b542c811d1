from simrt.checks import Limits
from simrt.checks.silence import Debt, dead_air, debts_of, limit_ms
from tests.checks.talk import Talk


def debts(talk: Talk) -> list[tuple[str, float, float]]:
    return [(debt.kind, debt.start_us / 1000, debt.end_us / 1000) for debt in debts_of(talk.case())]


def test_a_plain_call_owes_for_as_long_as_each_step_takes() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).call(2000).done(2100).output(2500)
    talk.client(2510, "response.create").created(2600, "resp_2").audio(2700, 500, "resp_2").done(2800, "resp_2")
    talk.append(9000, b"\0\0")
    assert debts(talk) == [
        ("server", 1500, 1600),
        ("answer", 1600, 2000),
        ("tool", 2000, 2500),
        ("ask", 2500, 2510),
        ("answer", 2510, 2800),
    ]


def test_nobody_owes_while_the_caller_speaks() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).call(2000).done(2100)
    talk.server(2200, "input_audio_buffer.speech_started", item_id="item_v", audio_start_ms=2000).output(2500)
    ends = [(kind, start == end) for kind, start, end in debts(talk.append(9000, b"\0\0")) if kind == "ask"]
    assert ends == [("ask", True)]


def test_a_request_that_is_still_open_asks_for_what_the_output_brings() -> None:
    """It was for something else, and nothing has come of it yet: it is owed, and not another one."""
    talk = Talk().ready().turn(500, 1500).created(1600).call(2000).done(2100).client(2200, "response.create")
    kinds = [kind for kind, _, _ in debts(talk.output(2500).append(9000, b"\0\0"))]
    assert kinds == ["server", "answer", "tool", "answer"]


def test_a_debt_is_dead_air_only_while_the_line_is_quiet() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).audio(1700, 8000).call(2000).done(2100).output(2500)
    case = talk.append(11_000, b"\0\0").case()
    assert [debt.kind for debt in debts_of(case)].count("ask") == 1
    assert list(dead_air(case, "ask")) == []
    case = talk.append(14_000, b"\0\0").case()
    (air,) = dead_air(case, "ask")
    assert (air.start_us, air.quiet_ms) == (9_700_000, 4300)


def test_limits_are_asked_for_when_it_is_judged() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).call(2000).done(2100).output(2500).append(5000, b"\0\0")
    case = talk.case()
    assert list(dead_air(case, "ask")) == []
    case.limits = Limits(ask_ms=1000)
    assert [air.debt.kind for air in dead_air(case, "ask")] == ["ask"]


def test_every_kind_has_a_limit() -> None:
    kinds = Debt.__annotations__["kind"]
    for kind in kinds.__args__:
        assert limit_ms(Limits(), kind) > 0
