"""Audio is sent before the `session.update` that says in what format it is.

A listener notices that the agent did not hear the first words. There is no error: the server reads μ-law bytes as
24 kHz PCM16, which is what a session begins with, and hears noise, or nothing.

Everything that is sent before the client's `session.update` is read in the format that the session began with. What
comes behind the `session.update` is read in the new one, even if `session.updated` is still to come.

To mend: send `session.update` first, and hold the microphone until then (better until `session.updated`, which tells
that it was not refused).
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.misread import misread, name_of


@rule("CLR104", "audio-before-format", "Audio is sent before the session.update that names its format", harm="legal")
def check(case: Case) -> Iterator[Finding]:
    """Audio that was in the later format already."""
    for run in misread(case):
        if run.early:
            yield found(
                run.first.t_us,
                f"{run.audio_us / 1000:.0f} ms of {name_of(run.format)} were sent before the session.update that names "
                f"it: the server reads them as {name_of(run.agreed)}, and hears noise",
                connection=run.first.connection,
                frame=run.first.frame,
                sent_ms=run.audio_us / 1000,
            )
