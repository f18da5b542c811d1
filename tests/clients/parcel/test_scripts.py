"""Every script of the parcel service: what the right one makes of it, and which wrong one it was written for."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clients.parcel import (
    AppendedParcel,
    BlockingParcel,
    DeltaParcel,
    ForgetfulParcel,
    GatedParcel,
    HastyParcel,
    LoudParcel,
    Parcel,
)
from simrt import Say, fixture_clip, parse_cue
from simrt.audio import AudioFormat
from simrt.scripts.parcel import PARCEL

from .play import Play, play, right

BOTH_WAYS = pytest.mark.parametrize("mode", ["kugel", "plain"])
MODES: dict[str, dict[str, Any] | None] = {"kugel": {}, "plain": None}
LATER = parse_cue("reply[1].end+500ms")
ANSWERS = {"cancel-yes": "cancelled", "unattached-dropped": "delivered"}  # else where the order is


@BOTH_WAYS
@pytest.mark.parametrize("script", PARCEL)
def test_the_right_one_goes_as_scripted_and_its_book_is_right(script: str, mode: str) -> None:
    done = right(script, mode)
    assert done.mismatches == []
    assert done.result.verdict.clean, str(done.result.verdict)
    assert done.result.log[-1].endswith("hanging up: the call is finished")
    assert done.heard[-1].endswith("goodbye.")
    assert done.asked
    assert all(order.told == order.status for order in done.asked)
    wanted = ANSWERS.get(script)
    assert wanted is None or [order.status for order in done.asked] == [wanted]


@BOTH_WAYS
def test_the_answer_names_what_was_asked_for_in_words(mode: str) -> None:
    done = right("parcel-status", mode)
    assert done.result.caller_turns[0].transcript.endswith("four seven double one.")
    assert [order.number for order in done.asked] == ["4711"]
    assert done.heard[1] == "Order 4711 shipped yesterday and arrives tomorrow."


def test_facts_are_sent_and_no_more_than_were_asked_for() -> None:
    (fact,) = right("parcel-status").sent("session.commentary.append")
    assert fact["content"] == "Order 4711 shipped yesterday and arrives tomorrow."
    assert fact["delegation_id"] == "item_0001"
    assert "12 Mill Lane" not in str(fact)


def test_an_unknown_number_is_asked_for_again() -> None:
    done = right("unknown-number")
    first, second = done.sent("session.commentary.append")
    assert first["content"].startswith("There is no order 4777.")
    assert second["delegation_id"] == "item_0002"
    assert done.heard[1].endswith("Could you say the number again?")


def test_progress_is_known_and_not_said() -> None:
    done = right("slow-lookup")
    (progress,) = done.sent("session.thinking.append")
    assert progress["content"] == "The carrier is being asked about order 4712."
    assert progress["delegation_id"] == "item_0001"
    assert not any("carrier" in text for text in done.heard)


def test_audio_flows_both_ways_while_the_carrier_is_asked() -> None:
    done = right("slow-lookup")
    frames = len(done.sent("session.input_audio.append"))
    assert frames * 20 >= done.result.virtual_ms - 500  # from the start on, silence too
    (delegated,) = done.got("session.delegation.created")
    holding = done.result.replies[1]
    assert holding.from_ms is not None
    assert holding.from_ms - delegated < 1000
    assert not holding.cut_off


def test_a_question_is_asked_word_for_word_and_its_answer_delegated() -> None:
    done = right("cancel-yes")
    question = done.sent("session.commentary.append")[0]
    assert question["expects_reply"] is True
    assert done.heard[1] == question["content"] == "Shall I really cancel order 4711?"
    assert [order.confirmed for order in done.asked] == ["Yes, please."]
    assert len(done.asked[0].asked_by) == 2


@pytest.mark.parametrize("script", ["cancel-no", "cancel-yes-then-no"])
def test_without_a_yes_at_the_end_the_order_stays(script: str) -> None:
    done = right(script)
    assert [(order.status, order.confirmed) for order in done.asked] == [("shipped", "")]
    assert done.heard[2].endswith("stays as it is.")


@BOTH_WAYS
def test_an_announcement_that_was_dropped_is_made_again(mode: str) -> None:
    done = right("unattached-dropped", mode)
    news = [event for event in done.sent("session.commentary.append") if event["delegation_id"] is None]
    assert [event["content"] for event in news] == ["Order 4713 has just been delivered."] * 2
    assert done.heard.count("Order 4713 has just been delivered.") == 1


@BOTH_WAYS
def test_what_was_talked_over_is_told_again(mode: str) -> None:
    done = right("interrupted-result", mode)
    assert done.result.replies[1].cut_off
    assert "tomorrow" not in done.heard[1]
    assert done.heard[3] == "Order 4711 shipped yesterday and arrives tomorrow."
    assert len(done.sent("session.commentary.append")) == 2


@BOTH_WAYS
def test_a_result_outlives_the_interruption(mode: str) -> None:
    done = right("late-result", mode)
    assert done.result.replies[1].cut_off
    assert done.heard[3] == "Order 4712 arrives on Friday."


def test_the_address_is_for_who_knows_the_postcode() -> None:
    done = right("verified")
    (allowed,) = done.sent("session.instructions.append")
    assert "may be told its address" in allowed["content"]
    assert [order.verified for order in done.asked] == [True]
    assert "12 Mill Lane" in done.heard[1]


@BOTH_WAYS
def test_the_line_stays_open_for_one_more_question(mode: str) -> None:
    done = right("one-more", mode)
    assert done.result.replies[2].cut_off
    assert [order.told for order in done.asked] == ["shipped", "in transit"]


# The wrong ones


def silent_ms(done: Play) -> float:
    """How long after the delegation the agent was first heard."""
    return (done.result.replies[1].from_ms or 1e9) - done.got("session.delegation.created")[0]


def test_blocking_audio_stops_while_the_carrier_is_asked(tmp_path: Path) -> None:
    done = play(tmp_path, "slow-lookup", BlockingParcel)
    assert silent_ms(done) >= 5000  # the holding line came in time, and waited to be read
    assert done.heard[1].startswith("One moment")
    assert silent_ms(right("slow-lookup")) < 1000


def test_gated_the_result_is_never_placed(tmp_path: Path) -> None:
    done = play(tmp_path, "slow-lookup", GatedParcel)
    assert [event["content"] for event in done.sent("session.commentary.append")] == ["Order 4712 arrives on Friday."]
    assert done.got("session.commentary.appended") == []
    assert len(done.got("error")) == 1
    assert any("context_injection_incomplete" in line for line in done.result.log)
    assert done.mismatches == ["order 4712 was asked for, and nothing was ever heard of it"]


@BOTH_WAYS
def test_appended_what_was_talked_over_counts_as_told(mode: str, tmp_path: Path) -> None:
    done = play(tmp_path, "interrupted-result", AppendedParcel, kugel=MODES[mode])
    assert done.mismatches == ["order 4711: shipped was told by the book, and the caller never heard it"]
    assert len(done.sent("session.commentary.append")) == 1


@BOTH_WAYS
def test_delta_a_yes_is_taken_before_the_no(mode: str, tmp_path: Path) -> None:
    done = play(tmp_path, "cancel-yes-then-no", DeltaParcel, kugel=MODES[mode])
    assert [(order.status, order.confirmed) for order in done.asked] == [("cancelled", "Yes,")]
    assert done.mismatches == ["order 4711 was cancelled, and the caller never confirmed it"]


def test_forgetful_the_result_goes_with_the_interruption(tmp_path: Path) -> None:
    done = play(tmp_path, "late-result", ForgetfulParcel)
    assert done.sent("session.commentary.append") == []
    assert done.mismatches == ["order 4712 was asked for, and nothing was ever heard of it"]
    assert [order.status for order in done.asked] == ["with the carrier"]


@BOTH_WAYS
def test_hasty_it_hangs_up_on_one_more_question(mode: str, tmp_path: Path) -> None:
    done = play(tmp_path, "one-more", HastyParcel, kugel=MODES[mode])
    assert done.result.line.hung_up_by == "client"
    assert done.heard[-1].startswith("One moment")
    assert done.mismatches == ["order 4712 was asked for, and nothing was ever heard of it"]


def test_loud_the_caller_hears_of_the_progress(tmp_path: Path) -> None:
    done = play(tmp_path, "slow-lookup", LoudParcel)
    assert "The carrier is being asked about order 4712." in done.heard
    assert done.result.verdict.synthetic == ["speech (The carrier is being asked about order 4712.)"]


OTHERWISE_RIGHT = [
    (BlockingParcel, "cancel-yes"),
    (GatedParcel, "parcel-status"),
    (AppendedParcel, "unknown-number"),
    (DeltaParcel, "cancel-no"),
    (ForgetfulParcel, "slow-lookup"),
    (HastyParcel, "verified"),
    (LoudParcel, "unattached-dropped"),
]


@pytest.mark.parametrize(("desk", "script"), OTHERWISE_RIGHT)
def test_each_wrong_one_is_wrong_in_one_thing(desk: type[Parcel], script: str, tmp_path: Path) -> None:
    done = play(tmp_path, script, desk)
    assert done.mismatches == []
    assert done.result.verdict.clean, str(done.result.verdict)


# What else must hold


@pytest.mark.parametrize("format", ["pcm16 at 16000", "ulaw", "alaw"])
def test_other_formats_carry_the_call_as_well(format: str, tmp_path: Path) -> None:
    wire = AudioFormat("pcm16", 16000) if format.startswith("pcm16") else AudioFormat(format, 8000)  # type: ignore[arg-type]
    done = play(tmp_path, "interrupted-result", format=wire)
    assert done.mismatches == []
    assert done.result.verdict.clean, str(done.result.verdict)


@pytest.mark.parametrize("script", ["interrupted-result", "unattached-dropped"])
def test_the_same_call_is_the_same_in_another_process(script: str, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    mine = right(script)
    code = (
        "import sys; from pathlib import Path; from tests.clients.parcel.play import play\n"
        f"done = play(Path(sys.argv[1]), {script!r})\n"
        "print(done.result.trace_sha256, done.orders)"
    )
    there = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "theirs")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        env=os.environ | {"PYTHONHASHSEED": "77"},
        check=True,
    )
    assert there.stdout.strip() == f"{mine.result.trace_sha256} {mine.orders}"


@pytest.mark.parametrize("at_ms", [0, 300, 600])
def test_what_is_said_before_the_session_is_started_is_heard(at_ms: int, tmp_path: Path) -> None:
    says = [Say(fixture_clip("parcel-where"), parse_cue(f"pickup+{at_ms}ms")), Say(fixture_clip("thanks-bye"), LATER)]
    done = play(tmp_path, "parcel-status", Parcel, ["delay:event=session.started,for=600ms"], says=says)
    assert [turn.words_lost for turn in done.result.caller_turns] == [0, 0]
    assert done.mismatches == []


def test_silence_from_before_the_start_puts_the_agent_behind_nobody() -> None:
    done = right("slow-lookup")
    asked, placed = done.sent_ms("session.thinking.append"), done.got("session.thinking.appended")
    assert 600 < placed[0] - asked[0] < 1000


FAULTS = [
    "latency:add=80ms,jitter=40ms",
    "stall:reply=1,at=500ms,for=900ms",
    "stall:reply=-1,at=1s,for=500ms",
    "clog:reply=-1,at=500ms,for=800ms",
    "duplicate:event=session.delegation.created",
    "delay:event=session.input_transcript.delta,nth=-1,for=400ms",
    "delay:event=session.delegation.created,for=2s",
    "spread",
]


@BOTH_WAYS
@pytest.mark.parametrize("fault", FAULTS)
def test_the_right_one_survives(fault: str, mode: str, tmp_path: Path) -> None:
    done = play(tmp_path, "parcel-status", faults=[fault], kugel=MODES[mode])
    assert done.mismatches == []
    assert [order.told for order in done.asked] == ["shipped"]
    assert not done.result.replies[-1].cut_off
    assert done.result.verdict.unfired == []
    assert done.result.log[-1].endswith("hanging up: the call is finished")


@BOTH_WAYS
def test_a_delegation_that_is_late_is_still_about_its_own_turn(mode: str, tmp_path: Path) -> None:
    late = ["delay:event=session.delegation.created,for=2s"]
    done = play(tmp_path, "late-result", faults=late, kugel=MODES[mode])
    assert [(order.number, order.told) for order in done.asked] == [("4712", "in transit")]


@BOTH_WAYS
def test_a_yes_counts_though_the_agent_says_something_before_it_is_delegated(mode: str, tmp_path: Path) -> None:
    done = play(tmp_path, "cancel-yes", Parcel, ["late-delegation"], kugel=MODES[mode])
    assert [order.status for order in done.asked] == ["cancelled"]
    assert len([said for said in done.heard if "Shall I really" in said]) == 1


def test_what_was_cut_off_in_the_silence_behind_its_last_word_was_heard(tmp_path: Path) -> None:
    done = play(tmp_path, "late-result", faults=["cough:reply=-2,at=1660ms"])
    fact = done.result.replies[3]
    assert fact.cut_off
    assert 20 < fact.audio_ms - fact.heard_ms < 100
    assert [order.told for order in done.asked] == ["in transit"]
    assert done.mismatches == []


def test_what_was_lost_on_its_way_is_not_what_was_said(tmp_path: Path) -> None:
    done = play(tmp_path, "slow-lookup", faults=["ignore:event=session.commentary.append"])
    lost, again = [append for append in done.result.delegations[0].appends if append.kind == "commentary"]
    assert (lost.content, lost.reply) == (again.content, None)
    assert again.reply == done.result.replies[2].reply
    assert done.mismatches == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("drop:event=session.delegation.created", None),
        ("reset:reply=1,at=500ms", ""),
        ("close:code=1001,reply=-1,at=1s", "shipped"),
    ],
)
def test_what_cannot_be_survived_leaves_a_right_book(fault: str, told: str | None, tmp_path: Path) -> None:
    done = play(tmp_path, "parcel-status", faults=[fault])
    assert done.mismatches == []
    assert [order.told for order in done.asked] == ([] if told is None else [told])
