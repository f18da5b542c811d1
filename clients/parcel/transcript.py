"""What the caller said, turn by turn. A delegation carries no text: this is where its words come from.

Live has no event that ends a turn. With `"kugel": {}` its whole text is committed before the delegation; otherwise a
turn is what was heard since the one before, and over when the agent delegates it.
"""

from dataclasses import dataclass

STEP_MS = 200  # positions on the timeline are that exact
GAP_MS = 1500  # a pause that ends a turn; people stop for 600 ms in the middle of a sentence


@dataclass
class Turn:
    """A turn; `start_ms` and `end_ms` lie on the session's timeline.

    `committed`: `text` is the server's last word on it. `delegated`: a delegation has been opened for it.
    """

    start_ms: int
    end_ms: int
    text: str = ""
    committed: bool = False
    delegated: bool = False


class Transcript:
    """The caller's turns, in order."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    @property
    def last(self) -> Turn | None:
        """The latest turn, which may still be going on."""
        return self.turns[-1] if self.turns else None

    def delta(self, text: str, start_ms: int, end_ms: int) -> None:
        """`session.input_transcript.delta`."""
        turn = self._turn_of(start_ms, end_ms)
        if not turn.committed:
            turn.text += text
            turn.end_ms = max(turn.end_ms, end_ms)

    def commit(self, text: str, start_ms: int, end_ms: int) -> None:
        """`kugel.input_transcript.committed`: this is the whole turn, whatever the deltas were; they stand if it is
        nothing."""
        turn = self._turn_of(start_ms, end_ms)
        turn.text, turn.end_ms, turn.committed = text if text.strip() else turn.text, max(turn.end_ms, end_ms), True

    def delegate(self, offset_ms: int) -> Turn | None:
        """The turn that a delegation made at this position is about; None: there is none, or not yet, or it has been
        delegated before.

        What is heard late and lies before the position still belongs to it.
        """
        before = [turn for turn in self.turns if turn.start_ms <= offset_ms + STEP_MS]
        if not before or before[-1].delegated or before[-1].end_ms < offset_ms - GAP_MS:
            return None
        turn = before[-1]
        turn.delegated = True
        turn.end_ms = max(turn.end_ms, offset_ms + 1)
        return turn

    def _turn_of(self, start_ms: int, end_ms: int) -> Turn:
        turn = self.last
        over = turn is None or turn.committed or turn.delegated or start_ms - turn.end_ms >= GAP_MS
        if turn is None or (over and start_ms >= turn.end_ms):
            turn = Turn(start_ms, end_ms)
            self.turns.append(turn)
        return turn
