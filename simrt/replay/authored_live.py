"""Turns a Live script into a Score. Positions count from the causes; the session puts them on its timeline."""

from typing import Any

import msgspec
import numpy as np

from simrt.audio import PCM24
from simrt.cassette.header import spread_words
from simrt.cassette.script import Delegate, Pacing, Reply, Script, Turn
from simrt.dialect import live_events
from simrt.replay.authored import NOTICE_US, voice_of
from simrt.replay.live_timeline import by_window
from simrt.replay.live_track import chunk_frames, text_frame
from simrt.replay.score import Cause, ClientEvent, LiveScore, Score, ScoredFrame, ScoredReply, ScoredTurn, index_answers
from simrt.replay.vad import VadName
from simrt.trace import Opening

_START: Cause = ("session.start", 0)
_COMMIT_US = 20_000
_DELEGATE_US = 25_000
_SAY_US = (
    200_000  # from what brings a reply to its first word, at the least: behind the delegation, the acknowledgement
)


class LiveAuthor:
    """Builds the scored frames of a Live call step by step. Also used to add to any Live score."""

    def __init__(self, pacing: Pacing, live: LiveScore, profile: str = "openai", vad: VadName = "energy") -> None:
        self.pacing, self.live, self.profile, self.vad = pacing, live, profile, vad
        self.frames: list[ScoredFrame] = []
        self.turns: list[ScoredTurn] = []
        self.replies: list[ScoredReply] = []
        self.tag = ""
        self.first_index = 0
        self.response = 0
        self._ids: dict[str, int] = {}

    def _id(self, prefix: str) -> str:
        self._ids[prefix] = self._ids.get(prefix, 0) + 1
        return f"{prefix}_{self.tag}{self._ids[prefix]:04d}"

    def add(self, cause: Cause, position_us: int | None, delay_us: int, event: dict[str, Any]) -> ScoredFrame:
        """One event, `delay_us` after its position behind the cause is reached."""
        payload = msgspec.json.encode(event).decode()
        frame = ScoredFrame(self.first_index + len(self.frames), payload, event, event["type"], cause, delay_us)
        frame.position_us = position_us
        self.frames.append(frame)
        return frame

    def start(self) -> None:
        """`session.started`; the session fills in what it is."""
        self.add(_START, None, self.pacing.ready_ms * 1000, live_events.started(self._id("event"), {}))

    def turn(self, turn: Turn, index: int) -> ScoredTurn:
        """A caller turn and its transcript, word by word."""
        samples = turn.samples if turn.samples is not None else np.zeros(0, np.int16)
        start_ms, stop_ms, onset_us, end_us = voice_of(samples, self.pacing, self.vad)
        length_ms = len(samples) * 1000 // PCM24.rate
        words = list(turn.words) or spread_words(turn.text, onset_us / 1000, end_us / 1000 or length_ms)
        scored = ScoredTurn(
            index,
            f"turn_{self.tag}{index}",
            turn.text,
            samples,
            words,
            start_at_us=onset_us + NOTICE_US,
            start_value_us=start_ms * 1000,
            stop_at_us=stop_ms * 1000,
            stop_value_us=stop_ms * 1000,
            onset_us=onset_us,
            speech_end_us=end_us,
            cue=turn.cue,
            clip=turn.clip,
            hearing=turn.hearing,
            leave=turn.leave,
        )
        self.turns.append(scored)
        if turn.hearing == "unheard" or not len(samples):
            return scored
        for nth, (text, _, end_ms) in enumerate(by_window(words)):
            event = live_events.transcript(self._id("event"), "input", f" {text}" if nth else text, 0, 0)
            self.add(("turn.start", index), max(0, end_ms * 1000 - 1), self.live.lag_us, event)
        if self.profile == "kugel" and turn.text:
            event = live_events.kugel_committed(self._id("event"), turn.text, 0, 0)
            self.add(("turn.stop", index), 0, self.live.lag_us + _COMMIT_US, event)
        return scored

    def delegate(self, index: int) -> None:
        """The agent hands turn `index` over to the client."""
        event = live_events.delegation_created(self._id("event"), self._id("item"), 0)
        self.add(("turn.stop", index), 0, self.live.lag_us + _DELEGATE_US, event)

    def reply(self, reply: Reply, cause: Cause, key: int | str) -> None:
        """Something that the agent says."""
        think_ms = self.pacing.think_ms if reply.think_ms is None else reply.think_ms
        start_us = max(0, think_ms * 1000 - self.live.lag_us)
        if cause[0] != "timeline":
            start_us = max(start_us, _SAY_US)
        scored = ScoredReply(key, self.response, f"{self.tag}reply-{key}", "", reply.text, list(reply.words) or None)
        self.response += 1
        scored.cause, scored.start_us, scored.content = cause, start_us, reply.content
        samples = reply.samples if reply.samples is not None else np.zeros(0, np.int16)
        made: list[ScoredFrame] = []
        chunk_frames(scored, samples.astype("<i2").tobytes(), self.live, self.first_index + len(self.frames), made)
        self.frames.extend(made)
        scored.audio_us = len(made) * self.live.slot_us
        length_ms = len(samples) * 1000 // PCM24.rate
        for nth, said in enumerate(by_window(reply.words or spread_words(reply.text, 0, length_ms))):
            index = self.first_index + len(self.frames)
            self.frames.append(text_frame(scored, index, said, nth, self.live))
        self.replies.append(scored)


def author_live(script: Script, profile: str = "openai", vad: VadName = "energy") -> Score:
    """The score of a Live script."""
    slot_us = 20_000 if profile == "kugel" else 100_000
    live = LiveScore(slot_us=slot_us, lag_us=script.pacing.lag_ms * 1000)
    made = LiveAuthor(script.pacing, live, profile, vad)
    made.start()
    last = -1  # the caller's last turn that is one
    turns = 0
    for step in script.steps:
        if isinstance(step, Turn):
            made.turn(step, turns)
            last = turns if step.hearing == "turn" else last
            turns += 1
        elif isinstance(step, Delegate):
            made.delegate(last)
        else:
            causes: dict[str, Cause] = {"start": ("timeline", 0), "commentary": ("commentary", 0)}
            made.reply(step, causes.get(step.on, ("turn.stop", last)), len(made.replies))
    return Score(
        dialect="live",
        profile=profile,
        opening=Opening(),
        frames=made.frames,
        answers=index_answers(made.frames),
        turns=made.turns,
        replies=made.replies,
        client_events=[ClientEvent("session.start", 0, None)],
        pacing=script.pacing,
        authored=True,
        live=live,
    )
