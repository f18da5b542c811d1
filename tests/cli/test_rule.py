"""`simrt rule`: the list, and what it says of one."""

import json

from simrt.checks import all_rules

from .conftest import Run, message


def test_all_rules_are_listed_by_group(run: Run) -> None:
    result = run("rule")
    assert result.exit_code == 0
    for known in all_rules():
        assert f"{known.code}  {known.name}" in result.stdout
    assert result.stdout.index("CLR101") < result.stdout.index("AGT201") < result.stdout.index("PRO301")


def test_a_rule_is_explained_by_code_or_name(run: Run) -> None:
    result = run("rule", "AGT201")
    assert result.stdout.startswith("AGT201 goodbye-not-heard\n")
    assert "To mend:" in result.stdout
    assert run("rule", "goodbye-not-heard").stdout == result.stdout


def test_json(run: Run) -> None:
    told = json.loads(run("rule", "--json").stdout)
    assert [one["code"] for one in told] == [known.code for known in all_rules()]
    one = json.loads(run("rule", "clr101", "--json").stdout)
    assert (one["code"], one["harm"]) == ("CLR101", "legal")


def test_a_rule_that_is_not_there(run: Run) -> None:
    assert "did you mean goodbye-not-heard?" in message(run("rule", "goodby-not-heard"))
