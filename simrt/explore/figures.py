"""What a call comes to in numbers: the figures that maps are drawn of."""

from simrt.result import CallResult

FIGURES: dict[str, str] = {
    "goodbye_heard_ms": "how much of the last reply the caller heard",
    "goodbye_heard_percent": "how much of the last reply the caller heard, as a share of it",
    "goodbye_missed_ms": "how much of the last reply the caller never heard",
    "words_lost": "words of the caller that did not reach the agent, in the whole call",
    "first_words_lost": "words of the first thing that the caller said, that did not reach the agent",
    "unheard_ms": "audio that the agent sent and the caller never heard, in the whole call",
    "again_ms": "audio that was played to the caller another time",
    "replies": "replies that the agent sent",
    "replies_cut": "replies of which not all was heard",
    "ready_ms": "when the session was ready, from pickup",
    "virtual_ms": "how long the call took",
    "connections": "how often the client connected",
    "tool_calls": "tool calls that the model made",
    "findings": "findings of the rules",
    "failed": "1 where a rule found something, or the call ended in an error; else 0",
}
"""Each figure's name and what it says. A figure is left out where a call has none: a call without a reply has no
goodbye."""


def figures_of(result: CallResult) -> dict[str, float]:
    """The figures of one call that can be read off its result; `findings` and `failed` are the judge's."""
    found: dict[str, float] = {
        "words_lost": sum(turn.words_lost for turn in result.caller_turns),
        "unheard_ms": sum(max(0.0, reply.sent_ms - reply.heard_ms) for reply in result.replies),
        "again_ms": sum(reply.again_ms for reply in result.replies),
        "replies": len(result.replies),
        "replies_cut": sum(reply.cut_off for reply in result.replies),
        "virtual_ms": result.virtual_ms,
        "connections": len(result.traces),
        "tool_calls": len(result.calls),
    }
    if result.caller_turns:
        found["first_words_lost"] = result.caller_turns[0].words_lost
    if result.ready_ms is not None:
        found["ready_ms"] = result.ready_ms
    if result.replies:
        goodbye = result.replies[-1]
        found["goodbye_heard_ms"] = goodbye.heard_ms
        found["goodbye_missed_ms"] = max(0.0, goodbye.audio_ms - goodbye.heard_ms)
        if goodbye.audio_ms:
            found["goodbye_heard_percent"] = 100 * min(1.0, goodbye.heard_ms / goodbye.audio_ms)
    return {name: round(value, 3) for name, value in found.items()}
