"""`simrt verify`: cassettes, importable files, folders; and what must not pass."""

import json
import shutil
from pathlib import Path

import pytest

from simrt.cassette.store import load, save
from simrt.cli.verify import Checked, check, total
from simrt.replay import fidelity
from simrt.shipped import cassette, folder

from .conftest import Run

LINES = [
    {"t_ms": 0.0, "dir": "s2c", "event": {"type": "session.created", "session": {"id": "sess_1"}}},
    {"t_ms": 5.0, "dir": "c2s", "event": {"type": "session.update", "session": {"instructions": "x"}}},
    {"t_ms": 9.0, "dir": "s2c", "event": {"type": "session.updated", "session": {"id": "sess_1"}}},
]


def recording(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def test_other_peoples_recordings_and_the_shipped_cassettes_come_back(run: Run, recordings: Path) -> None:
    result = run("verify", recordings, folder("cassettes"))
    assert result.exit_code == 0, result.output
    rows = result.stdout.splitlines()
    files = [path for path in recordings.rglob("*") if path.suffix in (".jsonl", ".yaml")]
    shipped = [path for path in folder("cassettes").iterdir() if path.is_dir()]
    assert len(rows) == len(files) + len(shipped) + 1
    assert all(row.startswith(("ok ", "whole ")) for row in rows[:-1])
    assert rows[-1].startswith(f"{len(rows) - 1} recordings, ")
    assert rows[-1].endswith(": all as recorded")


def test_a_recorded_cassette_by_name(run: Run) -> None:
    result = run("verify", "front-desk-short")
    assert result.exit_code == 0
    count = len(load(cassette("front-desk-short")).trace.sent_by("server"))
    assert f"{count} frames" in result.stdout
    assert f"1 recording, {count} server frames compared, largest timing error 0.000 ms" in result.stdout


def test_an_authored_cassette_is_checked_for_integrity(run: Run) -> None:
    result = run("verify", "front-desk-authored")
    assert result.exit_code == 0
    assert result.stdout.startswith("whole ")
    assert "1 checked for integrity only" in result.stdout


def test_folders_are_searched_and_other_files_left_alone(run: Run, tmp_path: Path) -> None:
    recording(tmp_path / "deep" / "down" / "call.jsonl")
    shutil.copytree(cassette("front-desk-authored"), tmp_path / "authored")
    for name in ("README.md", "LICENSE", "voice.pcm", "voice.wav", "deep/notes.txt"):
        (tmp_path / name).write_text("not a recording")
    result = run("verify", tmp_path)
    assert result.exit_code == 0, result.output
    assert [row.split()[0] for row in result.stdout.splitlines()] == ["whole", "ok", "2"]


def test_an_unreadable_recording_is_an_error_and_the_others_are_checked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"t_ms": 1, "dir":\n{}\n')
    (tmp_path / "b.yaml").write_text("something: else\n")
    recording(tmp_path / "c.jsonl")
    result = run("verify", tmp_path)
    assert result.exit_code == 1
    assert [row.split()[0] for row in result.stdout.splitlines()] == ["unreadable", "unreadable", "ok", "3"]
    assert result.stdout.rstrip().endswith("2 unreadable: NOT as recorded")
    assert [line[:7] for line in result.stderr.splitlines()] == ["simrt: "] * 2
    assert "a.jsonl, line 1" in result.stderr


def test_a_damaged_cassette_is_an_error(run: Run, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(cassette("no-done"), tmp_path / "copy"))
    file = copy / "cassette.jsonl"
    file.write_text(file.read_text().replace("Okafor", "Okafar"))
    result = run("verify", tmp_path)
    assert result.exit_code == 1
    assert "digest" in result.stderr


def test_an_unfinished_recording_is_not_passed_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "call.recording").mkdir()
    (tmp_path / "call.recording" / "journal.jsonl").write_text("{}\n")
    result = run("verify", tmp_path)
    assert result.exit_code == 1
    assert "simrt recover" in result.stderr


def test_a_recording_that_comes_back_otherwise_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = load(cassette("front-desk-short"))
    target = save(original, tmp_path / "copy")
    build = fidelity.make_session

    def late(*arguments: object) -> object:
        session = build(*arguments)  # type: ignore[arg-type]
        for frame in session.score.frames[-1:]:
            frame.delay_us += 5_000
        return session

    monkeypatch.setattr(fidelity, "make_session", late)
    checked = check(target)
    assert checked.status == "differs"
    assert checked.worst_us == 5_000
    result = run("verify", target)
    assert result.exit_code == 1
    assert "1 differ" in result.stdout


def test_nothing_to_verify_is_no_success(run: Run, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here")
    result = run("verify", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.startswith("simrt: nothing to verify in ")


def test_the_total_adds_up() -> None:
    results = [Checked("a", "ok", 10, 100), Checked("b", "whole"), Checked("c", "differs", 5, 2500)]
    assert total(results) == (
        "3 recordings, 15 server frames compared, largest timing error 2.500 ms, 1 checked for integrity only, "
        "1 differ: NOT as recorded"
    )
    assert (
        total(results[:1]) == "1 recording, 10 server frames compared, largest timing error 0.100 ms: all as recorded"
    )
