from random import Random

import numpy as np
import pytest

from simrt.audio import ULAW8, Samples, resample
from simrt.caller import fixture_clip
from simrt.caller.matching import Matcher, merged

from .loops import cut, noise


class Ear:
    """A matcher with a reply 0 of 1000 ms and a reply 1 of 600 ms, sent in 200 ms chunks; plays in 20 ms frames."""

    def __init__(self, rate: int = 24000, sent_rate: int = 24000) -> None:
        self.matcher = Matcher(rate)
        self.position = 0
        self.replies = [noise(1000, 10, sent_rate), noise(600, 11, sent_rate)]
        self.sent_rate = sent_rate

    def send(self, *replies: int) -> None:
        for reply in replies:
            for piece in cut(self.replies[reply], 200, self.sent_rate):
                self.matcher.sent(reply, piece, self.sent_rate)

    def play(self, samples: Samples, ms: float = 20) -> None:
        for piece in cut(samples, ms, self.matcher.rate):
            self.matcher.played(self.position, piece.tobytes())
            self.position += len(piece)

    def heard_ms(self, reply: int) -> float:
        ranges = self.matcher.ranges(reply, self.position)
        return sum(high - low for low, high in ranges) * 1000 / self.sent_rate

    def kinds(self) -> list[tuple[str, float]]:
        return [(span.kind, span.count * 1000 / self.matcher.rate) for span in self.matcher.spans]


def ms(value: float) -> int:
    return round(value * 24)


@pytest.mark.parametrize("frame_ms", [1, 7, 20, 200, 333, 5000])
def test_what_is_passed_on_in_any_pieces_is_heard_whole(frame_ms: float) -> None:
    ear = Ear()
    ear.send(0, 1)
    ear.play(np.concatenate(ear.replies), frame_ms)
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (1000.0, 600.0)
    assert ear.kinds() == [("new", 1600.0)]


def test_each_reply_gets_its_own_part_as_it_is_played() -> None:
    ear = Ear()
    ear.send(0, 1)
    ear.play(np.concatenate(ear.replies), 300)
    assert ear.matcher.ranges(0, ms(900)) == [(0, ms(900))]
    assert ear.matcher.ranges(1, ms(900)) == []
    assert ear.matcher.ranges(1, ms(1234.5)) == [(0, ms(234.5))]


def test_a_filled_up_last_frame_adds_silence_only() -> None:
    ear = Ear()
    ear.replies[0] = ear.replies[0][: ms(990) - 13]
    ear.send(0, 1)
    ear.play(np.concatenate([ear.replies[0], np.zeros(ms(10) + 13, np.int16)]))
    ear.play(ear.replies[1])
    assert ear.heard_ms(0) == (ms(990) - 13) / 24
    assert ear.heard_ms(1) == 600.0
    assert [kind for kind, _ in ear.kinds()] == ["new", "silence", "new"]


@pytest.mark.parametrize("frame_ms", [20, 30, 200])
def test_a_dropped_chunk_is_a_gap(frame_ms: float) -> None:
    ear = Ear()
    ear.send(0, 1)
    ear.play(np.concatenate([ear.replies[0][: ms(200)], ear.replies[0][ms(400) :], ear.replies[1]]), frame_ms)
    assert ear.matcher.ranges(0, ear.position) == [(0, ms(200)), (ms(400), ms(1000))]
    assert ear.heard_ms(1) == 600.0


def test_a_gap_before_digital_silence_is_found_to_the_sample() -> None:
    ear = Ear()
    ear.replies[0][ms(390) : ms(450)] = 0
    ear.send(0)
    ear.play(np.concatenate([ear.replies[0][: ms(200)], ear.replies[0][ms(400) :]]))
    assert ear.matcher.ranges(0, ear.position) == [(0, ms(200)), (ms(400), ms(1000))]


def test_chunks_out_of_order_are_all_heard() -> None:
    ear = Ear()
    ear.send(0)
    one, two, three, four, five = cut(ear.replies[0], 200)
    ear.play(np.concatenate([one, three, two, four, five]), 50)
    assert ear.heard_ms(0) == 1000.0
    assert {kind for kind, _ in ear.kinds()} == {"new"}


def test_a_chunk_played_twice_counts_once() -> None:
    ear = Ear()
    ear.send(0, 1)
    one, two, *rest = cut(ear.replies[0], 200)
    ear.play(np.concatenate([one, two, two, *rest, ear.replies[1]]))
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (1000.0, 600.0)
    assert ("again", 200.0) in ear.kinds()


def test_a_repeat_that_runs_on_into_new_audio_is_split_there() -> None:
    ear = Ear()
    ear.send(0)
    ear.play(ear.replies[0][: ms(500)])
    ear.play(ear.replies[0][ms(300) : ms(700)], 400)
    assert ear.kinds() == [("new", 500.0), ("again", 200.0), ("new", 200.0)]


def test_what_was_never_sent_is_foreign() -> None:
    ear = Ear()
    ear.play(noise(100, 99))
    ear.send(0)
    ear.play(ear.replies[0][: ms(500)])
    ear.play(np.concatenate([noise(33, 98), ear.replies[0][ms(500) :]]), 200)
    assert ear.heard_ms(0) == 1000.0
    assert ear.kinds() == [("foreign", 100.0), ("new", 500.0), ("foreign", 33.0), ("new", 500.0)]


def test_the_clients_own_first_sound_is_not_taken_for_the_reply() -> None:
    ear = Ear()
    ear.send(0)
    ear.play(noise(100, 99))
    ear.play(ear.replies[0])
    assert ear.heard_ms(0) == 1000.0
    assert ear.kinds() == [("foreign", 100.0), ("new", 1000.0)]


def test_silence_between_replies_is_nothing() -> None:
    ear = Ear()
    ear.send(0)
    ear.play(np.concatenate([ear.replies[0], np.zeros(ms(300), np.int16)]))
    ear.send(1)
    ear.play(ear.replies[1])
    assert ear.kinds() == [("new", 1000.0), ("silence", 300.0), ("new", 600.0)]


def test_cleared_audio_was_not_heard_and_can_be_played_later() -> None:
    ear = Ear()
    ear.send(0, 1)
    ear.play(ear.replies[0])
    ear.position = ms(345)
    ear.matcher.cleared(ear.position)
    assert ear.matcher.ranges(0, ear.position) == [(0, ms(345))]
    ear.play(ear.replies[0][ms(345) :])
    ear.play(ear.replies[1])
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (1000.0, 600.0)
    assert {kind for kind, _ in ear.kinds()} == {"new"}


def test_after_a_clear_the_next_reply_is_found() -> None:
    ear = Ear()
    ear.send(0)
    ear.play(ear.replies[0][: ms(600)])
    ear.position = ms(345)
    ear.matcher.cleared(ear.position)
    ear.send(1)
    ear.play(ear.replies[1])
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (345.0, 600.0)


def test_a_few_equal_samples_are_chance() -> None:
    ear = Ear()
    ear.replies[0][ms(400) : ms(400) + 3] = ear.replies[0][ms(200) : ms(200) + 3]
    ear.send(0)
    ear.play(np.concatenate([ear.replies[0][: ms(200)], ear.replies[0][ms(400) :]]))
    assert ear.matcher.ranges(0, ear.position) == [(0, ms(200)), (ms(400), ms(1000))]


def test_interleaved_replies_are_told_apart() -> None:
    ear = Ear()
    for k in range(3):
        for reply in (0, 1):
            ear.matcher.sent(reply, cut(ear.replies[reply], 200)[k], 24000)
            ear.play(cut(ear.replies[reply], 200)[k])
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (600.0, 600.0)


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
@pytest.mark.parametrize("frame_ms", [20, 35, 200])
def test_resampled_audio_counts_by_duration(rate: int, frame_ms: float) -> None:
    ear = Ear(rate)
    ear.send(0, 1)
    ear.play(resample(np.concatenate(ear.replies), 24000, rate), frame_ms)
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (1000.0, 600.0)
    half = ear.matcher.ranges(1, rate * 13 // 10)
    assert half == [(0, ms(300))]


def test_8_khz_audio_on_a_24_khz_line_counts_by_duration() -> None:
    ear = Ear(24000, 8000)
    ear.send(0, 1)
    ear.play(resample(np.concatenate(ear.replies), 8000, 24000), 7)
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (1000.0, 600.0)


@pytest.mark.parametrize("change", ["volume", "μ-law"])
def test_changed_audio_of_the_same_rate_counts_by_duration(change: str) -> None:
    ear = Ear()
    ear.replies = [reply // 2 * 2 + 1 for reply in ear.replies]
    ear.send(0, 1)
    audio = np.concatenate(ear.replies)
    ear.play((audio * 0.7).astype(np.int16) if change == "volume" else ULAW8.decode(ULAW8.encode(audio)))
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (1000.0, 600.0)
    assert {kind for kind, _ in ear.kinds()} == {"new"}


def test_converted_silence_of_the_clients_own_uses_up_no_reply() -> None:
    ear = Ear(8000)
    ear.send(0)
    ear.play(np.zeros(8 * 400, np.int16))
    ear.play(resample(ear.replies[0], 24000, 8000))
    assert ear.heard_ms(0) == 1000.0
    assert ear.kinds() == [("silence", 400.0), ("new", 1000.0)]


def test_converted_audio_beyond_what_was_sent_is_foreign() -> None:
    ear = Ear(8000)
    ear.send(0)
    ear.play(noise(1500, 5, 8000))
    assert ear.kinds() == [("new", 1000.0), ("foreign", 500.0)]


def test_a_clear_ends_what_a_converting_client_had_got() -> None:
    ear = Ear(8000)
    ear.send(0)
    ear.play(resample(ear.replies[0], 24000, 8000)[: 8 * 800])
    ear.position = 8 * 500
    ear.matcher.cleared(ear.position)
    ear.send(1)
    ear.play(resample(ear.replies[1], 24000, 8000))
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (500.0, 600.0)


@pytest.mark.parametrize("frame_ms", [200, 600])
def test_what_a_converting_client_drops_does_not_count_for_the_next_reply(frame_ms: float) -> None:
    ear = Ear(8000)
    ear.replies = [fixture_clip(name).samples[: 24 * 1000] for name in ("booking", "breakfast")]
    ear.send(0)
    ear.play(resample(ear.replies[0], 24000, 8000)[: 8 * 600])
    ear.send(1)
    ear.play(resample(ear.replies[1], 24000, 8000), frame_ms)
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (600.0, 1000.0)


def test_replies_without_any_sound_count_too() -> None:
    ear = Ear()
    ear.replies = [np.zeros_like(reply) for reply in ear.replies]
    ear.send(0)
    ear.play(ear.replies[0])
    ear.position = ms(700)
    ear.matcher.cleared(ear.position)
    ear.send(1)
    ear.play(ear.replies[1])
    assert (ear.heard_ms(0), ear.heard_ms(1)) == (700.0, 600.0)


def test_a_reply_at_the_lines_rate_is_matched_after_one_at_another() -> None:
    ear = Ear()
    ear.matcher.sent("a", noise(400, 3, 8000), 8000)
    ear.play(resample(noise(400, 3, 8000), 8000, 24000))
    ear.matcher.sent("b", noise(400, 4), 24000)
    ear.play(noise(400, 4))
    assert ear.matcher.ranges("a", ear.position) in ([(0, 3200)], [])
    assert ear.matcher.ranges("b", ear.position) == [(0, ms(400))]


def test_ranges_are_merged() -> None:
    assert merged([(5, 7), (0, 2), (2, 4), (6, 6)]) == [(0, 4), (5, 7)]


@pytest.mark.parametrize("seed", range(40))
def test_any_mixture_of_drops_repeats_and_swaps_is_found_to_the_sample(seed: int) -> None:
    """Chunks of one length, faults on some, frames of another length across them."""
    random = Random(seed)
    ear = Ear()
    ear.send(0, 1)
    pieces = [(reply, k, piece) for reply in (0, 1) for k, piece in enumerate(cut(ear.replies[reply], 50))]
    for at in sorted(random.sample(range(0, len(pieces) - 1, 2), 4), reverse=True):
        fault = random.choice(["drop", "repeat", "swap"])
        if fault == "swap":
            pieces[at], pieces[at + 1] = pieces[at + 1], pieces[at]
        else:
            pieces[at : at + 1] = [pieces[at]] * (2 if fault == "repeat" else 0)
    ear.play(np.concatenate([piece for _, _, piece in pieces]), random.choice([20, 33.5, 200, 5000]))
    for reply in (0, 1):
        played = {k for number, k, _ in pieces if number == reply}
        assert ear.matcher.ranges(reply, ear.position) == merged([(1200 * k, 1200 * (k + 1)) for k in played])
    assert sum(span.count for span in ear.matcher.spans) == ear.position


# --- a track that never stops: Live fills the time between replies with silence


def test_silence_between_replies_is_silence() -> None:
    ear = Ear()
    filler = np.zeros(ms(2000), np.int16)
    ear.play(filler, 100)
    ear.send(0)
    ear.play(ear.replies[0], 100)
    ear.play(filler, 100)
    ear.send(1)
    ear.play(ear.replies[1], 100)
    assert ear.kinds() == [("silence", 2000.0), ("new", 1000.0), ("silence", 2000.0), ("new", 600.0)]


def test_silence_that_is_played_late_does_not_eat_the_next_reply() -> None:
    """The client lags behind: the reply, which begins with silence of its own, is sent before the filler is played."""
    ear = Ear()
    ear.replies[0][: ms(50)] = 0
    ear.send(0)
    ear.play(np.zeros(ms(200), np.int16), 100)
    ear.play(ear.replies[0], 100)
    assert ear.heard_ms(0) == 1000.0
    assert ear.kinds() == [("silence", 200.0), ("new", 1000.0)]
