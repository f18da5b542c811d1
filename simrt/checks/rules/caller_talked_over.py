"""The agent talks while the caller talks, for longer than anybody puts up with, and the client knows it.

A listener hears two voices at once, and the caller has to stop or shout.

Between `input_audio_buffer.speech_started` and `speech_stopped` the caller has the floor. A client that asks for a
reply in between (a tool's output, a reminder, an idle prompt), that plays sounds of its own, or that has switched
`interrupt_response` off and does not stop the speaker itself, talks over them.

To mend: hold what you want said until `speech_stopped`; stop the speaker on `speech_started`.

The limit is `talk_over_ms` in one turn. An old reply that runs on is in AGT203, unless `interrupt_response` is off; a
reply that the server begins by itself is its own affair.
"""

from collections.abc import Iterator

from simrt.checks.barge_in import interrupts
from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.events import Event
from simrt.checks.hearing import Heard, overlap, united


@rule("AGT212", "caller-talked-over", "The agent is heard for too long while the caller talks")
def check(case: Case) -> Iterator[Finding]:
    """One finding for each turn of the caller that was talked over."""
    hearing = case.hearing
    if hearing is None:
        return
    for turn in case.turns:
        event = turn.started
        if event is None or (turn.text is not None and not turn.text.strip()):
            continue
        mine = [h for h in hearing.heard if _by_the_client(case, event, h)]
        heard = united((h.start_us, h.end_us) for h in mine)
        end_us = min(case.end_us, turn.over_us if turn.over_us is not None else case.end_us)
        talking = [(max(low, event.t_us), min(high, end_us)) for low, high in case.caller_speech]
        over_us = sum(overlap(heard, low, high) for low, high in talking if low < high)
        if over_us > case.limits.talk_over_ms * 1000:
            yield found(
                event, f"the agent is heard for {over_us / 1000:.0f} ms while the caller talks", over_ms=over_us / 1000
            )


def _by_the_client(case: Case, started: Event, heard: Heard) -> bool:
    """Whether the client is to blame for this sound while the caller talks: a sound of its own, a reply that it has
    asked for, or an old one where nobody else stops it."""
    if heard.piece is None:
        return heard.kind == "foreign"
    piece = heard.piece.event
    response = case.response(piece.connection, piece.text("response_id"))
    if response is None or piece.connection != started.connection:
        return False
    if response.first_us < started.t_us:
        return not interrupts(case, started)
    return response.asked is not None
