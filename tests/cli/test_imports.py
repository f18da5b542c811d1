"""`simrt import` and `simrt recover`."""

from pathlib import Path

import pytest

from simrt.cassette.header import Header
from simrt.cassette.journal import Journal
from simrt.cassette.redact import Redactor
from simrt.cassette.store import load
from simrt.trace import Closing

from .conftest import Run, message
from .test_verify import recording


def test_import_writes_a_cassette_and_says_what_is_on_it(run: Run, tmp_path: Path) -> None:
    file = recording(tmp_path / "call.jsonl")
    result = run("import", file, "--out", tmp_path / "made")
    assert result.exit_code == 0, result.output
    assert f"{tmp_path / 'made'}: 0.0 s, 1 client and 2 server frames" in result.stdout
    assert "does not say how the connection ended" in result.stdout
    assert load(tmp_path / "made").header.origin == "call.jsonl"
    assert run("verify", tmp_path / "made").exit_code == 0


def test_import_overwrites_only_when_asked(run: Run, tmp_path: Path) -> None:
    file = recording(tmp_path / "call.jsonl")
    assert run("import", file, "--out", tmp_path / "made").exit_code == 0
    assert "exists already" in message(run("import", file, "--out", tmp_path / "made"))
    assert run("import", file, "--out", tmp_path / "made", "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read"),
        ("", "is empty"),
        ("hello\n", "is no recording that can be imported"),
        ('{"t_ms": 0, "dir": "s2c", "event": {}}\n{"t_ms": oh}\n{}\n', "line 2"),
    ],
)
def test_import_of_what_is_no_recording(run: Run, tmp_path: Path, content: str | None, told: str) -> None:
    if content is not None:
        (tmp_path / "x.jsonl").write_text(content)
    assert told in message(run("import", tmp_path / "x.jsonl", "--out", tmp_path / "made"))
    assert not (tmp_path / "made").exists()


def unfinished(folder: Path) -> Path:
    """A recording that was killed in the middle of a line."""
    journal = Journal(folder, Header(), redactor=Redactor(environ={}))
    journal.frame(1000, "server", '{"type":"session.created"}')
    journal.frame(2000, "client", "hello")
    place = folder.with_name(folder.name + ".recording")
    content = (place / "journal.jsonl").read_bytes()
    journal.abandon()
    place.mkdir()
    (place / "journal.jsonl").write_bytes(content + b'{"t_us": 3000, "fr')
    return place


def test_recover_makes_a_cassette_of_what_there_is(run: Run, tmp_path: Path) -> None:
    place = unfinished(tmp_path / "call")
    result = run("recover", place)
    assert result.exit_code == 0, result.output
    assert "1 client and 1 server frames" in result.stdout
    assert "1 torn line was left out" in result.stdout
    assert [frame.payload for frame in load(tmp_path / "call").trace.frames] == ['{"type":"session.created"}', "hello"]
    assert not place.exists()


def test_recover_to_another_place(run: Run, tmp_path: Path) -> None:
    unfinished(tmp_path / "call")
    assert run("recover", tmp_path / "call", "--out", tmp_path / "other").exit_code == 0
    assert load(tmp_path / "other").trace.closing == Closing(2000)


def test_recover_where_there_is_nothing(run: Run, tmp_path: Path) -> None:
    assert "there is no unfinished recording" in message(run("recover", tmp_path / "call"))


def test_a_journal_without_a_whole_header_is_told(run: Run, tmp_path: Path) -> None:
    place = unfinished(tmp_path / "call")
    (place / "journal.jsonl").write_text('{"journal": 1, "hea')
    assert "the header is not whole" in message(run("recover", place))
    assert place.exists()
