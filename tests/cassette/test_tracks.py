import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat
from simrt.cassette.tracks import TrackWriter, read_track, storable, track_name
from simrt.errors import CassetteError

from .builders import pcm

CODES = bytes(range(256)) * 300 + b"\x7f"


@pytest.mark.parametrize("format", [ULAW8, ALAW8])
def test_a_wav_can_be_read_by_others(format: AudioFormat, tmp_path: Path) -> None:
    writer = TrackWriter(tmp_path / "caller.wav", format)
    assert (writer.append(CODES[:-1]), writer.append(CODES[-1:])) == (0, 76800)
    writer.close()
    samples, rate = soundfile.read(tmp_path / "caller.wav", dtype="int16")
    assert rate == 8000
    assert np.array_equal(samples, format.decode(CODES))
    track = read_track(tmp_path, "caller.wav")
    assert (track.format, track.data) == (format, CODES)


def test_a_wav_by_others_can_be_read(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "agent.wav", ULAW8.decode(CODES), 8000, subtype="ULAW", format="WAV")
    raw = (tmp_path / "agent.wav").read_bytes()
    extra = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    (tmp_path / "agent.wav").write_bytes(raw[:12] + extra + raw[12:])
    track = read_track(tmp_path, "agent.wav")
    assert track.format == ULAW8
    assert np.array_equal(ULAW8.decode(track.data), ULAW8.decode(CODES))


def test_flac_in_many_small_pieces(tmp_path: Path) -> None:
    data = pcm(100_000)
    writer = TrackWriter(tmp_path / "caller.flac", PCM24)
    firsts = [writer.append(data[i : i + 960]) for i in range(0, len(data), 960)]
    digest = writer.close()
    assert firsts == list(range(0, 100_000, 480))
    track = read_track(tmp_path, "caller.flac")
    assert (track.format, track.data, track.sha256()) == (PCM24, data, digest)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "no RIFF/WAVE header"),
        (b"RIFF\0\0\0\0WAVE", "no data chunk"),
        (b"RIFF\0\0\0\0WAVEfmt \x02\0\0\0\x07\0", "damaged"),
        (b"RIFF\0\0\0\0WAVEdata\x01\0\0\0\x07", "data before fmt"),
        (b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0" + bytes(12), "format tag 1, 1 channels instead of"),
        (
            b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x07\0\x01\0\x40\x1f\0\0" + bytes(8) + b"data\x09\0\0\0abc",
            "cut short: 3 of 9",
        ),
    ],
)
def test_a_damaged_wav(content: bytes, part: str, tmp_path: Path) -> None:
    (tmp_path / "agent.wav").write_bytes(content)
    with pytest.raises(CassetteError, match=r"agent\.wav: the audio file is damaged") as caught:
        read_track(tmp_path, "agent.wav")
    assert part in str(caught.value)


def test_flac_of_another_kind(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "agent.flac", np.zeros((10, 2), np.int16), 24000, subtype="PCM_16")
    with pytest.raises(CassetteError, match="2 channels instead of mono"):
        read_track(tmp_path, "agent.flac")


def test_storable() -> None:
    assert storable(PCM24, 2)
    assert not storable(PCM24, 0)
    assert not storable(PCM24, 3)
    assert storable(ULAW8, 3)
    assert not storable(AudioFormat("pcm16", 10**6), 2)


def test_names_say_what_differs() -> None:
    other = AudioFormat("pcm16", 16000)
    assert track_name("client", PCM24, {}) == "caller.flac"
    assert track_name("server", ALAW8, {}) == "agent.wav"
    assert track_name("client", other, {"caller.flac": PCM24}) == "caller-16000.flac"
    assert track_name("client", ULAW8, {"caller.wav": ALAW8}) == "caller-ulaw-8000.wav"
