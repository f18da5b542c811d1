import pytest

from clients.call import Call, DrainCall, NaiveCall
from simrt import run_call
from simrt.checks import Case, Finding, judge


def findings(client: type, cassette: str, *faults: str) -> list[Finding]:
    return judge(Case.of_result(run_call(client, cassette, faults)), select=["AGT201"])


@pytest.mark.parametrize(("faults", "lost_ms"), [((), 456), (("burst",), 3897)])
def test_a_fixed_sleep_cuts_the_goodbye(faults: tuple[str, ...], lost_ms: int) -> None:
    (found,) = findings(NaiveCall, "front-desk", *faults)
    assert (found.code, found.severity) == ("AGT201", "error")
    assert found.evidence["sent_ms"] - found.evidence["heard_ms"] == pytest.approx(lost_ms, abs=20)
    assert found.frame is not None


@pytest.mark.parametrize("cassette", ["front-desk", "front-desk-short", "talk-over", "no-done", "late-ready"])
def test_who_waits_for_the_speaker_is_not_to_blame(cassette: str) -> None:
    assert findings(Call, cassette) == []


def test_what_was_never_sent_is_not_in_this_rule() -> None:
    assert findings(DrainCall, "front-desk-short", "stall:reply=-1,at=1500ms,for=500ms") == []
