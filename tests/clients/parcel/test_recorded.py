"""The parcel service on the cassettes that were recorded of it: the same outcomes as on the scripts."""

from pathlib import Path
from typing import Any

import pytest

from simrt import shipped
from simrt.cassette.store import load_cached
from simrt.replay.fidelity import check_fidelity
from simrt.scripts.parcel import PARCEL

from .play import play, right


@pytest.mark.parametrize("name", PARCEL)
def test_the_recording_comes_back_frame_by_frame(name: str) -> None:
    fidelity = check_fidelity(load_cached(shipped.cassette(name)), name)
    assert fidelity.ok, fidelity.difference
    assert fidelity.frames > 400


@pytest.mark.parametrize("name", PARCEL)
def test_the_recording_is_of_kugel_and_holds_no_key(name: str) -> None:
    header = load_cached(shipped.cassette(name)).header
    assert (header.dialect, header.profile, header.how) == ("live", "kugel", "stand-in")
    assert "header:authorization" in header.redacted
    text = (shipped.cassette(name) / "cassette.jsonl").read_text()
    assert "Bearer simrt" not in text


def facts(done: Any) -> list[tuple[object, ...]]:
    """What the book holds, but for who asked."""
    return [(o.number, o.status, o.told, o.verified, o.confirmed, len(o.asked_by)) for o in done.asked]


@pytest.mark.parametrize("name", PARCEL)
def test_the_outcomes_are_those_of_the_script(name: str, tmp_path: Path) -> None:
    done, scripted = play(tmp_path, shipped.cassette(name)), right(name)
    assert done.mismatches == []
    assert facts(done) == facts(scripted)
    assert [reply.cut_off for reply in done.result.replies] == [reply.cut_off for reply in scripted.result.replies]
    whole = [text for text, reply in zip(done.heard, done.result.replies, strict=True) if not reply.cut_off]
    assert whole == [
        text for text, reply in zip(scripted.heard, scripted.result.replies, strict=True) if not reply.cut_off
    ]
    contents = [[event["content"] for event in call.sent("session.commentary.append")] for call in (done, scripted)]
    assert contents[0] == contents[1]
    assert done.result.verdict.unsaid == []
    assert done.result.log[-1].endswith("hanging up: the call is finished")
