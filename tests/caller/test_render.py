from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile

from simrt.audio import PCM24, ULAW8, AudioFormat, resample
from simrt.caller import stereo, write_wav

from .loops import Room, clip, noise


def test_both_sides_are_where_they_were_in_time(room: Room) -> None:
    room.microphone.say(clip(300, 1), 100_000)
    room.at(200, room.speaker.play, PCM24.encode(noise(500, 2)))
    room.at(400, room.speaker.clear)
    room.at(600, room.speaker.play, PCM24.encode(noise(100, 3)))
    room.run_until(1000)
    track = stereo(room.microphone, room.speaker, 1_000_000)
    assert track.dtype == np.int16
    assert track.shape == (24000, 2)
    left, right = np.zeros(24000, np.int16), np.zeros(24000, np.int16)
    left[2400:9600] = noise(300, 1)
    right[4800:9600] = noise(500, 2)[:4800]
    right[14400:16800] = noise(100, 3)
    assert np.array_equal(track[:, 0], left)
    assert np.array_equal(track[:, 1], right)


def test_it_ends_where_it_is_told(room: Room) -> None:
    room.microphone.say(clip(300, 1), 0)
    room.speaker.play(PCM24.encode(noise(300, 2)))
    track = stereo(room.microphone, room.speaker, 200_000)
    assert np.array_equal(track, np.stack([noise(300, 1)[:4800], noise(300, 2)[:4800]], axis=1))
    assert stereo(room.microphone, room.speaker, 0).shape == (0, 2)


def test_a_narrow_line_is_rendered_at_24_khz(room_in: Callable[[AudioFormat], Room]) -> None:
    room = room_in(ULAW8)
    coded = ULAW8.encode(noise(500, rate=8000))
    room.speaker.play(coded)
    room.run_until(500)
    track = stereo(room.microphone, room.speaker, 500_000)
    assert np.array_equal(track[:, 1], resample(ULAW8.decode(coded), 8000, 24000)[:12000])


def test_voices_at_once_are_added(room: Room) -> None:
    room.microphone.say(clip(100, 1), 0)
    room.microphone.say(clip(100, 2), 0)
    track = stereo(room.microphone, room.speaker, 100_000)
    assert np.array_equal(track[:, 0], noise(100, 1) + noise(100, 2))


def test_the_file_holds_the_same_samples(tmp_path: Path) -> None:
    track = np.stack([noise(100, 1), noise(100, 2)], axis=1)
    path = write_wav(tmp_path / "call.wav", track)
    samples, rate = soundfile.read(path, dtype="int16")
    assert rate == 24000
    assert np.array_equal(samples, track)
    mono, rate = soundfile.read(write_wav(tmp_path / "mono.wav", noise(50, rate=8000), 8000), dtype="int16")
    assert (rate, len(mono)) == (8000, 400)
