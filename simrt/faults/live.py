"""What the faults share that are about Live sessions: delegations, and what the client appends."""

from __future__ import annotations

from simrt.faults.base import Armed, Context, Fault, Send
from simrt.faults.draw import Draw
from simrt.faults.reject import APPENDS, asked
from simrt.replay.live_turns import DELEGATED
from simrt.replay.score import Score, ScoredFrame

ACKS = frozenset(f"{kind}ed" for kind in APPENDS)


def find_delegation(fault: Fault, score: Score, nth: int) -> ScoredFrame:
    """The `session.delegation.created` that `nth` means (from 0, or from the end); PlanError if there is none."""
    fault.about("live", score)
    return fault.find_event(score, DELEGATED, nth)


def draw_delegation(draw: Draw) -> int:
    """One of the cassette's delegations, the last one first."""
    return draw.pick(range(-1, -1 - sum(frame.kind == DELEGATED for frame in draw.score.own_frames), -1))


def appends(score: Score, *kinds: str) -> int:
    """How many of these the cassette's client sends; none named: appends of any kind."""
    return sum(len(asked(score, kind)) for kind in kinds or APPENDS)


def check_append(fault: Fault, score: Score, nth: int, *kinds: str) -> None:
    """The cassette's client must send so many; `nth` counts from 0."""
    fault.about("live", score)
    count = appends(score, *kinds)
    if not 0 <= nth < count:
        what = ", ".join(kinds) or "append"
        raise fault.never(f"the client sends {count} events of kind {what}, so nth={nth} is not there")


class ArmedAck(Armed):
    """Acts on the nth acknowledgement of the session, of whatever kind, counted from 0."""

    def __init__(self, fault: Fault, context: Context, number: int, nth: int) -> None:
        super().__init__(fault, context, number)
        self.nth = nth
        self.count = 0
        self.mine: list[Send] = []  # put on the wire by the fault itself

    def number_of(self, send: Send) -> int | None:
        """Which acknowledgement that is; None: it is none, or it has been counted before."""
        if send.kind not in ACKS or any(send is mine for mine in self.mine):
            return None
        self.count += 1
        return self.count - 1

    def send_at(self, due_us: int, send: Send) -> None:
        """Send one then."""
        self.mine.append(send)
        self.context.put(due_us, send, self)
