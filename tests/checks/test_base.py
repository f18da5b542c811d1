import pytest

from simrt.checks import Case, Finding, Limits, all_rules, chosen, find_rule, found, judge
from simrt.checks.base import GROUPS
from simrt.errors import SimrtError
from simrt.trace import Trace

from .talk import Talk


def test_every_rule_is_explained() -> None:
    assert all_rules()
    for known in all_rules():
        assert known.code[:3] in GROUPS
        assert known.code[3:].isdigit()
        assert known.name == known.name.lower()
        assert known.summary
        assert not known.summary.endswith(".")
        assert len(known.explanation) > 300, f"{known.code} explains little"
        assert "To mend:" in known.explanation, f"{known.code} does not say how to mend it"
    assert len({known.name for known in all_rules()}) == len(all_rules())


def test_rules_are_found_by_code_and_name() -> None:
    assert find_rule("agt201") is find_rule("goodbye-not-heard")
    with pytest.raises(SimrtError, match="did you mean goodbye-not-heard"):
        find_rule("goodby-not-heard")


def test_the_longer_prefix_counts() -> None:
    codes = {known.code for known in all_rules()}
    assert {known.code for known in chosen()} == codes
    assert {known.code for known in chosen(["AGT"])} == {code for code in codes if code.startswith("AGT")}
    assert {known.code for known in chosen(["agt201"], ["AGT"])} == {"AGT201"}
    assert {known.code for known in chosen(["AGT"], ["AGT201"])} == {
        code for code in codes if code.startswith("AGT") and code != "AGT201"
    }
    assert not chosen(["AGT201"], ["AGT201"])


@pytest.mark.parametrize("prefix", ["XYZ", "AGT9", ""])
def test_a_prefix_that_no_rule_has_is_an_error(prefix: str) -> None:
    with pytest.raises(SimrtError, match="no rule's code begins with"):
        judge(Case.of_trace(Trace()), select=[prefix])


def test_a_finding_says_where() -> None:
    event = Talk().ready(100).case().events[2]
    one = found(event, "what", item_id="i")
    assert (one.t_ms, one.connection, one.frame, one.evidence) == (100.0, 0, 2, {"item_id": "i"})
    two = found(1_500_000, "what", event=event, severity="note")
    assert (two.t_ms, two.frame, two.severity) == (1500.0, 2, "note")
    assert str(Finding("AGT201", "n", 1500, "what", 0, 7)) == "1.50 s  AGT201 n: what (frame 7)"


def test_nothing_is_found_in_nothing() -> None:
    assert judge(Case.of_trace(Trace())) == []


def test_limits_may_be_given() -> None:
    case = Case.of_trace(Trace())
    judge(case, limits=Limits(hold_ms=1))
    assert case.limits.hold_ms == 1
