from .runs import fired, refused, with_fault


def test_the_connection_breaks_without_a_close_frame() -> None:
    call = with_fault("reset:event=session.updated")
    assert call.end is not None
    ms, end = call.end
    assert end.reset
    assert [got.kind for got in call.got] == ["session.created", "session.updated"]
    assert fired(call) == [(ms, "reset:event=session.updated")]


def test_it_must_say_when() -> None:
    assert "say when" in refused("reset")
