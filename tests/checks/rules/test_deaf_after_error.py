from tests.checks.talk import Talk

from .calling import findings
from .small import Event, Small

EARLY = "error:reply=0,at=2000ms"


class Deaf(Small):
    """Stops reading events at the first error, and stays on the line."""

    deaf = False

    async def on_event(self, event: Event) -> None:
        self.deaf = self.deaf or event["type"] == "error"
        if not self.deaf:
            await super().on_event(event)


def test_a_client_whose_loop_died() -> None:
    (found,) = findings("PRO312", Deaf, "front-desk", EARLY, cap_ms=30_000)
    assert "never played" in found.message
    assert found.evidence["error"] == "server_error"


def test_a_client_that_reads_on() -> None:
    assert findings("PRO312", Small, "front-desk", EARLY) == []


def test_one_whose_last_error_came_when_all_was_said() -> None:
    assert findings("PRO312", Small, "front-desk", "error:event=response.done,nth=-1") == []


def speaking() -> Talk:
    talk = Talk().ready()
    for ms in range(200, 3000, 20):
        talk.append(ms, b"\0\0")
    return talk.error(3000, "invalid_value")


def test_a_recording_that_falls_silent_after_an_error() -> None:
    (found,) = speaking().server(12_000, "rate_limits.updated").findings("PRO312")
    assert "does not even send the caller's audio" in found.message


def test_a_recording_that_goes_on() -> None:
    assert speaking().append(3020, b"\0\0").append(9000, b"\0\0").findings("PRO312") == []
    assert speaking().server(12_000, "rate_limits.updated").client(12_100, "response.create").findings("PRO312") == []
