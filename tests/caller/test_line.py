import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat, resample
from simrt.caller import Clock, Microphone, Speaker
from simrt.world import VirtualLoop

from .loops import Room, StockLoop, clip, noise

PCM16K = AudioFormat("pcm16", 16000)


async def take(microphone: Microphone, count: int) -> list[bytes]:
    frames: list[bytes] = []
    async for frame in microphone:
        frames.append(frame)
        if len(frames) == count:
            break
    return frames


# microphone


def test_frames_come_at_their_ends_on_the_grid(room: Room) -> None:
    times: list[float] = []

    async def main() -> None:
        async for _ in room.microphone:
            times.append(room.ms)
            if len(times) == 4:
                break

    room.run(main())
    assert times == [20, 40, 60, 80]


@pytest.mark.parametrize("format", [PCM24, PCM16K, ULAW8, ALAW8])
def test_silence_is_one_shared_object_in_the_lines_format(
    room_in: Callable[[AudioFormat], Room], format: AudioFormat
) -> None:
    frames = room_in(format).run(take(room_in(format).microphone, 3))
    assert frames[0] == format.silence(20)
    assert all(frame is frames[0] for frame in frames)


def test_a_clip_is_heard_sample_for_sample_where_it_was_said(room: Room) -> None:
    room.at(133.5, room.microphone.say, clip(250))
    frames = room.run(take(room.microphone, 30))
    audio = PCM24.decode(b"".join(frames))
    at = round(133.5 * 24)
    assert np.array_equal(audio[at : at + 6000], noise(250))
    assert not audio[:at].any()
    assert not audio[at + 6000 :].any()


@pytest.mark.parametrize("format", [PCM16K, ULAW8, ALAW8])
def test_a_clip_is_converted_to_the_lines_format(room_in: Callable[[AudioFormat], Room], format: AudioFormat) -> None:
    room = room_in(format)
    room.microphone.say(clip(200), 40_000)
    frames = room.run(take(room.microphone, 14))
    assert b"".join(frames[2:12]) == format.encode(resample(noise(200), 24000, format.rate))
    assert frames[12] == format.silence(20)


def test_a_clip_said_for_later_starts_then(room: Room) -> None:
    assert room.microphone.say(clip(20), 60_000) == 60_000
    frames = room.run(take(room.microphone, 4))
    assert [np.any(PCM24.decode(frame)) for frame in frames] == [False, False, False, True]


def test_nothing_is_said_in_the_past(room: Room) -> None:
    started: list[int] = []
    room.at(110, lambda: started.append(room.microphone.say(clip(20), 15_000)))
    frames = room.run(take(room.microphone, 8))
    assert started == [110_000]
    assert b"".join(frames[:5]) == PCM24.silence(100)


def test_two_voices_are_added_and_clipped(room: Room) -> None:
    loud = clip(60)
    loud = type(loud)("loud", np.full(1440, 20000, np.int16))
    room.microphone.say(loud, 20_000)
    room.microphone.say(loud, 40_000)
    audio = PCM24.decode(b"".join(room.run(take(room.microphone, 6))))
    assert [int(audio[480 * k]) for k in range(6)] == [0, 20000, 32767, 32767, 20000, 0]


def test_a_voice_that_joins_in_a_frame_in_progress_is_not_lost(room: Room) -> None:
    room.microphone.say(clip(100, 1), 0)
    room.at(50, room.microphone.say, clip(20, 2))
    audio = PCM24.decode(b"".join(room.run(take(room.microphone, 5))))
    expected = noise(100, 1).astype(int)
    expected[1200:1680] += noise(20, 2)
    assert np.array_equal(audio, expected)


def test_what_is_said_before_the_microphone_opens_is_lost(room: Room) -> None:
    room.microphone.say(clip(200), 0)

    async def main() -> list[bytes]:
        await room.until(50)
        return await take(room.microphone, 7)

    frames = room.run(main())
    assert room.microphone.opened_us == 50_000
    assert b"".join(frames) == PCM24.encode(noise(200)[60 * 24 :])
    assert room.ms == 200


def test_a_slow_client_loses_nothing(room: Room) -> None:
    room.microphone.say(clip(400), 0)

    async def main() -> list[bytes]:
        frames = await take(room.microphone, 1)
        await room.until(350)
        frames += await take(room.microphone, 16)
        assert room.ms == 350
        return frames + await take(room.microphone, 3)

    assert b"".join(room.run(main())) == PCM24.encode(noise(400))


def test_a_client_that_stops_waiting_loses_nothing(room: Room) -> None:
    room.microphone.say(clip(100), 0)

    async def main() -> list[bytes]:
        frames = await take(room.microphone, 1)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(anext(room.microphone), 0.005)
        return frames + await take(room.microphone, 4)

    assert b"".join(room.run(main())) == PCM24.encode(noise(100))


def test_two_readers_share_the_frames(room: Room) -> None:
    room.microphone.say(clip(200), 0)

    async def main() -> list[list[bytes]]:
        return await asyncio.gather(take(room.microphone, 5), take(room.microphone, 5))

    one, two = room.run(main())
    assert sorted(one + two) == sorted(PCM24.encode(noise(200)[480 * k : 480 * (k + 1)]) for k in range(10))


def test_before_pickup_there_are_no_frames(loop: asyncio.AbstractEventLoop) -> None:
    room = Room(loop, pickup_in=1.5)
    room.microphone.say(clip(20), 0)
    frames = room.run(take(room.microphone, 2))
    assert b"".join(frames) == PCM24.encode(noise(20)) + PCM24.silence(20)
    assert room.ms == 40


def test_a_muted_microphone_lets_nothing_through(room: Room) -> None:
    room.microphone.mute(30_000, 70_000)
    room.microphone.say(clip(100), 0)
    audio = PCM24.decode(b"".join(room.run(take(room.microphone, 5))))
    expected = noise(100)
    expected[30 * 24 : 70 * 24] = 0
    assert np.array_equal(audio, expected)


def test_a_line_that_sends_no_silence_gives_no_frames(room: Room) -> None:
    room.at(30, room.microphone.skip, 90_000, 500_000)
    ends: list[float] = []

    async def main() -> None:
        for _ in range(8):
            await anext(room.microphone)
            ends.append(room.ms)

    room.run(main())
    assert ends == [20, 40, 60, 80, 100, 520, 540, 560]
    assert not room.microphone.gives(10)


def test_or_never_again_until_it_is_hung_up(room: Room) -> None:
    room.microphone.skip(50_000, None)
    room.at(3000, room.line.cut, "caller")

    async def main() -> int:
        return len([frame async for frame in room.microphone])

    assert room.run(main()) == 3


def test_the_microphone_ends_at_hang_up(room: Room) -> None:
    room.at(50, room.line.cut, "caller")

    async def main() -> int:
        return len([frame async for frame in room.microphone])

    assert room.run(main()) == 2
    assert room.ms == 50
    assert room.run(main()) == 0


def test_timers_that_are_late_move_no_sample() -> None:
    loop = StockLoop(late=0.0037)
    room = Room(loop)
    room.microphone.say(clip(200), 0)
    assert b"".join(room.run(take(room.microphone, 10))) == PCM24.encode(noise(200))
    loop.close()


def test_a_rate_without_whole_frames_is_refused() -> None:
    loop = VirtualLoop()
    with pytest.raises(ValueError, match="11025 Hz"):
        Microphone(Clock(loop), AudioFormat("pcm16", 11025))
    loop.close()


def test_it_can_be_asked_later_what_the_frames_held_and_which_were_given(room: Room) -> None:
    room.at(0, room.microphone.say, clip(200))
    room.at(50, room.microphone.mute, 100_000, 140_000)
    room.at(50, room.microphone.skip, 300_000, 400_000)
    room.at(390, lambda: None)

    async def main() -> list[bytes]:
        await asyncio.sleep(0.045)  # the first two frames are missed, and the one in progress
        return await take(room.microphone, 10)

    frames = room.run(main())
    microphone = room.microphone
    given = [index for index in range(20) if microphone.gives(index)]
    assert given == [*range(3, 15)]
    assert microphone.audio(3, 13) == b"".join(frames)
    assert not any(microphone.audio(5, 7))
    assert np.array_equal(PCM24.decode(microphone.audio(0, 2)), noise(200)[:960])


# speaker


def pcm(ms: float, seed: int = 1) -> bytes:
    return PCM24.encode(noise(ms, seed))


def test_an_idle_speaker_starts_at_once_and_queues_the_rest(room: Room) -> None:
    room.at(100, room.speaker.play, pcm(200))
    room.at(150, room.speaker.play, pcm(200))
    room.run_until(250)
    assert (room.speaker.played_ms, room.speaker.queued_ms) == (150.0, 250.0)
    room.run_until(600)
    assert (room.speaker.played_ms, room.speaker.queued_ms) == (400.0, 0.0)
    room.speaker.play(pcm(100))
    room.run_until(650)
    assert (room.speaker.played_ms, room.speaker.queued_ms) == (450.0, 50.0)
    assert [(s.start_us, len(s.samples)) for s in room.speaker.segments] == [(100_000, 9600), (600_000, 2400)]


def test_a_long_call_in_small_pieces_is_exact(room: Room) -> None:
    for frame in range(3500):
        room.at(20 * frame, room.speaker.play, pcm(20, 7))
    room.run_until(70_000)
    assert room.speaker.played_ms == 70_000.0
    assert len(room.speaker.segments) == 1


def test_clear_drops_what_was_not_played(room: Room) -> None:
    dropped: list[float] = []
    room.speaker.play(pcm(500))
    room.at(123.5, lambda: dropped.append(room.speaker.clear()))
    room.at(300, room.speaker.play, pcm(100, 2))
    room.run_until(1000)
    assert dropped == [376.5]
    assert room.speaker.played_ms == 223.5
    first, second = room.speaker.segments
    assert np.array_equal(first.samples, noise(500)[: round(123.5 * 24)])
    assert (second.start_us, second.samples.tobytes()) == (300_000, pcm(100, 2))
    assert room.speaker.clear() == 0.0


def test_clear_at_the_moment_of_playing_drops_all(room: Room) -> None:
    room.speaker.play(pcm(40))
    assert room.speaker.clear() == 40.0
    room.speaker.play(pcm(60, 2))
    room.run_until(60)
    assert room.speaker.played_ms == 60.0
    assert b"".join(s.samples.tobytes() for s in room.speaker.segments) == pcm(60, 2)


def test_half_a_sample_waits_for_its_other_half(room: Room) -> None:
    whole = pcm(30)
    for at in range(0, len(whole), 333):
        room.speaker.play(whole[at : at + 333])
    room.run_until(30)
    assert room.speaker.played_ms == 30.0
    assert room.speaker.segments[0].samples.tobytes() == whole
    room.speaker.play(b"\x01")
    room.speaker.play(b"")
    room.run_until(40)
    assert room.speaker.played_ms == 30.0


def test_clear_forgets_half_a_sample_too(room: Room) -> None:
    room.speaker.play(pcm(20)[:-1])
    room.speaker.clear()
    room.speaker.play(pcm(20, 2))
    assert room.speaker.segments[-1].samples.tobytes() == pcm(20, 2)


@pytest.mark.parametrize("format", [ULAW8, ALAW8])
def test_g711_is_played_byte_for_sample(room_in: Callable[[AudioFormat], Room], format: AudioFormat) -> None:
    room = room_in(format)
    coded = format.encode(noise(50, rate=8000))
    room.speaker.play(coded)
    room.run_until(20)
    assert (room.speaker.played_ms, room.speaker.queued_ms) == (20.0, 30.0)
    assert format.encode(room.speaker.segments[0].samples) == coded


def test_drain_returns_when_the_queue_is_empty(room: Room) -> None:
    room.speaker.play(pcm(200))
    room.at(100, room.speaker.play, pcm(150))
    room.run(room.speaker.drain())
    assert room.ms == 350
    room.run(room.speaker.drain())
    assert room.ms == 350


def test_drain_does_not_wait_for_audio_after_a_gap(room: Room) -> None:
    room.speaker.play(pcm(200))
    room.at(300, room.speaker.play, pcm(150))
    room.run(room.speaker.drain())
    assert room.ms == 200


@pytest.mark.parametrize("how", ["clear", "hang up"])
def test_drain_returns_when_the_queue_is_dropped(room: Room, how: str) -> None:
    async def main() -> list[float]:
        times: list[float] = []

        async def wait() -> None:
            await room.speaker.drain()
            times.append(room.ms)

        await asyncio.gather(wait(), wait())
        return times

    def drop() -> None:
        if how == "clear":
            room.speaker.clear()
            room.speaker.play(pcm(100))
        else:
            room.line.cut("caller")

    room.speaker.play(pcm(200))
    room.at(50, drop)
    assert room.run(main()) == [50, 50]


def test_a_cancelled_drain_leaves_no_trace(room: Room) -> None:
    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(room.speaker.drain(), 0.05)
        room.speaker.clear()

    room.speaker.play(pcm(200))
    room.run(main())
    assert room.speaker.played_ms == 50.0


# line


def test_after_hang_up_nothing_plays(room: Room) -> None:
    async def main() -> None:
        room.speaker.play(pcm(500))
        await room.until(200)
        await room.line.hang_up()
        room.speaker.play(pcm(500))
        await room.until(900)

    ended: list[float] = []
    room.line.on_hang_up.append(lambda: ended.append(room.ms))
    room.run(main())
    room.line.cut("caller")
    assert room.speaker.played_ms == 200.0
    assert room.speaker.queued_ms == 0.0
    assert ended == [200]
    assert (room.line.hung_up_us, room.line.hung_up_by) == (200_000, "client")


def test_notes_have_their_time(room: Room) -> None:
    room.at(150, room.line.note, "hung up at the cap")
    room.run_until(200)
    assert [(note.t_us, note.message) for note in room.line.notes] == [(150_000, "hung up at the cap")]


def test_what_the_client_writes_stands_in_its_order_and_an_item_keeps_its_place(room: Room) -> None:
    line = room.line
    line.transcript("user", "", "i1")
    line.transcript("assistant", "It is on its way.", "i2")
    line.transcript("assistant", "It is on its way.")
    line.transcript("user", "Where is it?", "i1")
    assert [(written.role, written.text, written.item_id) for written in line.written] == [
        ("user", "Where is it?", "i1"),
        ("assistant", "It is on its way.", "i2"),
        ("assistant", "It is on its way.", None),
    ]


def test_a_line_says_where_to_connect(room: Room) -> None:
    assert room.line.url == "wss://inn.example/v1/realtime"
    assert room.line.headers == {"x-test": "1"}
    assert room.line.format is room.microphone.format is room.speaker.format is PCM24
    assert isinstance(room.speaker, Speaker)
