from clients.call import Call
from simrt import run_call
from simrt.checks import Case, judge

from .calling import findings
from .small import Event, Small


class Forgetful(Small):
    """Loses every fifth piece of the agent's audio."""

    pieces = 0

    def play(self, event: Event) -> None:
        self.pieces += 1
        if self.pieces % 5:
            super().play(event)


class Deduplicating(Small):
    """Plays no event twice."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.played: set[str] = set()

    def play(self, event: Event) -> None:
        if event["event_id"] not in self.played:
            self.played.add(event["event_id"])
            super().play(event)


def test_pieces_that_get_lost_are_told_for_each_reply() -> None:
    found = findings("AGT202", Forgetful, "front-desk")
    assert len(found) == 2
    for one in found:
        lost_ms = one.evidence["sent_ms"] - one.evidence["heard_ms"]
        assert 0.1 < lost_ms / one.evidence["sent_ms"] < 0.3
    assert findings("AGT201", Forgetful, "front-desk") == []


def test_who_plays_everything_is_not_to_blame() -> None:
    for faults in ([], ["burst"], ["stall"], ["clog:reply=0,at=1s"], ["rechunk"]):
        assert findings("AGT202", Small, "front-desk", *faults) == []


def test_what_the_caller_talks_over_need_not_be_heard() -> None:
    barge_in = "barge-in:reply=0,at=1500ms,answer=breakfast"
    assert findings("AGT202", Small, "front-desk", barge_in) == []
    assert findings("AGT202", Small, "front-desk", "burst:reply=0", barge_in) == []


def test_what_comes_twice_need_not_be_heard_twice() -> None:
    faults = ("duplicate:event=response.output_audio.delta,nth=3",)
    assert findings("AGT202", Deduplicating, "front-desk", *faults) == []
    assert findings("AGT202", Small, "front-desk", *faults) == []


def test_what_breaks_off_with_the_connection_need_not_be_heard() -> None:
    assert findings("AGT202", Small, "front-desk", "close:reply=0,at=2s") == []


def test_a_limit_decides_what_is_missed() -> None:
    case = Case.of_result(run_call(Forgetful, "front-desk"))
    assert judge(case, select=["AGT202"])
    limits = type(case.limits)(unheard_ms=3000)
    assert judge(case, select=["AGT202"], limits=limits) == []


def test_a_sound_alike_after_a_barge_in_proves_nothing() -> None:
    late = "late-audio:reply=-2,at=20ms"  # the answer begins as the piece that came too late
    assert findings("AGT202", Call, "front-desk", late) == []
