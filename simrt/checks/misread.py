"""Audio of the caller's that the server reads in another format than it is in.

In a simulated call it is known what was said: a client that passes the microphone's frames on sends them in the line's
format, one that converts is tried with every format there is. Of a recording only what is noise in one reading and
speech in another is told (simrt.checks.readings). Nothing is looked for when the server has heard every word.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from simrt.audio import ALAW8, ULAW8, AudioFormat
from simrt.checks.arrival import Wire, frames_of, suspects, words_of
from simrt.checks.case import Append, Case, once
from simrt.checks.readings import other_format
from simrt.replay import listener

_FORMATS = (*(AudioFormat("pcm16", rate) for rate in (8000, 16000, 24000, 48000)), ULAW8, ALAW8)


class Misread(msgspec.Struct, frozen=True):
    """A run of audio that is in `format`, and that the server reads in `agreed`. `early`: it came before the client's
    session.update that names its format."""

    first: Append
    audio_us: int
    format: AudioFormat
    agreed: AudioFormat
    early: bool


@once
def misread(case: Case) -> list[Misread]:
    """The runs of audio that were in a wrong format, in order."""
    if not case.caller_audio_whole or (case.simulated and not suspects(case)):
        return []
    return list(_runs(case))


def name_of(format: AudioFormat) -> str:
    """A format in words."""
    names = {"pcm16": "PCM16", "ulaw": "μ-law", "alaw": "A-law"}
    return f"{format.rate / 1000:g} kHz {names[format.encoding]}"


def _runs(case: Case) -> Iterator[Misread]:
    for number, changes in enumerate(case.input_formats):
        named = changes[0][0] if changes else 0
        mine = [append for append in case.appends if append.connection == number]
        for agreed, run in groupby(mine, key=lambda append: append.format):
            appends = list(run)
            early = appends[0].frame < named
            found = _format_of(case, appends, agreed)
            if found is None or (early and found.encoding != changes[0][1].encoding):
                continue
            size = sum(len(append.audio) for append in appends)
            yield Misread(appends[0], found.duration_us(size), found, agreed, early)


def _format_of(case: Case, appends: Sequence[Append], agreed: AudioFormat) -> AudioFormat | None:
    data = b"".join(append.audio for append in appends)
    line = case.line
    if line is None:
        return other_format(data, agreed)
    wire = Wire([data], line.format.width)
    for said in suspects(case):
        frames = list(frames_of(line.microphone, said.started_us, said.ended_us).values())
        if sum(wire.find(frame) is not None for frame in frames[::5]) * 2 > len(frames[::5]):
            return line.format if line.format != agreed else None
    return _recognised_in(case, appends, agreed)


def _recognised_in(case: Case, appends: Sequence[Append], agreed: AudioFormat) -> AudioFormat | None:
    """The format in which what was said can be recognised, when it cannot be in the one agreed."""

    def heard(format: AudioFormat) -> bool:
        said = [listener.Utterance(n, one.clip.samples, words_of(one)) for n, one in enumerate(suspects(case))]
        ear = listener.Listener(said)
        return any(ear.feed(append.audio, format, append.t_us) for append in appends)

    if heard(agreed):
        return None
    return next((format for format in _FORMATS if format != agreed and heard(format)), None)
