"""Caller audio: what is said, with its words and their times."""

import itertools
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import soundfile

from simrt.audio import Samples, resample
from simrt.cassette.header import Word
from simrt.errors import SimrtError

RATE = 24000

_ROLES = ("caller", "agent", "background")
_SUFFIXES = (".flac", ".wav", ".ogg", ".mp3")


class ClipError(SimrtError):
    """A clip that does not exist or cannot be read."""


class _Beside(msgspec.Struct):
    """The JSON file beside an audio file."""

    text: str = ""
    words: list[Word] = []


class Clip:
    """Something to say: `samples` are 24 kHz int16 mono (read-only), `words` in ms since the first of them."""

    def __init__(self, name: str, samples: Samples, words: Sequence[Word] = (), text: str = "") -> None:
        self.name = name
        self.samples = samples.view()
        self.samples.flags.writeable = False
        self.words = list(words)
        self.text = text
        self._rates: dict[int, Samples] = {RATE: self.samples}

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        rate: int = RATE,
        *,
        name: str = "clip",
        words: Sequence[Word] = (),
        text: str = "",
    ) -> "Clip":
        """A clip of int16 mono samples at any rate."""
        return cls(name, resample(samples, rate, RATE), words, text)

    @property
    def duration_ms(self) -> float:
        return len(self.samples) * 1000 / RATE

    @property
    def duration_us(self) -> int:
        """Rounded up to whole µs."""
        return -(-len(self.samples) * 1_000_000 // RATE)

    def at_rate(self, rate: int) -> Samples:
        """The samples at another rate; resampled once."""
        if rate not in self._rates:
            self._rates[rate] = resample(self.samples, RATE, rate)
        return self._rates[rate]

    def __repr__(self) -> str:
        return f"Clip({self.name!r}, {self.duration_ms:.0f} ms, {self.text!r})"


def load_clip(path: str | Path) -> Clip:
    """Read an audio file (any format of libsndfile, others through ffmpeg), mixed to mono, at 24 kHz.

    A JSON file of the same name beside it gives its text and words: `{"text": ..., "words": [[word, start_ms, end_ms],
    ...]}`. Without one there are none. Raises ClipError when either file cannot be read.
    """
    path = Path(path)
    if not path.is_file():
        raise ClipError(f"no audio file {path}{_others(path)}")
    samples, rate = _read(path)
    beside = path.with_suffix(".json")
    about = _Beside()
    if beside.is_file():
        try:
            about = msgspec.json.decode(beside.read_bytes(), type=_Beside)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ClipError(
                f'{beside}: {error}; expected {{"text": ..., "words": [[word, start_ms, end_ms], ...]}}'
            ) from None
    return Clip.from_samples(samples, rate, name=path.stem, words=about.words, text=about.text)


@cache
def fixture_clip(name: str) -> Clip:
    """One of the clips that come with simrt, by name ("booking"); the caller's come first, background last.

    Read once per process. Raises ClipError that lists the names when there is none of this name.
    """
    from simrt import shipped

    folder = shipped.folder("fixtures")
    for role, suffix in itertools.product(_ROLES, _SUFFIXES):
        path = folder / role / (name + suffix)
        if path.is_file():
            return load_clip(path)
    lists = [f"{role}: {', '.join(_names(folder / role)) or 'none'}" for role in _ROLES]
    raise ClipError(f"no clip named {name!r}; those shipped are: {'; '.join(lists)}")


def _names(folder: Path) -> list[str]:
    return sorted({path.stem for path in folder.glob("*") if path.suffix in _SUFFIXES})


def _others(path: Path) -> str:
    """The audio files in the same folder, as the end of an error message."""
    names = sorted(p.name for p in path.parent.glob("*") if p.suffix in _SUFFIXES)
    return f"; in that folder: {', '.join(names[:20])}" if names else ""


def _read(path: Path) -> tuple[Samples, int]:
    try:
        data, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, ValueError) as error:
        # ValueError: a FLAC that was never finished claims to be endless
        return _read_with_ffmpeg(path, str(error))
    return _int16(data.mean(axis=1)), rate


def _read_with_ffmpeg(path: Path, reason: str) -> tuple[Samples, int]:
    with warnings.catch_warnings():
        # that audioop is going, and that there is no ffmpeg: the error below says what matters
        warnings.simplefilter("ignore")
        from pydub import AudioSegment

        try:
            segment = AudioSegment.from_file(path).set_channels(1).set_sample_width(2)
        except Exception:
            # pydub lets through whatever goes wrong: its own errors, no ffmpeg, output of ffprobe without streams
            raise ClipError(
                f"{path} cannot be read as audio ({reason}); ffmpeg is missing or does not know it either: "
                "convert it to WAV or FLAC"
            ) from None
    return np.frombuffer(segment.raw_data, dtype=np.int16), segment.frame_rate


def _int16(samples: npt.NDArray[np.float32]) -> Samples:
    """Exact for what was 16-bit in the file."""
    scaled: Samples = np.clip(np.rint(samples * 32768.0), -32768, 32767).astype(np.int16)
    return scaled
