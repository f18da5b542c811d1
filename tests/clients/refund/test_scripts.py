"""Every script of the refund desk: what the right desk makes of it, and which wrong desk it was written for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clients.refund import BeforeDesk, CallIdDesk, HoldingDesk, PassiveDesk, RefundDesk, SentDesk
from simrt.explore import Job, run_job
from simrt.measure import cut_latencies
from simrt.replay.build import score_of
from simrt.scripts import authored
from simrt.scripts.refund import REFUND
from tests.zoo.scripts import cassette

from .play import Play, play

AHEAD = "burst:reply=1"  # the confirmation is sent far ahead of being heard
LEAVES = "hangs-up-untold"

# desk, script, faults, and what gives it away
WRONG = [
    (BeforeDesk, "did-it-go-through", (), "never heard by the caller"),
    (BeforeDesk, "missed-confirmation", (), "never heard by the caller"),
    (CallIdDesk, "wrong-card", (), "was refunded 2 times: $32.00 to 4242, $32.00 to 8812"),
    (CallIdDesk, "repeat-call", (), "was refunded 2 times: $32.00 to 4242, $32.00 to 4242"),
    (PassiveDesk, "missed-confirmation", (), "never heard by the caller"),
    (SentDesk, "missed-card", (), "told by the ledger, and the caller never heard it"),
    (SentDesk, "missed-confirmation", (AHEAD,), "told by the ledger, and the caller never heard it"),
    (HoldingDesk, "missed-confirmation", (), "told by the ledger, and the caller never heard it"),
]


def events(done: Play, kind: str) -> list[dict[str, object]]:
    """The client's events of one type."""
    sent = (frame.event() or {} for frame in done.result.trace.sent_by("client"))
    return [event for event in sent if event["type"] == kind]


@pytest.mark.parametrize("script", REFUND)
def test_the_right_desk_is_reconciled_and_goes_as_scripted(script: str, tmp_path: Path) -> None:
    done = play(tmp_path, script)
    assert done.mismatches == []
    assert len(done.rows) == 1
    assert done.result.closed_by == "client"
    if script != LEAVES:  # where the call breaks off, what would have come did not
        assert done.result.verdict.clean, str(done.result.verdict)
        assert done.result.log[-1].endswith("hanging up: the call is finished")


@pytest.mark.parametrize("script", [name for name in REFUND if name not in (LEAVES, "provider-down")])
def test_the_caller_hears_which_card_and_the_ledger_says_so(script: str, tmp_path: Path) -> None:
    done = play(tmp_path, script)
    card = "8812" if script == "wrong-card" else "4242"
    assert [(row.card, row.accepted, row.told) for row in done.rows] == [(card, True, True)]
    assert done.paid == [card]


@pytest.mark.parametrize("script", ["mm-hmm", "mm-hmm-confirmation", "tv"])
def test_what_is_no_turn_cuts_nothing(script: str, tmp_path: Path) -> None:
    aside = play(tmp_path, script).result
    assert not any(reply.cut_off for reply in aside.replies)
    started = [row for row in aside.timeline if row.what == "input_audio_buffer.speech_started"]
    assert len(started) == 2  # the request, the thanks


def test_background_talk_is_transcribed_as_the_callers(tmp_path: Path) -> None:
    news = next(turn for turn in play(tmp_path, "tv").result.caller_turns if turn.clip == "news")
    assert news.transcript.startswith("In other news, the city council")


def test_an_mm_hmm_in_the_gap_is_answered_once(tmp_path: Path) -> None:
    done = play(tmp_path, "mm-hmm-gap")
    assert [turn.transcript for turn in done.result.caller_turns][1] == "Mm-hmm."
    assert len(done.result.replies) == 3
    asked = [row for row in done.result.timeline if row.what == "response.create"]
    assert asked == []  # the refund was made while they spoke: their turn brings the reply, which knows of it


def test_another_card_takes_the_refund_along(tmp_path: Path) -> None:
    done = play(tmp_path, "wrong-card")
    assert len(done.rows[0].call_ids) == 2
    assert any("card_changed" in line for line in done.result.log)
    assert "instead" in done.result.replies[2].heard_text


def test_still_processing_is_not_the_last_word(tmp_path: Path) -> None:
    replies = play(tmp_path, "did-it-go-through").result.replies
    assert replies[1].heard_text.startswith("It's still processing")
    assert replies[2].heard_text.startswith("It's through now")


def test_what_was_talked_over_is_said_again(tmp_path: Path) -> None:
    done = play(tmp_path, "missed-confirmation")
    assert "4242" not in done.result.replies[1].heard_text
    assert "4242" in done.result.replies[3].heard_text
    assert len(events(done, "response.create")) == 2


def test_no_confirmation_means_no_promise(tmp_path: Path) -> None:
    done = play(tmp_path, "provider-down")
    assert [(row.accepted, row.told) for row in done.rows] == [(False, False)]
    assert done.paid == []
    assert "can't confirm it yet" in done.heard


def test_a_second_call_of_the_tool_pays_nothing(tmp_path: Path) -> None:
    done = play(tmp_path, "repeat-call")
    assert len(done.rows[0].call_ids) == 2
    assert len(done.payments) == 1


def test_a_second_call_tomorrow_hears_of_the_earlier_one(tmp_path: Path) -> None:
    done = play(tmp_path, "calls-back-tomorrow")
    outputs = [event["item"] for event in events(done, "conversation.item.create")]
    assert "on an earlier call" in str(outputs[0])
    assert len(done.payments) == 1
    assert len(done.rows[0].call_ids) == 2
    assert done.rows[0].asked_at.startswith("2026-01-05 09:00:08")  # the first call's


def test_who_hangs_up_untold_is_left_for_a_message(tmp_path: Path) -> None:
    done = play(tmp_path, LEAVES)
    assert done.result.line.hung_up_by == "caller"
    assert [(row.accepted, row.told) for row in done.rows] == [(True, False)]
    assert "untold: R-4417 to 4242, send the caller a message" in done.result.log[-1]


def test_whom_the_model_will_not_tell_is_left_for_a_message(tmp_path: Path) -> None:
    """The change of card is talked over and never made, and the model speaks of it all the same, two reminders on."""
    aside = ("second-item:reply=-2,at=4320ms", "late-audio:reply=-4,at=1120ms,after=20ms")
    done = play(tmp_path, "wrong-card", RefundDesk, aside)
    assert done.mismatches == []
    assert [(row.card, row.told) for row in done.rows] == [("4242", False)]
    assert "8812" in done.heard
    assert sum("reminder" in line for line in done.result.log) == 2
    assert "untold: R-4417 to 4242, send the caller a message" in done.result.log[-1]


def test_no_reminder_is_spent_on_a_caller_who_is_speaking(tmp_path: Path) -> None:
    """Asked a moment before they cut in: what begins then is not the end of their turn."""
    faults = ("mute:at=1120ms,reply=-4,for=10000ms,send=nothing", "barge-in:at=2700ms,answer=breakfast")
    done = play(tmp_path, "missed-confirmation", RefundDesk, faults)
    assert done.mismatches == []
    assert [row.told for row in done.rows] == [True]


@pytest.mark.parametrize(
    ("desk", "script", "faults", "mismatch"), [pytest.param(*w, id=f"{w[0].__name__}-{w[1]}") for w in WRONG]
)
def test_each_wrong_desk_is_caught_by_its_script(
    desk: type[RefundDesk], script: str, faults: tuple[str, ...], mismatch: str, tmp_path: Path
) -> None:
    found = play(tmp_path, script, desk, faults).mismatches
    assert any(mismatch in text for text in found), found


def test_the_right_desk_tells_what_was_sent_from_what_was_heard(tmp_path: Path) -> None:
    done = play(tmp_path, "missed-confirmation", RefundDesk, [AHEAD])
    assert done.mismatches == []
    assert done.result.verdict.clean, str(done.result.verdict)


@pytest.mark.parametrize("script", ["wrong-card", "did-it-go-through", "missed-confirmation"])
def test_a_reply_is_cut_as_long_after_the_first_sound_as_live(script: str, tmp_path: Path) -> None:
    (cut_ms,) = cut_latencies(play(tmp_path, script).result, score_of(authored(script)))
    assert 740 <= cut_ms <= 790


@pytest.mark.parametrize("script", ["wrong-card", "did-it-go-through"])
def test_a_tool_call_outlives_its_line(script: str, tmp_path: Path) -> None:
    result = play(tmp_path, script).result
    assert result.replies[0].cut_off
    assert result.calls[0].name == "issue_refund"
    assert all(call.in_history for call in result.calls)


def test_the_stamps_are_the_frozen_clocks(tmp_path: Path) -> None:
    (row,) = play(tmp_path, "refund", start="2026-03-06T23:59:55+00:00").rows
    assert row.asked_at == "2026-03-07 00:00:03.520"  # the tool was called 8.5 s into the call
    assert row.settles_on == "2026-03-11"  # a Saturday and a Sunday lie between


@pytest.mark.parametrize("script", ["wrong-card", "missed-confirmation"])
def test_the_same_seed_is_the_same_call_in_another_process(script: str, tmp_path: Path) -> None:
    jitter = ("spread",)
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()
    mine = play(tmp_path / "mine", script, RefundDesk, jitter, seed=3)
    code = (
        "import sys; from pathlib import Path; from tests.clients.refund.play import play, RefundDesk\n"
        f"done = play(Path(sys.argv[1]), {script!r}, RefundDesk, ['spread'], seed=3)\n"
        "print(done.result.trace_sha256, done.rows)"
    )
    root = Path(__file__).parents[3]
    there = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "theirs")],
        capture_output=True,
        text=True,
        cwd=root,
        env=os.environ | {"PYTHONHASHSEED": "77"},
        check=True,
    )
    assert there.stdout.strip() == f"{mine.result.trace_sha256} {mine.rows}"
    (tmp_path / "other").mkdir()
    assert play(tmp_path / "other", script, RefundDesk, jitter, seed=4).result.trace_sha256 != mine.result.trace_sha256


def test_a_reply_of_which_nothing_was_sent_shifts_no_other() -> None:
    """The confirmation is cut off before its first audio; what tells the caller comes two replies later."""
    faults = ("collide", "extra-turn", "clog:at=900ms,reply=4,for=100ms", "latency:add=20ms,jitter=20ms")
    outcome = run_job(Job("clients.refund:RefundDesk", cassette("refund-missed"), faults, seed=203))
    assert outcome.status == "ended"
    assert [finding for finding in outcome.findings if finding.severity == "error"] == []
