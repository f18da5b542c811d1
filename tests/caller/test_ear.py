from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from simrt.audio import PCM24, ULAW8, AudioFormat, Samples, resample
from simrt.caller import Ear, HeardReply, ReplyKey, load_clip
from simrt.cassette.header import Word, spread_words

from .loops import Room, cut, noise

SPEECH = sorted((Path(__file__).parents[2] / "fixtures" / "agent").glob("*.flac"))
GOODBYE = "Thanks for calling, see you on Friday. Goodbye!"
WORDS = [
    Word("Thanks", 40, 380),
    Word("for", 380, 520),
    Word("calling,", 520, 1000),
    Word("see", 1200, 1400),
    Word("you", 1400, 1500),
    Word("on", 1500, 1640),
    Word("Friday.", 1640, 2200),
    Word("Goodbye!", 2400, 3000),
]


def say(
    room: Room,
    reply: ReplyKey,
    samples: Samples,
    start_ms: float = 0,
    *,
    pace: float = 1.0,
    ended: bool = True,
    play: bool = True,
) -> None:
    """The server sends a reply in 200 ms chunks from `start_ms` on, and the client plays what it gets."""
    for k, piece in enumerate(cut(samples, 200)):

        def send(piece: Samples = piece) -> None:
            room.ear.sent(reply, piece, room.clock.now_us())
            if play:
                room.speaker.play(PCM24.encode(piece))

        room.at(start_ms + 200 * k * pace, send)
    if ended:
        room.at(start_ms + 200 * k * pace, lambda: room.ear.ended(reply, room.clock.now_us()))


def heard(room: Room, reply: ReplyKey = 0) -> HeardReply:
    return next(entry for entry in room.ear.replies() if entry.reply == reply)


def test_a_reply_that_plays_whole(room: Room) -> None:
    say(room, 0, noise(3000), 150)
    room.ear.text(0, GOODBYE, WORDS)
    room.run_until(4000)
    assert room.ear.replies() == [HeardReply(0, GOODBYE, 3000.0, 3000.0, GOODBYE, False, 150_000, 3_150_000, 0.0)]


def test_heard_grows_with_time(room: Room) -> None:
    say(room, 0, noise(1000), 100, pace=0.2)
    room.run_until(400.5)
    assert room.ear.heard(0) == round(300.5 * 24)
    assert room.ear.heard(0, 200_000) == 2400
    assert room.ear.heard(0, 90_000) == 0
    assert room.ear.heard("answer-0") == 0
    entry = heard(room)
    assert (entry.audio_ms, entry.heard_ms, entry.last_heard_us) == (1000.0, 300.5, 400_500)
    assert not entry.cut_off


def test_hanging_up_cuts_the_reply_off_at_a_word(room: Room) -> None:
    say(room, 0, noise(3000), 0, pace=0.5)
    room.ear.text(0, GOODBYE, WORDS)
    room.at(1000, room.line.cut, "client")
    room.run_until(2000)
    entry = heard(room)
    assert (entry.audio_ms, entry.heard_ms, entry.cut_off) == (3000.0, 1000.0, True)
    assert entry.heard_text == "Thanks for calling,"
    assert entry.last_heard_us == 1_000_000


@pytest.mark.parametrize(("ms", "text"), [(999.9, "Thanks for calling,"), (998, "Thanks for"), (39, ""), (0, "")])
def test_a_word_counts_when_it_played_whole(room: Room, ms: float, text: str) -> None:
    say(room, 0, noise(3000), 0, pace=0.5)
    room.ear.text(0, GOODBYE, WORDS)
    room.at(ms, room.line.cut, "client")
    room.run_until(2000)
    assert heard(room).heard_text == text


def test_a_word_with_a_hole_in_it_was_not_heard(room: Room) -> None:
    for k, piece in enumerate(cut(noise(3000), 200)):
        room.ear.sent(0, piece, 0)
        if k != 7:
            room.speaker.play(PCM24.encode(piece))
    room.ear.text(0, GOODBYE, WORDS)
    room.ear.ended(0, 0)
    room.run_until(3000)
    entry = heard(room)
    assert (entry.heard_ms, entry.cut_off) == (2800.0, True)
    assert entry.heard_text == "Thanks for calling, see Friday. Goodbye!"


def test_a_cancelled_reply_is_cut_off_even_when_all_that_was_sent_was_heard(room: Room) -> None:
    say(room, 0, noise(1200), 0, ended=False)
    room.ear.text(0, GOODBYE, WORDS)
    room.at(1300, lambda: room.ear.ended(0, 1_300_000, True))
    room.run_until(2000)
    entry = heard(room)
    assert (entry.audio_ms, entry.heard_ms, entry.cut_off) == (1200.0, 1200.0, True)
    assert entry.heard_text == "Thanks for calling,"


def test_a_reply_that_the_client_never_played(room: Room) -> None:
    say(room, 0, noise(600), play=False)
    room.ear.text(0, "Are you there?")
    room.run_until(1000)
    assert heard(room) == HeardReply(0, "Are you there?", 600.0, 0.0, "", True, None, None, 0.0)


def test_without_word_times_text_is_shared_out_by_characters(room: Room) -> None:
    say(room, 0, noise(2000), 0, pace=0.5)
    room.ear.text(0, "four four four four")
    room.at(1100, room.line.cut, "client")
    room.run_until(2000)
    assert heard(room).heard_text == "four four"


def test_the_whole_duration_is_used_where_it_is_known(room: Room) -> None:
    say(room, 0, noise(1000), ended=False)
    room.ear.text(0, "four four four four", whole_ms=2000)
    room.at(1000, lambda: room.ear.ended(0, 1_000_000, True))
    room.run_until(2000)
    assert heard(room).heard_text == "four four"


def test_estimated_words_fill_the_duration() -> None:
    words = spread_words("I am  calling", 0, 1000)
    assert [word.text for word in words] == ["I", "am", "calling"]
    assert words[0].start_ms == 0
    assert words[-1].end_ms == 1000
    assert all(a.end_ms == b.start_ms for a, b in pairwise(words))
    assert spread_words("", 0, 1000) == []


def test_replies_are_listed_in_the_order_of_being_sent(room: Room) -> None:
    say(room, 1, noise(400, 1), 0)
    say(room, "answer-0", noise(400, 2), 500)
    say(room, 0, noise(400, 3), 1000)
    room.run_until(2000)
    assert [(entry.reply, entry.heard_ms) for entry in room.ear.replies()] == [
        (1, 400.0),
        ("answer-0", 400.0),
        (0, 400.0),
    ]


def test_a_part_played_twice_is_reported_and_counts_once(room: Room) -> None:
    pieces = cut(noise(1000), 200)
    for piece in pieces:
        room.ear.sent(0, piece, 0)
    for piece in [*pieces[:3], pieces[2], *pieces[3:]]:
        room.speaker.play(PCM24.encode(piece))
    room.ear.ended(0, 0)
    room.run_until(2000)
    entry = heard(room)
    assert (entry.heard_ms, entry.again_ms, entry.cut_off) == (1000.0, 200.0, False)
    assert entry.last_heard_us == 1_200_000


def test_sounds_that_were_never_sent_are_listed(room: Room) -> None:
    say(room, 0, noise(400), 0)
    room.at(700, room.speaker.play, PCM24.encode(noise(250, 99)))
    room.at(1500, room.speaker.play, PCM24.silence(300))
    room.run_until(2000)
    assert [(sound.start_us, sound.duration_ms) for sound in room.ear.foreign()] == [(700_000, 250.0)]
    assert room.ear.quiet_us() == 950_000


@pytest.mark.parametrize("decoded", [True, False])
def test_g711_passed_through_matches_exactly(room_in: Callable[[AudioFormat], Room], decoded: bool) -> None:
    """μ-law from the server, on a μ-law line or decoded for an 8 kHz PCM line."""
    room = room_in(AudioFormat("pcm16", 8000) if decoded else ULAW8)
    coded = ULAW8.encode(noise(1000, rate=8000))
    room.ear.sent(0, ULAW8.decode(coded[:2000]), 0, 8000)
    room.ear.sent(0, ULAW8.decode(coded[4000:]), 0, 8000)
    room.ear.ended(0, 0)
    room.speaker.play(ULAW8.decode(coded[4000:]).tobytes() if decoded else coded[4000:])
    room.run_until(2000)
    entry = heard(room)
    assert (entry.audio_ms, entry.heard_ms, entry.cut_off) == (750.0, 500.0, True)
    assert room.ear.heard(0) == 4000


def test_a_converting_client_may_keep_a_few_samples(room_in: Callable[[AudioFormat], Room]) -> None:
    room = room_in(ULAW8)
    room.ear.sent(0, noise(3000), 0)
    room.ear.text(0, GOODBYE, WORDS)
    room.ear.ended(0, 0)
    room.speaker.play(ULAW8.encode(resample(noise(3000), 24000, 8000)[:-60]))
    room.run_until(4000)
    entry = heard(room)
    assert entry.heard_ms == 2992.5
    assert not entry.cut_off
    assert entry.heard_text == GOODBYE


def test_predictions_follow_the_queue(room: Room) -> None:
    ear = room.ear
    assert ear.when_heard(0, 500) is None
    assert ear.start_us(0) is None
    assert ear.end_us(0) is None
    assert ear.quiet_us() is None
    room.at(300, lambda: [ear.sent(0, noise(1000), 300_000), room.speaker.play(PCM24.encode(noise(1000)))])
    room.run_until(350)
    assert ear.start_us(0) == ear.when_heard(0, 0) == 300_000
    assert ear.when_heard(0, 500) == 800_000
    assert ear.when_heard(0, 1000) == 1_300_000
    assert ear.when_heard(0, 1001) is None
    assert ear.end_us(0) is None
    assert ear.quiet_us() == 1_300_000
    ear.ended(0, 350_000)
    assert ear.end_us(0) == 1_300_000
    room.run_until(700)
    room.speaker.clear()
    assert ear.when_heard(0, 500) is None
    assert ear.when_heard(0, 400) == ear.end_us(0) == ear.quiet_us() == 700_000


def test_prediction_for_the_second_reply_in_the_queue(room: Room) -> None:
    room.ear.sent(0, noise(400, 1), 0)
    room.ear.sent(1, noise(400, 2), 0)
    room.speaker.play(PCM24.encode(np.concatenate([noise(400, 1), noise(400, 2)])))
    assert room.ear.start_us(1) == 400_000
    assert room.ear.when_heard(1, 100) == 500_000


def test_a_reply_that_is_never_heard_ends_when_the_server_says_so(room: Room) -> None:
    room.ear.sent(0, noise(400), 0)
    room.ear.ended(0, 120_000, True)
    assert room.ear.end_us(0) == 120_000


@pytest.mark.parametrize("path", SPEECH, ids=lambda path: path.stem)
@pytest.mark.parametrize("frame_ms", [20, 200])
def test_real_speech_with_a_hole_and_a_repeat(room: Room, path: Path, frame_ms: int) -> None:
    """200 ms are dropped and 200 ms are played twice; speech has digital silence and near-silence in it."""
    speech = load_clip(path)
    pieces = cut(speech.samples, 200)
    for piece in pieces:
        room.ear.sent(0, piece, 0)
    room.ear.text(0, speech.text, speech.words)
    room.ear.ended(0, 0)
    kept = [*pieces[:3], pieces[2], *pieces[4:]]
    for piece in cut(np.concatenate(kept), frame_ms):
        room.speaker.play(PCM24.encode(piece))
    room.run_until(speech.duration_ms + 1000)
    entry = heard(room)
    hole = len(pieces[3]) / 24 if len(pieces) > 3 else 0
    assert entry.heard_ms == pytest.approx(speech.duration_ms - hole, abs=1e-6)
    assert entry.again_ms == len(pieces[2]) / 24
    missing = [word for word in speech.words if word.start_ms < 800 and word.end_ms > 600]
    said = entry.heard_text.split()
    assert len(said) in (len(speech.words) - len(missing), len(speech.words) - len(missing) + 1)
    assert said[-1] == speech.words[-1].text or speech.words[-1] in missing
    assert entry.cut_off


def test_listeners_hear_of_every_change(room: Room) -> None:
    changes: list[str] = []
    room.ear.listeners.append(changes.append)
    room.ear.sent(0, noise(400), 0)
    room.speaker.play(PCM24.encode(noise(400)))
    room.ear.ended(0, 0)
    room.speaker.clear()
    room.speaker.clear()
    assert changes == ["play", "ended", "clear"]


def test_an_ear_is_at_its_speaker(room: Room) -> None:
    other = Ear(room.speaker)
    assert room.speaker.listener is other


def test_deliveries_and_clears_are_kept_with_their_times(room: Room) -> None:
    room.ear.sent(0, noise(400), 10_000)
    room.ear.sent(1, noise(100)[:800], 20_000, 8000)
    room.speaker.play(PCM24.encode(noise(400)))
    room.at(250, room.speaker.clear)
    room.run_until(500)
    assert [(d.t_us, d.reply, d.start, d.count, d.rate) for d in room.ear.deliveries] == [
        (10_000, 0, 0, 9600, 24000),
        (20_000, 1, 9600, 800, 8000),
    ]
    assert [(cleared.t_us, cleared.position) for cleared in room.ear.clears] == [(250_000, 6000)]
    assert [(span.position, span.count, span.source) for span in room.ear.spans] == [(0, 6000, 0)]
