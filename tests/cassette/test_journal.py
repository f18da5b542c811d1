import fcntl
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from simrt.cassette.header import Header
from simrt.cassette.journal import Journal, journal_folder, recover
from simrt.cassette.redact import REDACTED, Redactor
from simrt.cassette.store import load
from simrt.errors import CassetteError, SimrtError
from simrt.trace import Closing, Frame, Mark, Opening

from .builders import append, delta, pcm, small_call

END = Closing(70_000, 1000, "done", "client")
KEY = "q7Zx-93hdk_Lw0"


def start(folder: Path, **options: object) -> Journal:
    header = Header(origin="wss://example.org/realtime", opening=small_call().trace.opening)
    return Journal(folder, header, redactor=Redactor(environ={}), **options)  # type: ignore[arg-type]


def feed(journal: Journal) -> list[Frame]:
    frames = small_call().trace.frames
    for frame in frames:
        journal.frame(frame.t_us, frame.sender, frame.payload)
    return frames


def leave(journal: Journal) -> Path:
    """As when the process dies: nothing is finished. Returns the journal's file."""
    assert journal._fd is not None
    os.close(journal._fd)
    return journal_folder(journal.folder) / "journal.jsonl"


def test_a_finished_recording_is_a_cassette(tmp_path: Path) -> None:
    journal = start(tmp_path / "call")
    frames = feed(journal)
    journal.mark(Mark(60_000, "note", {"a": 1}))
    assert not (tmp_path / "call").exists()
    assert journal.finish(END) == tmp_path / "call"
    cassette = load(tmp_path / "call")
    assert cassette.trace.frames == frames
    assert cassette.trace.marks == [Mark(60_000, "note", {"a": 1})]
    assert cassette.trace.closing == END
    assert cassette.trace.opening == small_call().trace.opening
    assert cassette.header.notes == []
    assert [p.name for p in tmp_path.iterdir()] == ["call"]


def test_each_frame_is_with_the_system_before_the_call_returns(tmp_path: Path) -> None:
    journal = start(tmp_path / "call")
    file = journal_folder(tmp_path / "call") / "journal.jsonl"
    for i, frame in enumerate(small_call().trace.frames, start=2):
        journal.frame(frame.t_us, frame.sender, frame.payload)
        assert file.read_bytes().count(b"\n") == i


WRITER = """
import sys
from pathlib import Path
from simrt.cassette.header import Header
from simrt.cassette.journal import Journal
from simrt.cassette.redact import Redactor
journal = Journal(Path(sys.argv[1]), Header(), redactor=Redactor())
i = 0
while True:
    journal.frame(i * 1000, "server", '{"type":"x","i":%d,"fill":"%s"}' % (i, "f" * (i % 4000)))
    sys.stdout.write(f"{i}\\n")
    sys.stdout.flush()
    i += 1
"""


def test_a_killed_recorder_loses_no_frame_that_it_forwarded(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "call")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(300):
        process.stdout.readline()
    process.kill()
    forwarded = 300 + len(process.stdout.read().splitlines())
    process.wait()
    cassette = load(recover(tmp_path / "call"))
    recovered = [frame.event()["i"] for frame in cassette.trace.frames]  # type: ignore[index]
    assert recovered == list(range(len(recovered)))
    assert len(recovered) >= forwarded - 1  # the last number that was read may have been torn itself
    assert cassette.trace.closing == Closing(cassette.trace.frames[-1].t_us, 1006, "", "network")


def test_wherever_the_journal_is_cut_every_whole_line_is_recovered(tmp_path: Path) -> None:
    frames = feed(journal := start(tmp_path / "call"))
    file = leave(journal)
    raw = file.read_bytes()
    header = raw.index(b"\n") + 1
    for cut in range(header, len(raw), 97):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(raw[:cut])
        out = recover(tmp_path / "call", tmp_path / f"out-{cut}")
        cassette = load(out)
        whole = raw[:cut].count(b"\n") - 1
        assert cassette.trace.frames == frames[:whole]
        assert cassette.header.notes[0] == "recovered from an unfinished recording"
        torn = raw[cut - 1 : cut] != b"\n"
        assert ("1 torn line was left out" in cassette.header.notes) == torn


def test_a_journal_with_nothing_but_its_header(tmp_path: Path) -> None:
    leave(start(tmp_path / "call"))
    cassette = load(recover(tmp_path / "call.recording"))
    assert cassette.trace.frames == []
    assert cassette.trace.closing == Closing(0)
    assert not (tmp_path / "call.recording").exists()


@pytest.mark.parametrize("size", [0, 10])
def test_a_journal_whose_header_is_torn(size: int, tmp_path: Path) -> None:
    file = leave(start(tmp_path / "call"))
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(CassetteError, match=r"line 1: the header is not whole, so no frame was recorded"):
        recover(tmp_path / "call")
    assert file.exists()


def test_a_torn_line_in_the_middle_costs_only_itself(tmp_path: Path) -> None:
    frames = feed(journal := start(tmp_path / "call"))
    file = leave(journal)
    lines = file.read_bytes().split(b"\n")
    lines[2] = lines[2][:30]
    file.write_bytes(b"\n".join(lines))
    assert load(recover(tmp_path / "call")).trace.frames == [frames[0], *frames[2:]]


def test_a_recording_that_ended_but_was_not_compiled(tmp_path: Path) -> None:
    journal = start(tmp_path / "call")
    frames = feed(journal)
    (tmp_path / "call").mkdir()
    with pytest.raises(CassetteError, match="exists already"):
        journal.finish(END)
    leave(journal)
    cassette = load(recover(tmp_path / "call", tmp_path / "other"))
    assert (cassette.trace.frames, cassette.trace.closing) == (frames, END)


def test_recover_needs_a_journal(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="no unfinished recording"):
        recover(tmp_path / "call")


def test_recover_keeps_its_hands_off_a_running_recording(tmp_path: Path) -> None:
    journal = start(tmp_path / "call")
    with pytest.raises(CassetteError, match="still being recorded"):
        recover(tmp_path / "call")
    feed(journal)
    journal.finish(END)


def test_a_newer_journal(tmp_path: Path) -> None:
    file = leave(start(tmp_path / "call"))
    file.write_bytes(file.read_bytes().replace(b'{"journal":1', b'{"journal":2'))
    with pytest.raises(CassetteError, match="newer simrt"):
        recover(tmp_path / "call")


def test_an_unfinished_recording_is_not_overwritten(tmp_path: Path) -> None:
    leave(start(tmp_path / "call"))
    with pytest.raises(CassetteError, match="unfinished recording of that name"):
        start(tmp_path / "call")


def test_a_cassette_is_not_overwritten_unasked(tmp_path: Path) -> None:
    start(tmp_path / "call").finish(END)
    with pytest.raises(CassetteError, match="exists already"):
        start(tmp_path / "call")
    journal = start(tmp_path / "call", overwrite=True)
    frames = feed(journal)
    journal.finish(END)
    assert load(tmp_path / "call").trace.frames == frames


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CassetteError, match="cannot be made"):
        start(tmp_path / "file" / "call")


def test_an_unknown_dialect_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SimrtError, match="klingon"):
        Journal(tmp_path / "call", Header(dialect="klingon"), redactor=Redactor(environ={}))
    assert list(tmp_path.iterdir()) == []


def test_abandon_leaves_nothing(tmp_path: Path) -> None:
    journal = start(tmp_path / "call")
    feed(journal)
    journal.abandon()
    journal.abandon()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CassetteError, match="has ended already"):
        journal.frame(0, "client", "{}")


def test_times_that_go_backwards_are_raised(tmp_path: Path) -> None:
    journal = start(tmp_path / "call")
    journal.frame(5000, "client", "a")
    journal.frame(4000, "server", "b")
    cassette = load(journal.finish(Closing(1)))
    assert [frame.t_us for frame in cassette.trace.frames] == [5000, 5000]
    assert cassette.trace.closing == Closing(5000)
    assert cassette.header.notes == ["1 times that went backwards were raised to the time before them"]


def test_a_full_disk_is_an_error_and_the_rest_is_recovered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write comes through in part, then fails; later there is room again."""
    journal = start(tmp_path / "call")
    journal.frame(0, "client", "first")
    real, room = os.write, [20, 0]

    def write(fd: int, data: bytes) -> int:
        if not room:
            return real(fd, data)
        if (size := room.pop(0)) == 0:
            raise OSError(28, "No space left on device")
        return real(fd, data[:size])

    with monkeypatch.context() as patch:
        patch.setattr("simrt.cassette.journal.os.write", write)
        with pytest.raises(CassetteError, match="No space left on device"):
            journal.frame(1, "client", "second")
    journal.frame(2, "client", "third")
    cassette = load(journal.finish(END))
    assert [frame.payload for frame in cassette.trace.frames] == ["first", "third"]
    assert cassette.header.notes == ["1 torn line was left out"]


# --- secrets


def test_no_secret_reaches_the_journal_or_the_cassette(tmp_path: Path) -> None:
    header = Header(
        origin=f"wss://u:{KEY}a@h/realtime?api-key={KEY}b",
        opening=Opening(url=f"wss://h/?token={KEY}c", headers=[("Authorization", f"Bearer {KEY}")]),
    )
    journal = Journal(tmp_path / "call", header, redactor=Redactor(environ={}))
    journal.frame(0, "server", json.dumps({"client_secret": {"value": KEY + "d"}}))
    journal.frame(1, "server", f"echo {KEY} {KEY}d")
    journal.mark(Mark(2, "note", {"url": f"wss://h/?token={KEY}c"}))
    written = (journal_folder(tmp_path / "call") / "journal.jsonl").read_text()
    journal.finish(Closing(3, 4001, f"bad key {KEY}"))
    assert KEY not in written
    assert KEY not in (tmp_path / "call" / "cassette.jsonl").read_text()
    cassette = load(tmp_path / "call")
    assert cassette.header.redacted == [
        "field:client_secret",
        "header:authorization",
        "query:api-key",
        "query:token",
        "url",
    ]
    assert cassette.trace.closing == Closing(3, 4001, f"bad key {REDACTED}")
    assert header.opening.headers == [("Authorization", f"Bearer {KEY}")]


def test_a_secret_that_shows_only_later_is_taken_out_at_the_end(tmp_path: Path) -> None:
    journal = start(tmp_path / "call")
    journal.frame(0, "server", json.dumps({"note": f"x {KEY}"}))
    journal.frame(1, "server", json.dumps({"client_secret": KEY}))
    cassette = load(journal.finish(END))
    assert cassette.trace.frames[0].event() == {"note": f"x {REDACTED}"}
    assert KEY not in (tmp_path / "call" / "cassette.jsonl").read_text()


def test_recovery_knows_what_was_redacted_and_looks_again(tmp_path: Path) -> None:
    journal = start(tmp_path / "call")
    journal.frame(0, "server", json.dumps({"api_key": "k", "note": KEY}))
    leave(journal)
    cassette = load(recover(tmp_path / "call", redactor=Redactor(environ={"X_KEY": KEY})))
    assert cassette.trace.frames[0].event() == {"api_key": REDACTED, "note": REDACTED}
    assert cassette.header.redacted == ["field:api_key", "late: env:X_KEY"]


# --- long calls


@pytest.mark.slow
def test_memory_is_flat_over_a_long_call(tmp_path: Path) -> None:
    """Ten minutes of both sides are some 57 MB of PCM; finishing them takes a few."""
    journal = start(tmp_path / "call")
    up, down = append(pcm(480)), delta(pcm(4800))
    tracemalloc.start()
    for i in range(30_000):
        journal.frame(i * 20_000, "client", up)
        if i % 10 == 0:
            journal.frame(i * 20_000, "server", down)
    journal.finish(Closing(600_000_000, 1000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_the_lock_goes_with_the_process(tmp_path: Path) -> None:
    file = leave(start(tmp_path / "call"))
    with file.open("r+") as again:
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
