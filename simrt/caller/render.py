"""The call as a stereo recording: the caller on the left, what the caller heard on the right."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

from simrt.audio import Samples, resample
from simrt.caller.clip import RATE
from simrt.caller.clock import US
from simrt.caller.line import Microphone, Speaker


def stereo(microphone: Microphone, speaker: Speaker, until_us: int) -> Samples:
    """Pickup to `until_us` at 24 kHz, int16, shape (n, 2).

    Left is what was said, also what the client never got; right is what was played by then.
    """
    mix = np.zeros((max(0, until_us) * RATE // US, 2), dtype=np.int32)
    for said in microphone.said:
        _add(mix[:, 0], said.start_us, said.clip.samples)
    for segment in speaker.segments:
        _add(mix[:, 1], segment.start_us, resample(segment.samples, speaker.format.rate, RATE))
    return np.clip(mix, -32768, 32767).astype(np.int16)


def write_wav(path: str | Path, samples: Samples, rate: int = RATE) -> Path:
    """Write int16 samples, shape (n,) or (n, channels), as a WAV file."""
    path = Path(path)
    soundfile.write(path, samples, rate, subtype="PCM_16", format="WAV")
    return path


def _add(track: npt.NDArray[np.int32], start_us: int, samples: Samples) -> None:
    at = (start_us * RATE + US // 2) // US
    if at < 0:
        samples, at = samples[-at:], 0
    room = max(0, len(track) - at)
    track[at : at + len(samples)] += samples[:room]
