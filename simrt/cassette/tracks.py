"""Audio files beside a cassette: FLAC for PCM16, WAV with raw codes for G.711. Every byte comes back as it went in.

A track holds one side's audio in one format, chunk after chunk without gaps. G.711 is written here and not through a
codec library, since decoding to PCM folds μ-law's two zeros into one.
"""

import hashlib
import re
import struct
from pathlib import Path

import msgspec
import numpy as np
import soundfile

from simrt.audio import AudioFormat, Encoding
from simrt.errors import CassetteError
from simrt.trace import Sender

SIDES: dict[Sender, str] = {"client": "caller", "server": "agent"}
TRACK_NAME = re.compile(r"(?:caller|agent)(?:-[a-z0-9-]+)?\.(?:flac|wav)")

_WAV_TAGS: dict[int, Encoding] = {6: "alaw", 7: "ulaw"}
_WAV_HEAD = 58
_BLOCK = 1 << 16
_MAX_FLAC_RATE = 655_350


class Track(msgspec.Struct, frozen=True):
    """One audio file in memory: its bytes as they stood on the wire, base64 undone."""

    name: str
    format: AudioFormat
    data: bytes

    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def storable(format: AudioFormat, size: int) -> bool:
    """Whether `size` bytes in this format fit a track losslessly: whole samples, and a rate that FLAC can state."""
    return size > 0 and size % format.width == 0 and 0 < format.rate <= _MAX_FLAC_RATE


def track_name(sender: Sender, format: AudioFormat, taken: dict[str, AudioFormat]) -> str:
    """The file for this side and format: `caller.flac`, `agent.wav`, or, when that holds another format already,
    a name that says which (`caller-16000.flac`, `agent-alaw-8000.wav`). `taken`: the files so far."""
    suffix = "flac" if format.encoding == "pcm16" else "wav"
    plain = f"{SIDES[sender]}.{suffix}"
    if taken.get(plain, format) == format:
        return plain
    detail = f"{format.rate}" if suffix == "flac" else f"{format.encoding}-{format.rate}"
    return f"{SIDES[sender]}-{detail}.{suffix}"


class TrackWriter:
    """Appends chunks to one audio file without keeping them in memory. `size`: bytes so far."""

    def __init__(self, path: Path, format: AudioFormat) -> None:
        self.format = format
        self.size = 0
        self._hash = hashlib.sha256()
        self._pending = bytearray()
        self._flac: soundfile.SoundFile | None = None
        self._wav = None
        if format.encoding == "pcm16":
            self._flac = soundfile.SoundFile(
                path, "w", samplerate=format.rate, channels=1, format="FLAC", subtype="PCM_16"
            )
        else:
            self._wav = path.open("wb")
            self._wav.write(_wav_head(format, 0))

    def append(self, data: bytes) -> int:
        """Add whole samples; returns the index of the first."""
        first = self.size // self.format.width
        self.size += len(data)
        self._pending += data
        if len(self._pending) >= _BLOCK:
            self._flush()
        return first

    def close(self) -> str:
        """Finish the file; returns the SHA-256 of all bytes that were appended."""
        self._flush()
        if self._flac is not None:
            self._flac.close()
        if self._wav is not None:
            if self.size % 2:
                self._wav.write(b"\0")
            self._wav.seek(0)
            self._wav.write(_wav_head(self.format, self.size))
            self._wav.close()
        return self._hash.hexdigest()

    def discard(self) -> None:
        """Let go of the file, finished or not."""
        for file in (self._flac, self._wav):
            if file is not None and not file.closed:
                file.close()

    def _flush(self) -> None:
        block = bytes(self._pending)
        self._pending.clear()
        self._hash.update(block)
        if self._flac is not None:
            self._flac.write(np.frombuffer(block, dtype="<i2").astype(np.int16, copy=False))
        elif self._wav is not None:
            self._wav.write(block)


def read_track(folder: Path, name: str) -> Track:
    """Read one audio file of a cassette.

    CassetteError when the name leaves the folder (also through a link), or the file is missing or damaged.
    """
    path = folder / name
    if not TRACK_NAME.fullmatch(name):
        raise CassetteError(
            f"{folder}: {name!r} is no audio file of a cassette; they lie beside cassette.jsonl and are called "
            "caller*.flac, agent*.flac, caller*.wav or agent*.wav"
        )
    if path.resolve().parent != folder.resolve():
        raise CassetteError(f"{path}: is a link that leaves the cassette; copy the file itself into the folder")
    try:
        if name.endswith(".flac"):
            return Track(name, *_read_flac(path))
        return Track(name, *_read_wav(path))
    except FileNotFoundError:
        raise CassetteError(
            f"{path}: the audio file is missing; restore it beside cassette.jsonl or record the call again"
        ) from None
    except (OSError, ValueError, struct.error, soundfile.SoundFileError) as error:
        raise CassetteError(
            f"{path}: the audio file is damaged ({error}); restore it or record the call again"
        ) from None


def _read_flac(path: Path) -> tuple[AudioFormat, bytes]:
    with path.open("rb") as raw, soundfile.SoundFile(raw) as file:
        if (file.format, file.subtype, file.channels) != ("FLAC", "PCM_16", 1):
            raise ValueError(f"{file.format} {file.subtype}, {file.channels} channels instead of mono 16-bit FLAC")
        samples = file.read(dtype="int16")
        return AudioFormat("pcm16", file.samplerate), samples.astype("<i2", copy=False).tobytes()


def _wav_head(format: AudioFormat, size: int) -> bytes:
    """RIFF header for G.711: an 18-byte fmt chunk, a fact chunk, and the data chunk's head."""
    tag = next(tag for tag, encoding in _WAV_TAGS.items() if encoding == format.encoding)
    return struct.pack(
        "<4sI4s 4sIHHIIHHH 4sII 4sI",
        *(b"RIFF", _WAV_HEAD - 8 + size + size % 2, b"WAVE"),
        *(b"fmt ", 18, tag, 1, format.rate, format.rate, 1, 8, 0),
        *(b"fact", 4, size),
        *(b"data", size),
    )


def _read_wav(path: Path) -> tuple[AudioFormat, bytes]:
    raw = path.read_bytes()
    if raw[:4] != b"RIFF" or raw[8:12] != b"WAVE":
        raise ValueError("no RIFF/WAVE header")
    at, format = 12, None
    while at + 8 <= len(raw):
        kind, size = struct.unpack_from("<4sI", raw, at)
        at += 8
        if kind == b"fmt ":
            tag, channels, rate = struct.unpack_from("<HHI", raw, at)
            if tag not in _WAV_TAGS or channels != 1:
                raise ValueError(f"format tag {tag}, {channels} channels instead of mono μ-law (7) or A-law (6)")
            format = AudioFormat(_WAV_TAGS[tag], rate)
        elif kind == b"data":
            if format is None:
                raise ValueError("data before fmt")
            if at + size > len(raw):
                raise ValueError(f"cut short: {len(raw) - at} of {size} bytes")
            return format, raw[at : at + size]
        at += size + size % 2
    raise ValueError("no data chunk")
