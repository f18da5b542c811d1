import numpy as np
import pytest

from simrt.caller import Clip, Cue, CueError, Say, parse_cue
from simrt.errors import SimrtError


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("pickup", Cue("pickup")),
        ("pickup+300ms", Cue("pickup", None, 300_000)),
        ("reply[0].start+200ms", Cue("start", 0, 200_000)),
        ("reply[-1].heard+500ms", Cue("heard", -1, 500_000)),
        ("reply[2].end", Cue("end", 2)),
        ('reply["answer-0"].end+600ms', Cue("end", "answer-0", 600_000)),
        ("line.quiet+800ms", Cue("quiet", None, 800_000)),
        ("line.quiet+0.25ms", Cue("quiet", None, 250)),
        ("turn[0].end+900ms", Cue("said", None, 900_000, 0)),
        ("turn[12].end", Cue("said", None, 0, 12)),
    ],
)
def test_reads_and_writes_the_same_text(text: str, cue: Cue) -> None:
    assert parse_cue(text) == cue
    assert str(cue) == text


@pytest.mark.parametrize("text", [" reply[ 1 ] . end + 0.6 s ", "reply[1].end+0.6s", "reply[+1].end+600ms"])
def test_seconds_and_spaces_are_the_same_cue(text: str) -> None:
    assert str(parse_cue(text)) == "reply[1].end+600ms"


def test_single_quotes_are_quotes() -> None:
    assert parse_cue("reply['answer-0'].start") == parse_cue('reply["answer-0"].start')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repy[0].end+600ms", "did you mean reply?"),
        ("reply[0].ende+600ms", "did you mean reply[0].end?"),
        ("turn.end", "Write turn[0].end for the first"),
        ("turn[-1].end", "Write turn[0].end for the first"),
        ("turn[0].start", "write turn[0].end"),
        ("reply[0].finished", "write reply[0].start or reply[0].heard or reply[0].end"),
        ("reply[0]+600ms", "reply[0] needs a moment"),
        ("reply.end", "reply[-1] for the last"),
        ("reply[answer-0].end", 'reply["answer-0"]'),
        ("reply[].end", "by its number or by its key"),
        ("line.quite+1s", "did you mean line.quiet?"),
        ("line+1s", "line needs a moment"),
        ("line[0].quiet", "only replies and turns are numbered"),
        ("pickup.end", "pickup has no moments"),
        ("pickup+300", "the unit is missing; write +300ms or +300s"),
        ("pickup+300sec", "unit 'sec' is not known"),
        ("reply[0].end-200ms", "use reply[n].heard"),
        ("", "cues look like pickup+300ms"),
        ("in a moment", "cannot be read"),
        ("pickup+300ms+5ms", "cannot be read"),
    ],
)
def test_a_misspelt_cue_says_what_was_meant(text: str, message: str) -> None:
    with pytest.raises(CueError) as error:
        parse_cue(text)
    assert isinstance(error.value, SimrtError)
    assert repr(text) in str(error.value)
    assert message in str(error.value)


def test_negative_numbers_count_from_the_last_reply() -> None:
    assert parse_cue("reply[-1].heard+500ms").resolve(3) == Cue("heard", 2, 500_000)
    assert parse_cue("reply[-3].end").resolve(3) == Cue("end", 0)
    assert parse_cue("line.quiet").resolve(0) == Cue("quiet")
    assert parse_cue('reply["answer-0"].end').resolve(0) == Cue("end", "answer-0")


@pytest.mark.parametrize(
    ("text", "replies", "message"),
    [
        ("reply[3].end", 3, "reply[3].end: the cassette has 3 replies: reply[0] to reply[2]"),
        ("reply[-4].end", 3, "reply[-4].end: the cassette has 3 replies"),
        ("reply[1].end", 1, "the cassette has 1 reply: reply[0]"),
        ("reply[0].end", 0, "the cassette has no replies"),
    ],
)
def test_a_reply_that_the_cassette_has_not_is_an_error(text: str, replies: int, message: str) -> None:
    with pytest.raises(CueError) as error:
        parse_cue(text).resolve(replies)
    assert message in str(error.value)


def test_a_say_is_in_order_and_in_the_foreground_unless_told() -> None:
    say = Say(Clip("hum", np.zeros(240, np.int16)), Cue("pickup"))
    assert not say.parallel
    assert not say.background
