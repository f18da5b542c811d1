"""Finding utterances in tracks that never end."""

import numpy as np
import pytest

from simrt.audio import PCM24
from simrt.replay.clips import CallerAudio
from simrt.replay.live_stretches import Text, find_bursts, find_stretches, find_turns, joined, voices
from simrt.replay.score import ScoredFrame
from tests.replay.hand import samples_of, silence

SLOT = 100_000


def text(delta: str, start_ms: int, t_ms: int = 0) -> Text:
    frame = ScoredFrame(0, "", None, "", ("timeline", 0), 0, t_us=t_ms * 1000)
    return Text(frame, start_ms * 1000, start_ms * 1000 + 200_000, delta)


def slots(pattern: str, t_ms: tuple[int, ...] = ()) -> list[ScoredFrame]:
    """A slot a character: "x" is loud, "." silent."""
    tone = (2000 * np.sin(np.arange(2400) / 10)).astype(np.int16)
    made = []
    for k, char in enumerate(pattern):
        audio = PCM24.encode(tone if char == "x" else np.zeros(2400, np.int16))
        moment = t_ms[k] * 1000 if t_ms else 0
        made.append(ScoredFrame(k, "", None, "", ("timeline", 0), 0, audio=audio, t_us=moment))
    return made


@pytest.mark.parametrize(
    ("deltas", "whole"),
    [
        ([" Hi", ", jar", "head"], "Hi, jarhead"),
        (["Okay.", " Now"], "Okay. Now"),
        (["Okay.", "Now"], "Okay. Now"),
        (["4", ".5"], "4.5"),
        (["no", "Thank"], "no Thank"),
        ([], ""),
    ],
)
def test_deltas_bring_their_spaces_along(deltas: list[str], whole: str) -> None:
    assert joined([text(delta, 0) for delta in deltas]) == whole


def test_voices_are_where_it_is_loud() -> None:
    track = np.concatenate([silence(1000), samples_of("mm-hmm"), silence(2000), samples_of("mm-hmm"), silence(100)])
    (first, second) = voices(track)
    assert 1_000_000 <= first[0] < first[1] <= 1_000_000 + len(samples_of("mm-hmm")) / 24 * 1000
    assert second[0] > first[1] + 1_900_000
    assert voices(silence(3000)) == []


def test_a_click_is_no_voice() -> None:
    track = silence(1000).copy()
    track[5000:5100] = 9000
    assert voices(track) == []


def test_a_voice_without_a_transcript_is_no_turn() -> None:
    audio = CallerAudio()
    track = np.concatenate([silence(500), samples_of("mm-hmm"), silence(1500), samples_of("booking"), silence(500)])
    audio.add(PCM24.encode(track), PCM24, 0)
    begin_ms = 2000 + len(samples_of("mm-hmm")) // 24
    texts = [text("Hi,", begin_ms + 100), text(" there", begin_ms + 600), text("nobody", 60_000)]
    turns, owner = find_turns(audio, texts, [])
    assert [turn.text for turn in turns] == ["Hi, there"]
    assert owner == [0, 0, -1]
    assert (turns[0].home_us or 0) / 1000 == pytest.approx(begin_ms, abs=200)


def test_speech_is_cut_at_longer_silences() -> None:
    found = find_stretches(slots("..xxx.x....xx."), SLOT, PCM24, [], True)
    assert [(stretch.first, stretch.last) for stretch in found] == [(2, 6), (11, 12)]


def test_words_belong_to_the_nearest_speech() -> None:
    texts = [text("a", 0), text(" b", 400), text("c", 1000)]
    found = find_stretches(slots("..xxx.x....xx."), SLOT, PCM24, texts, True)
    assert [stretch.text for stretch in found] == ["a b", "c"]


def test_without_audio_the_transcript_says_where() -> None:
    texts = [text("Okay,", 200), text(" now.", 600), text("Healthy", 1800)]
    found = find_stretches(slots("." * 20), SLOT, PCM24, texts, False)
    assert [(stretch.first, stretch.last, stretch.text) for stretch in found] == [
        (2, 7, "Okay, now."),
        (18, 19, "Healthy"),
    ]


def test_what_comes_together_is_one_reply() -> None:
    pieces = slots("xxxx", (0, 5, 1000, 1010))
    bursts = find_bursts(pieces, [text("one", 0, 2), text("two", 0, 1005), text("early", 0, -5000)])
    assert [(len(audio), [said.delta for said in texts]) for audio, texts in bursts] == [(2, ["one"]), (2, ["two"])]
