"""Whether the agent is heard as static: audio that was played in another format than it is in.

What was heard as it was sent is not looked at; neither is a client's own sound that is no noise.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from simrt.audio import AudioFormat, Samples
from simrt.checks.case import Case, once
from simrt.checks.hearing import Heard
from simrt.checks.readings import is_noise, is_speech, other_format
from simrt.checks.responses import Response

_MOST = 40_000  # bytes of a reply, and samples of what was heard, that are listened to


class Static(msgspec.Struct, frozen=True):
    """Noise is heard from `start_us` on instead of a response. The session states the format `stated`; `real` is what
    it is in when that is another one, None when the session is right."""

    start_us: int
    response: Response
    stated: AudioFormat
    real: AudioFormat | None


@once
def static(case: Case) -> Static | None:
    """The first response that is heard as noise, though it is speech; None: there is none."""
    line, hearing = case.line, case.hearing
    strange = [heard for heard in hearing.heard if heard.converted or heard.kind == "foreign"] if hearing else []
    if line is None or not strange:
        return None
    played = line.format.encode(_samples(case, strange))
    if other_format(played, line.format) is None and not is_noise(played, line.format):
        return None
    for place, response in enumerate(case.responses):
        if not response.pieces:
            continue
        stated = response.pieces[0].format
        wire = _wire(case.responses[place:], stated)
        real = other_format(wire, stated)
        if real is not None or is_speech(wire, stated):  # else noise is what was sent
            return Static(strange[0].start_us, response, stated, real)
    return None


def _wire(responses: Sequence[Response], stated: AudioFormat) -> bytes:
    """The beginning of what the responses sent while the session stated this format: one may be too short to tell."""
    data = b""
    for response in responses:
        for piece in response.pieces:
            if piece.format == stated:
                data += piece.audio()
            if len(data) > _MOST:
                return data[:_MOST]
    return data


def _samples(case: Case, heard: list[Heard]) -> Samples:
    """The beginning of what was heard then."""
    line = case.line
    assert line is not None
    rate, size, parts = line.format.rate, 0, []
    for start_us, samples in line.speaker.segments:
        for one in heard:
            low, high = ((t_us - start_us) * rate // 1_000_000 for t_us in (one.start_us, one.end_us))
            parts.append(samples[max(0, low) : max(0, high)])
            size += len(parts[-1])
        if size > _MOST:
            break
    return np.concatenate(parts)[:_MOST]
