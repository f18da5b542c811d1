"""Live sessions written by hand, and calls of the parcel services."""

from typing import Any

from clients import parcel
from simrt.cassette.header import Header
from simrt.checks import Case, Finding, judge
from simrt.trial import staged
from tests.checks.talk import Talk


class LiveTalk(Talk):
    """A trace of a Live session in the making."""

    def started(self, ms: float = 500) -> "LiveTalk":
        """The session begins."""
        self.client(0, "session.start", session={"model": "gpt-live-1"})
        self.server(ms, "session.started", session={"id": "live_1", "audio": {}})
        return self

    def speech(self, start_ms: int, end_ms: int) -> "LiveTalk":
        """Audio of the caller's, 20 ms after 20 ms."""
        for ms in range(start_ms, end_ms, 20):
            self.client(ms, "session.input_audio.append", audio="AAAA")
        return self

    def delegation(self, ms: float, name: str = "d1") -> "LiveTalk":
        """The agent gives the client something to do."""
        body = {"id": name, "type": "delegation", "target": "client"}
        self.server(ms, "session.delegation.created", delegation=body, offset_ms=round(ms))
        return self

    def tell(self, ms: float, kind: str, content: str, name: str | None = "d1") -> "LiveTalk":
        """The client appends something."""
        self.client(ms, f"session.{kind}.append", content=content, delegation_id=name)
        return self

    def placed(self, ms: float, kind: str) -> "LiveTalk":
        """The oldest append of that kind is on the timeline."""
        self.server(ms, f"session.{kind}.appended", start_ms=round(ms), end_ms=round(ms) + 200)
        return self

    def refused(self, ms: float, code: str = "invalid_value", param: str = "content") -> "LiveTalk":
        """An append is refused."""
        self.server(ms, "error", error={"type": "invalid_request_error", "code": code, "param": param})
        return self

    def find(self, code: str, **header: Any) -> list[Finding]:
        """What the rule of that code finds in it."""
        case = Case.of_trace(self.trace(), Header(dialect="live", **header))
        return judge(case, select=[code])


def in_parcel(code: str, desk: str, script: str, *faults: str) -> list[Finding]:
    """What the rule of that code finds in a call of a parcel service."""
    with staged(getattr(parcel, desk), script, faults) as call:
        assert call.result is not None, call.error
        return judge(Case.of_result(call.result), select=[code])
