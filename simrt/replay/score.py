"""A cassette made ready for replay: each server frame with its cause and its delay after the cause.

A cause is named by a pair, so that the same pair can be recognised in another call:
    ("open", 0)            the connection
    (client event, k)      the k-th client control event of that kind that was answered (see `control_kind`)
    ("turn.start", n)      the caller's n-th turn has reached the position that its speech_started carries
    ("turn.stop", n)       ... that its speech_stopped carries
    ("append", k)          the k-th audio frame of the client: where positions say nothing (cut audio)
    ("frame", k)           the k-th client frame of any kind: protocols that are not known
"""

from bisect import bisect_left
from typing import Any

import msgspec

from simrt.audio import PCM24, AudioFormat, Samples
from simrt.caller.cue import ReplyKey
from simrt.cassette.header import Word
from simrt.cassette.script import Hearing, Pacing
from simrt.trace import Closing, Opening

Cause = tuple[str, int]
OPEN: Cause = ("open", 0)


class ScoredFrame(msgspec.Struct):
    """One server frame. `index` is its own; of those due at one moment the one with the lower `place` goes first:
    `rank` if it has one, else the index. `reply` numbers the responses that carry audio, `response` all of them;
    `audio_start_us` is where this frame's audio lies in its reply, and `audio_us` how long it is (0 for frames without
    audio).

    Live: `position_us` says how far behind its cause's position on the timeline (a reply's frames: behind the reply's
    start) the frame has its own, and `delay_us` counts from the moment at which that is reached. None: the cause is no
    position, and `delay_us` counts from its moment.
    """

    index: int
    payload: str | bytes
    event: dict[str, Any] | None
    kind: str
    cause: Cause
    delay_us: int
    response: int | None = None
    reply: ReplyKey | None = None
    audio: bytes = b""
    audio_start_us: int = 0
    audio_us: int = 0
    nth: int = 0
    t_us: int = 0
    position_us: int | None = None
    rank: float | None = None

    @property
    def place(self) -> float:
        return self.index if self.rank is None else self.rank


class ScoredTurn(msgspec.Struct):
    """One caller turn: the clip that was spoken and the moments in it at which the server spoke up.

    `samples` are 24 kHz; all `*_us` are relative to the clip's first sample. `start_at_us` / `stop_at_us` is how
    much of the clip must have arrived (it may lie beyond the end: silence after the speech); `start_value_us` /
    `stop_value_us` is what `audio_start_ms` / `audio_end_ms` say. `home_us` is where the clip lay in the recorded
    input buffer. The voice itself lies between `onset_us` and `speech_end_us`. `cut_us`: how long after the
    caller's first sound a reply is cut off where the server confirms a barge-in first (PolyAI); 0: at
    `speech_started`. `over`: the replies that went on while it was said (Live).
    `samples` None: the recording has no usable caller audio, so the events hang on other causes.
    """

    index: int
    item_id: str
    text: str = ""
    samples: Samples | None = None
    words: list[Word] = []
    home_us: int | None = None
    start_at_us: int = 0
    start_value_us: int = 0
    stop_at_us: int = 0
    stop_value_us: int = 0
    onset_us: int = 0
    speech_end_us: int = 0
    cut_us: int = 0
    cue: str | None = None
    clip: str = ""
    said_us: int | None = None
    barge_in: bool = False
    hearing: Hearing = "turn"
    leave: bool = False
    over: list[ReplyKey] = []
    utterance: Any = None  # what the listener makes of the clip (simrt.replay.listener.Utterance), once for all calls


class ScoredReply(msgspec.Struct):
    """One response that carries audio. `words` are ms since its first sample.

    Live: it begins `start_us` behind the position of `cause`; on the recording that was at `home_us` of the timeline
    (0: authored). `content`: the commentary that it answers, its own text if empty. `over`: it began while the caller
    talked.
    """

    index: ReplyKey
    response: int
    response_id: str
    item_id: str = ""
    text: str = ""
    words: list[Word] | None = None
    audio_us: int = 0
    cause: Cause = OPEN
    start_us: int = 0
    home_us: int = 0
    content: str = ""
    over: bool = False


class ClientEvent(msgspec.Struct):
    """A control event that the recorded client sent, or that an authored call expects."""

    kind: str
    nth: int
    event: dict[str, Any] | None
    t_us: int = 0


class LiveScore(msgspec.Struct):
    """The agent's side of a Live timeline: a row of audio deltas of `slot_us` each, the slots.

    Slot j goes out when the timeline has reached its beginning and `lags[j]` more has passed, `lag_us` where the
    recording has no such slot. `fillers`: the recorded deltas between replies, by slot. `run_us`: how far the recorded
    timeline ran on by itself after all of the caller's audio, `run_from_us`, had arrived (byte counts that are not
    complete). `answered`: the recorded commentaries, by number, that the agent said something to. `usage_us`: where the
    timeline stood at each recorded `session.usage.updated` and `session.closed`, by frame index.
    """

    slot_us: int = 100_000
    lag_us: int = 800_000
    lags: list[int] = []
    fillers: dict[int, ScoredFrame] = {}
    run_from_us: int = 0
    run_us: int = 0
    answered: list[int] = []
    usage_us: dict[int, int] = {}


class Score(msgspec.Struct):
    """What the replay server plays from."""

    dialect: str
    profile: str
    opening: Opening
    frames: list[ScoredFrame]
    answers: dict[Cause, list[ScoredFrame]]
    turns: list[ScoredTurn] = []
    replies: list[ScoredReply] = []
    client_events: list[ClientEvent] = []
    closing: Closing | None = None
    closing_cause: Cause | None = None
    closing_delay_us: int = 0
    input_format: AudioFormat = PCM24
    output_format: AudioFormat = PCM24
    pacing: Pacing = Pacing()
    authored: bool = False
    own: int = 0
    live: LiveScore | None = None

    @property
    def own_frames(self) -> list[ScoredFrame]:
        """The cassette's frames, without those that faults have added."""
        return self.frames[: self.own] if self.own else self.frames


def control_kind(event: dict[str, Any]) -> str:
    """The kind by which client control events are counted: the type, and for items what sort of item."""
    kind = str(event.get("type"))
    if kind == "conversation.item.create":
        item = event.get("item")
        sort = item.get("type") if isinstance(item, dict) else None
        return f"{kind}:{sort}"
    return kind


class Arrivals:
    """When which part of the caller's audio had arrived: positions in µs of audio against times in µs."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.times: list[int] = []
        self.total_us = 0

    def add(self, duration_us: int, now_us: int) -> None:
        """Note that `duration_us` more audio has arrived at `now_us`."""
        self.total_us += duration_us
        self.ends.append(self.total_us)
        self.times.append(now_us)

    def index(self, position_us: int) -> int | None:
        """The number of the append with which `position_us` was reached, or None if it has not arrived."""
        k = bisect_left(self.ends, position_us)
        return k if k < len(self.ends) else None

    def when(self, position_us: int) -> int | None:
        """The time at which `position_us` of audio was reached, or None if it has not arrived."""
        k = self.index(position_us)
        return None if k is None else self.times[k]

    def spoken(self, position_us: int) -> int | None:
        """When that sound was made, if it was sent as it was made: the rest of its append came after it."""
        k = self.index(position_us)
        return None if k is None else self.times[k] - (self.ends[k] - position_us)


def index_answers(frames: list[ScoredFrame]) -> dict[Cause, list[ScoredFrame]]:
    """The frames by cause, and each frame's `nth` among those of its kind."""
    answers: dict[Cause, list[ScoredFrame]] = {}
    seen: dict[str, int] = {}
    for frame in frames:
        answers.setdefault(frame.cause, []).append(frame)
        frame.nth = seen.get(frame.kind, 0)
        seen[frame.kind] = frame.nth + 1
    return answers
