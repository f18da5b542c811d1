"""What the client tells the agent on a Live session: commentary, thinking, instructions.

An append waits until the timeline moves; then it is placed in the window where it came, and acknowledged a lag later,
in the order of sending. Placed is not heard: a commentary is spoken when somebody can speak, and may be dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from simrt.caller.cue import ReplyKey
from simrt.dialect import live_events
from simrt.dialect.live_rules import expects_reply, not_placed
from simrt.replay.live_timeline import PLACE, window_ms
from simrt.replay.live_track import Wish
from simrt.replay.live_words import ENOUGH, fit, same_words
from simrt.replay.score import ScoredReply

if TYPE_CHECKING:
    from simrt.replay.live import LiveSession

Outcome = Literal["waiting", "placed", "refused", "dropped", "incomplete"]

APPENDS: dict[str, live_events.AppendKind] = {
    "session.commentary.append": "commentary",
    "session.thinking.append": "thinking",
    "session.instructions.append": "instructions",
}
_ACK_US = 20_000  # an acknowledgement comes this much behind the slot that its window begins with


class Append(msgspec.Struct):
    """One thing that the client appended, and what became of it.

    `outcome`: still waiting for the timeline; placed on it; refused with an error; dropped unsaid because the caller
    finished a turn first; or incomplete: the session closed before it was placed. `start_ms`: its window. `reply`: the
    reply that said it. `error`: the code of the refusal.
    """

    kind: live_events.AppendKind
    content: str
    delegation_id: str | None
    t_us: int
    expects_reply: bool = False
    outcome: Outcome = "waiting"
    start_ms: int | None = None
    reply: ReplyKey | None = None
    error: str | None = None
    event_id: Any = None

    @property
    def unattached(self) -> bool:
        """A commentary that belongs to no delegation."""
        return self.kind == "commentary" and self.delegation_id is None


class Appends:
    """All appends of one session, in the order of coming."""

    def __init__(self, session: LiveSession) -> None:
        self.s = session
        self.all: list[Append] = []
        self.expecting = False  # the agent has asked the caller something for the client
        self._said: set[ReplyKey] = set()
        self._wishes: dict[int, Wish] = {}
        self._last_us = self._last_ack_us = 0

    def refused(self, event: dict[str, Any], code: str, now_us: int) -> None:
        """The rules are against it."""
        made = _append_of(event, now_us)
        made.outcome, made.error = "refused", code
        self.all.append(made)

    def take(self, event: dict[str, Any], now_us: int) -> None:
        """An append is accepted: it waits for the timeline to move on."""
        made = _append_of(event, now_us)
        number = self.s.counts[str(event["type"])] - 1  # refused ones count too
        self.all.append(made)
        s = self.s
        came_us = s.timeline.position(now_us)
        recorded = next(iter(s.score.answers.get((f"placed:{made.kind}", number), ())), None)
        place_us = came_us + (recorded.position_us or 0 if recorded is not None else 0)
        place_us = self._last_us = max(self._last_us, place_us)
        start_ms, end_ms = window_ms(place_us)
        usual_us = max(_ACK_US, s.live.lag_us + _ACK_US - (came_us - start_ms * 1000))
        delay_us = usual_us if recorded is None else recorded.delay_us

        def placed(position_us: int) -> None:
            if s.rules.closing:
                return
            made.start_ms = start_ms
            if made.outcome == "waiting":
                made.outcome = "placed"
            moment = s.timeline.when(position_us)
            assert moment is not None
            self._last_ack_us = max(self._last_ack_us, moment + delay_us)
            if recorded is None:
                ack = live_events.appended(s.new_id(), made.kind, start_ms, end_ms, made.event_id)
                s.synthesize(ack, self._last_ack_us, synthetic=not s.score.authored)
            else:
                s.wire.restate(recorded, start_ms=start_ms, end_ms=end_ms)
                s.schedule(recorded, self._last_ack_us)
            if made.kind == "commentary":
                self._say(made, number, max(position_us, start_ms * 1000))

        s.timeline.wait(came_us + 1, PLACE, placed)

    # --- saying it -----------------------------------------------------------------------------------------------

    def _say(self, made: Append, number: int, position_us: int) -> None:
        """A commentary stands on the timeline: find the words for it."""
        s = self.s
        if made.outcome == "dropped":
            return
        for armed in s.armed:
            later_us = armed.speak(number, s.now_us)
            if later_us is None:
                return
            position_us += later_us
        if self._never_said(made, number):
            return
        reply = self._answer(made)
        if reply is None:
            reply = s.track.make_up(f"made-up-{len(s.made_up)}", made.content)
            s.verdict.synthetic.append(f"speech ({made.content[:60]})")
        self._said.add(reply.index)
        made.reply = reply.index

        def begun(reply: ScoredReply) -> None:
            self._wishes.pop(id(made), None)
            self.expecting = self.expecting or made.expects_reply

        self._wishes[id(made)] = s.track.wish(reply, position_us, begun)

    def _answer(self, made: Append) -> ScoredReply | None:
        """The reply that answers this commentary: the one whose words it fits best; each is said once.

        What KugelAudio's agent says word for word must have just these words.
        """
        s = self.s
        free = [r for r in s.score.replies if r.cause[0] == "commentary" and r.index not in self._said]
        if made.expects_reply or (made.unattached and s.score.profile == "kugel"):
            recorded = not s.score.authored  # what was said to this commentary may have been cut off
            return next((r for r in free if same_words((recorded and r.content) or r.text, made.content)), None)
        fits = [(fit(made.content, reply.content or reply.text), -k, reply) for k, reply in enumerate(free)]
        best = max(fits, key=lambda entry: entry[:2], default=None)
        return best[2] if best is not None and best[0] >= ENOUGH else None

    def _never_said(self, made: Append, number: int) -> bool:
        """Whether the recorded client appended just this, and the recorded agent said nothing to it."""
        recorded = self.s.recorded.get(("session.commentary.append", number))
        same = recorded is not None and (recorded.event or {}).get("content") == made.content
        return same and number not in self.s.live.answered

    def unanswered(self) -> list[str]:
        """What the agent never had occasion to say, since no commentary asked for it."""
        replies = self.s.score.replies
        return [r.text for r in replies if r.cause[0] == "commentary" and r.index not in self._said]

    def turn_finished(self) -> None:
        """The caller has finished a turn: KugelAudio drops the unattached commentaries that nobody has begun to say."""
        if self.s.score.profile != "kugel":
            return
        for made in self.all:
            if not made.unattached or made.outcome not in ("waiting", "placed"):
                continue
            wish = self._wishes.get(id(made))
            if made.outcome == "waiting" or (wish is not None and self.s.track.withdraw(wish)):
                if made.reply is not None:
                    self._said.discard(made.reply)  # it answers the next one that has its words
                made.outcome, made.reply = "dropped", None

    # --- the end -------------------------------------------------------------------------------------------------

    def close(self, now_us: int) -> None:
        """The session closes: each append that the timeline never reached is told with an error of its own."""
        s = self.s
        recorded = [f for f in s.score.answers.get(("session.close", 0), ()) if f.kind == "error"]
        for made in self.all:
            if made.outcome != "waiting":
                continue
            made.outcome = "incomplete"
            if recorded:
                frame = recorded.pop(0)
                s.schedule(frame, now_us + frame.delay_us)
                continue
            problem = not_placed(made.kind)
            event = live_events.error(s.new_id(), problem, made.event_id)
            s.synthesize(event, now_us + s.CLOSE_US, synthetic=False)
        s.cut.update(frame.index for frame in recorded)


def _append_of(event: dict[str, Any], now_us: int) -> Append:
    delegation = event.get("delegation_id")
    return Append(
        APPENDS[str(event.get("type"))],
        str(event.get("content")),
        delegation if isinstance(delegation, str) else None,
        now_us,
        expects_reply(event),
        event_id=event.get("event_id"),
    )
