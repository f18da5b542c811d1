"""Scores recordings of unknown protocols by happens-before: a server frame's cause is the latest client frame."""

from simrt.cassette.header import Header
from simrt.replay.score import OPEN, Cause, ClientEvent, Score, ScoredFrame, index_answers
from simrt.trace import Trace


def score_generic(trace: Trace, header: Header) -> Score:
    """The score of a trace whose events mean nothing to simrt."""
    cause: Cause = OPEN
    cause_us = 0
    frames: list[ScoredFrame] = []
    asked: list[ClientEvent] = []
    for number, frame in enumerate(trace.frames):
        if frame.sender == "client":
            cause, cause_us = ("frame", len(asked)), frame.t_us
            asked.append(ClientEvent("frame", len(asked), None, frame.t_us))
            continue
        event = frame.event()
        kind = str(event.get("type", "")) if event else ""
        frames.append(ScoredFrame(number, frame.payload, event, kind, cause, frame.t_us - cause_us))
    closing = trace.closing
    by_server = closing is not None and closing.by != "client"
    return Score(
        dialect="generic",
        profile=header.profile,
        opening=trace.opening,
        frames=frames,
        answers=index_answers(frames),
        client_events=asked,
        closing=closing,
        closing_cause=cause if by_server else None,
        closing_delay_us=closing.t_us - cause_us if by_server and closing else 0,
    )
