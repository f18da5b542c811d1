"""The interesting moments of a score: where clients have to take care, so where a fault is likely to tell.

In Realtime calls: the last reply (the goodbye) and its edges, ends of responses, tool calls and the taking of their
results, the gap between the opening of a reply's content and its first audio, speech that starts and stops, readiness.
In Live calls, which have no responses: the start, delegations, what was appended, the caller's words, the replies.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from simrt.faults.draw import Moment
from simrt.replay.score import Score, ScoredFrame

_EVENTS: dict[str, dict[str, str]] = {
    "realtime": {
        "response.done": "a response has ended",
        "response.function_call_arguments.done": "a tool is called",
        "conversation.item.done:function_call_output": "a tool's result has been taken",
        "response.content_part.added": "before the first audio of a reply",
        "input_audio_buffer.speech_started": "the caller begins to speak",
        "input_audio_buffer.speech_stopped": "the caller has spoken",
        "response.created": "a response begins",
        "session.updated": "the session is ready",
    },
    "live": {
        "session.delegation.created": "work is delegated",
        "session.commentary.appended": "a commentary was taken",
        "kugel.input_transcript.committed": "the caller has spoken",
        "session.input_transcript.delta": "the caller's words come",
        "session.thinking.appended": "a thought was taken",
        "session.instructions.appended": "instructions were taken",
        "session.started": "the session is ready",
    },
}
"""By dialect: event types, the more promising ones first, and why each is a moment. One with a colon is an item's."""


def moments(score: Score) -> list[Moment]:
    """The moments of a score, the more promising ones first: the kinds take turns, and of each the last comes first."""
    known = _EVENTS.get(score.dialect)
    groups = [_at_events(score, kind, why) for kind, why in known.items()] if known else list(_any_events(score))
    own = [reply for reply in score.replies if isinstance(reply.index, int)]
    for reply in reversed(own):
        what = "in the last reply" if reply is own[-1] else "in a reply"
        edges = _edges(score.own_frames, reply.index)
        places = [Moment(what, reply=int(reply.index), at_ms=at) for at in _inside_out(edges)]
        groups.insert(0 if reply is own[-1] else len(groups), places)
    return [moment for turn in zip_longest(*groups) for moment in turn if moment is not None]


def _at_events(score: Score, kind: str, why: str) -> list[Moment]:
    kind, _, sort = kind.partition(":")
    found = [frame for frame in score.own_frames if frame.kind == kind and (not sort or _item_type(frame) == sort)]
    return [Moment(why, frame.kind, frame.nth) for frame in reversed(found)]


def _any_events(score: Score) -> Iterator[list[Moment]]:
    """Of a protocol that is not known: the last and the first event of each type."""
    kinds: dict[str, list[ScoredFrame]] = {}
    for frame in score.own_frames:
        if frame.kind:
            kinds.setdefault(frame.kind, []).append(frame)
    for kind, frames in kinds.items():
        yield [Moment(f"at a {kind}", kind, nth) for nth in dict.fromkeys((frames[-1].nth, frames[0].nth))]


def _item_type(frame: ScoredFrame) -> str | None:
    item = (frame.event or {}).get("item")
    return item.get("type") if isinstance(item, dict) else None


def _edges(frames: Sequence[ScoredFrame], reply: object) -> list[int]:
    """Where one piece of a reply's audio ends and the next begins, in ms, with the beginning; not the end."""
    return sorted({frame.audio_start_us // 1000 for frame in frames if frame.reply == reply and frame.audio_us})


def _inside_out(edges: list[int]) -> list[int]:
    """A third of the way in, the beginning, the last piece, then the rest in order."""
    if not edges:
        return []
    return list(dict.fromkeys([edges[len(edges) // 3], edges[0], edges[-1], *edges]))
