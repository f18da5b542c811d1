"""`simrt lint`: recordings of all kinds, exit statuses, JSON, SARIF."""

import json
from pathlib import Path

import pytest

from clients.call import Call
from simrt import run_call
from simrt.cassette.header import Header
from simrt.cassette.store import Cassette, save
from simrt.cassette.writer import LINES
from simrt.cli.lint import limits_of, prefixes
from simrt.errors import SimrtError
from simrt.shipped import folder
from tests.checks.talk import Talk

from .conftest import Run


def asks_twice() -> Talk:
    """A client that cancels where nothing is active, a second after the response was over."""
    talk = Talk().ready().turn(500, 1500).created(1600).audio(1700, 300).done(2000)
    return talk.client(3000, "response.cancel").error(3020, "response_cancel_not_active").close(5000)


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return save(Cassette(Header(), asks_twice().trace()), tmp_path / "bad")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return save(Cassette(Header(), run_call(Call, "front-desk").trace), tmp_path / "good")


def test_a_finding_is_status_1_and_says_where(run: Run, bad: Path, good: Path) -> None:
    result = run("lint", bad.parent)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == str(bad)
    assert lines[1].startswith("  3.00 s  PRO303 cancel-of-nothing: ")
    assert lines[1].endswith("(frame 10)")
    assert lines[-1] == "1 finding in 2 recordings"
    assert run("lint", good).exit_code == 0


def test_the_shipped_cassettes_are_clean(run: Run) -> None:
    result = run("lint", folder("cassettes"))
    assert result.exit_code == 0, result.stdout
    assert "authored, not judged" in result.stdout


def test_other_peoples_recordings_are_judged(run: Run, recordings: Path) -> None:
    result = run("lint", recordings, "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == (1 if told["findings"] else 0)
    assert {one["status"] for one in told["recordings"]} == {"judged"}
    assert len(told["recordings"]) >= 20


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--select", "AGT,CLR"], 0),
        (["--select", "PRO303"], 1),
        (["--ignore", "PRO"], 0),
        (["--ignore", "PRO", "--select", "PRO303"], 1),
    ],
)
def test_rules_are_chosen(run: Run, bad: Path, options: list[str], status: int) -> None:
    assert run("lint", bad, *options).exit_code == status


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--select", "XYZ"], "no rule's code begins with 'XYZ'"),
        (["--limit", "hole=3s"], "there is no limit 'hole'"),
        (["--limit", "hold=soon"], "is no duration"),
    ],
)
def test_wrong_options_are_status_2(run: Run, bad: Path, options: list[str], said: str) -> None:
    result = run("lint", bad, *options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_what_cannot_be_read_is_status_2_and_the_rest_is_judged(run: Run, bad: Path) -> None:
    (bad.parent / "junk.jsonl").write_text("no recording\n")
    result = run("lint", bad.parent)
    assert result.exit_code == 2
    assert "PRO303" in result.stdout
    assert "1 unreadable" in result.stdout
    assert "junk.jsonl" in result.stderr


def test_nothing_to_lint_is_status_2(run: Run, tmp_path: Path) -> None:
    assert "nothing to lint" in run("lint", tmp_path).stderr
    assert run("lint", tmp_path / "nowhere").exit_code == 2


def test_json_is_all_that_is_printed(run: Run, bad: Path) -> None:
    result = run("lint", bad, "--json")
    told = json.loads(result.stdout)
    assert (told["findings"], told["notes"]) == (1, 0)
    (one,) = told["recordings"]
    (finding,) = one["findings"]
    assert (one["path"], one["status"]) == (str(bad), "judged")
    assert (finding["code"], finding["t_ms"], finding["frame"], finding["severity"]) == ("PRO303", 3000.0, 10, "error")


def test_sarif_points_to_the_line(run: Run, bad: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.sarif"
    result = run("lint", bad, "--sarif", file)
    assert result.exit_code == 1
    assert "PRO303" in result.stdout
    log = json.loads(file.read_text())
    assert log["version"] == "2.1.0"
    (made,) = log["runs"]
    rules = made["tool"]["driver"]["rules"]
    (found,) = made["results"]
    assert rules[found["ruleIndex"]]["id"] == found["ruleId"] == "PRO303"
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == (bad / LINES).as_posix()
    line = (bad / LINES).read_text().splitlines()[place["region"]["startLine"] - 1]
    assert '"response.cancel"' in line


def test_sarif_may_go_to_standard_output(run: Run, bad: Path) -> None:
    log = json.loads(run("lint", bad, "--sarif", "-").stdout)
    assert [found["ruleId"] for found in log["runs"][0]["results"]] == ["PRO303"]


def test_limits_are_given_by_name() -> None:
    assert (limits_of(["hold=3s"]).hold_ms, limits_of(["hold_ms=300ms"]).hold_ms) == (3000, 300)
    with pytest.raises(SimrtError, match="there are: hold"):
        limits_of(["nonesuch=1s"])


def test_codes_may_stand_behind_commas() -> None:
    assert prefixes(["AGT, CLR101", "PRO"]) == ["AGT", "CLR101", "PRO"]
    assert prefixes(None) == []
