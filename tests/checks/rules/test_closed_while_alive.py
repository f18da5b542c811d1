import pytest

from tests.checks.talk import Talk

REASON = "keepalive ping timeout"


def call(closed_ms: float, reason: str = REASON, code: int = 1011, by: str = "client") -> list[str]:
    """A reply is under way from 30 s on, a piece every 200 ms until 40 s; what the rule says of that end."""
    talk = Talk().ready()
    talk.created(30_000)
    for ms in range(30_000, 40_000, 200):
        talk.audio(ms, 200)
    trace = talk.close(closed_ms, by=by, code=code).trace()  # type: ignore[arg-type]
    assert trace.closing is not None
    talk.closing = type(trace.closing)(trace.closing.t_us, code, reason, trace.closing.by)
    return [finding.message for finding in talk.findings("END410")]


def test_a_pong_is_late_and_the_reply_still_comes() -> None:
    (message,) = call(40_000)
    assert message == "closed the connection (1011 keepalive ping timeout) 200 ms after a frame had come over it"


def test_nothing_had_come_for_long() -> None:
    assert call(60_000) == []


@pytest.mark.parametrize("end", [{"by": "server"}, {"code": 1000, "reason": ""}, {"reason": "internal error"}], ids=str)
def test_another_end(end: dict[str, str | int]) -> None:
    assert call(40_000, **end) == []  # type: ignore[arg-type]
