"""No rule of the protocol, the end, the effects or of Live blames who makes no mistake."""

from pathlib import Path

import pytest

from clients.call import Call
from clients.parcel import Parcel
from clients.refund import RefundDesk
from simrt import shipped
from simrt.cassette.importers import import_file
from simrt.cassette.store import load
from simrt.checks import Case, Finding, judge
from simrt.scripts.refund import REFUND
from simrt.trial import staged

GROUPS = ("PRO", "END", "EFF", "LIV")
CASSETTES = sorted(path.name for path in shipped.folder("cassettes").iterdir() if (path / "cassette.jsonl").is_file())
PLANS = {
    "realtime": [
        ("stall:reply=-1,at=1500ms,for=2000ms",),
        ("burst", "latency:add=150ms,jitter=80ms"),
        ("barge-in:reply=0,at=1000ms,answer=breakfast",),
        ("arguments:call=0,are=empty",),
        ("repeat-call:call=0", "collide:nth=0"),
        ("error:reply=0,at=500ms", "drop:event=response.output_audio.done,nth=0"),
        ("close:at=6000ms,code=1001",),
    ],
    "live": [("latency:add=150ms,jitter=80ms",), ("barge-in:reply=0,at=800ms",), ("close:at=6000ms,code=1001",)],
}


def right(cassette: str) -> type:
    """The client that a cassette was made for."""
    live = load(shipped.cassette(cassette)).header.dialect == "live"
    return Parcel if live else RefundDesk if cassette in REFUND else Call


def blamed(cassette: str, plan: tuple[str, ...]) -> list[Finding]:
    with staged(right(cassette), cassette, plan) as call:
        assert call.result is not None, call.error
        return [f for f in judge(Case.of_result(call.result), select=GROUPS) if f.severity == "error"]


@pytest.mark.parametrize("cassette", [name for name in CASSETTES if name != "hangs-up-untold"])
def test_the_right_clients_on_the_cassettes(cassette: str) -> None:
    assert blamed(cassette, ()) == []


@pytest.mark.parametrize("plan", PLANS["realtime"])
@pytest.mark.parametrize("cassette", ["front-desk", "talk-over", "refund"])
def test_the_right_clients_under_faults(cassette: str, plan: tuple[str, ...]) -> None:
    assert blamed(cassette, plan) == []


@pytest.mark.parametrize("plan", PLANS["live"])
@pytest.mark.parametrize("cassette", ["slow-lookup", "parcel-status"])
def test_the_right_parcel_service_under_faults(cassette: str, plan: tuple[str, ...]) -> None:
    assert blamed(cassette, plan) == []


@pytest.mark.parametrize("cassette", CASSETTES)
def test_the_cassettes_themselves(cassette: str) -> None:
    recorded = load(shipped.cassette(cassette))
    found = judge(Case.of_trace(recorded.trace, recorded.header), select=GROUPS)
    assert [f for f in found if f.severity == "error"] == []


def test_recordings_of_others(recordings: Path) -> None:
    """All of them were looked at: their clients do nothing that these rules are against."""
    files = [path for path in sorted(recordings.rglob("*")) if path.suffix in (".jsonl", ".yaml")]
    assert len(files) > 20
    for path in files:
        recorded = import_file(path)
        assert judge(Case.of_trace(recorded.trace, recorded.header), select=GROUPS) == [], path.name
