"""A reply's audio comes in pieces of other lengths.

How much audio an event holds is the server's business: 20 ms, 200 ms, a second, an odd number of samples. A client that
takes a piece for a frame (a carrier wants 160 bytes each) or counts them clips, clicks, or drifts.
"""

from __future__ import annotations

import base64
from itertools import pairwise
from random import Random
from typing import ClassVar

from simrt.errors import PlanError
from simrt.faults.base import Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw
from simrt.faults.rewrite import response_frames, retold
from simrt.replay.edit import next_index, patched
from simrt.replay.score import Score, ScoredFrame


class Rechunk(Fault, frozen=True):
    """The audio of reply `reply` comes in pieces of `least` to `most` ms, each drawn to the sample; none comes earlier
    than the last of it did."""

    name: ClassVar[str] = "rechunk"
    reply: int = -1
    least: Ms = 1
    most: Ms = 400

    @classmethod
    def draw(cls, draw: Draw) -> Rechunk:
        """Short ones, long ones, or any."""
        reply = draw.reply()
        least, most = draw.pick(((1, 400), (20, 20), (1, 20), (500, 1500)))
        return cls(reply, least, most)

    def check(self, score: Score) -> None:
        """The reply must be there, and pieces must have a length."""
        self.find_reply(score, self.reply)
        response_frames(self, score, self.reply)
        if not 0 < self.least <= self.most:
            raise PlanError(f"fault {self}: pieces have a length: 0ms < least <= most")

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """The audio frames are others."""
        frames = [frame for frame in response_frames(self, score, self.reply) if frame.audio_us]
        fmt = score.output_format
        data, step, rate = b"".join(frame.audio for frame in frames), fmt.width, fmt.rate
        ends = [0]
        while ends[-1] < len(data):
            samples = rng.randint(max(1, self.least * rate // 1000), max(1, self.most * rate // 1000))
            ends.append(min(len(data), ends[-1] + samples * step))
        more, first, held, k = [], next_index(score), len(frames[0].audio), 0
        for n, (start, end) in enumerate(pairwise(ends)):
            while held < end:
                k += 1
                held += len(frames[k].audio)
            start_us, end_us = fmt.duration_us(start), fmt.duration_us(end)
            place = {"index": first + n, "rank": frames[k].place + n / len(ends) / 2}
            audio = {"audio": data[start:end], "audio_start_us": start_us, "audio_us": end_us - start_us}
            more.append(_piece(frames[k], f"{number}_{n}", **place, **audio))
        return patched(score, {frame.index: None for frame in frames}, more)

    def arm(self, context: Context, number: int) -> Armed:
        """Has fired when the first piece goes out."""
        return _Armed(self, context, number)


def _piece(frame: ScoredFrame, tag: str, **fields: object) -> ScoredFrame:
    event = dict(frame.event or {})
    audio = fields["audio"]
    assert isinstance(audio, bytes)
    event |= {"event_id": f"event_piece{tag}", "delta": base64.b64encode(audio).decode()}
    return retold(frame, event, **fields)


class _Armed(Armed):
    def __init__(self, fault: Fault, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.prefix = f"event_piece{number}_"

    def emit(self, send: Send, now_us: int) -> tuple[Send, ...]:
        frame = send.frame
        if frame is not None and str((frame.event or {}).get("event_id")).startswith(self.prefix):
            self.fire(now_us)
        return (send,)
