"""`simrt show`: what is on a cassette."""

import base64
import json
from pathlib import Path

from simrt.cassette.header import Header, Word
from simrt.cassette.store import Cassette, save
from simrt.cli.show_rows import rows
from simrt.trace import Closing, Frame, Mark, Opening, Trace

from .conftest import Run


def append(ms: int) -> str:
    return json.dumps({"type": "input_audio_buffer.append", "audio": base64.b64encode(b"\1\0" * 24 * ms).decode()})


def delta(text: str) -> str:
    return json.dumps({"type": "response.output_audio_transcript.delta", "delta": text, "item_id": "item_abc"})


TRACE = Trace(
    Opening("wss://host/v1/realtime?model=m", [("User-Agent", "x")], ["realtime"], "realtime"),
    [
        Frame(0, "server", '{"type":"session.created","session":{"id":"sess_1"}}'),
        Frame(10_000, "client", append(20)),
        Frame(11_000, "server", delta("Good ")),
        Frame(30_000, "client", append(20)),
        Frame(31_000, "server", delta("day")),
        Frame(40_000, "server", '{"type":"response.done","response":{"id":"resp_9","status":"completed"}}'),
        Frame(50_000, "client", append(20)),
        Frame(60_000, "client", b"\0\1\2"),
        Frame(70_000, "server", "no json\nat all", synthetic=True),
    ],
    Closing(80_000, 1000, "bye", "client"),
    [Mark(35_000, "fault", {"fault": "stall"})],
)


def small(folder: Path) -> Path:
    header = Header(created="2026-01-01T00:00:00Z", origin="wss://host", redacted=["header:authorization"])
    header.notes, header.words = ["a note"], {"caller": [Word("Hi", 0, 10)]}
    return save(Cassette(header, TRACE), folder / "small")


def test_audio_and_deltas_that_nothing_interrupts_share_a_row() -> None:
    shown = [(row.t_us, row.kind, row.count, row.audio_us) for row in rows(TRACE, "realtime")]
    assert shown == [
        (0, "session.created", 1, None),
        (10_000, "input_audio_buffer.append", 2, 40_000),
        (11_000, "response.output_audio_transcript.delta", 2, None),
        (40_000, "response.done", 1, None),
        (50_000, "input_audio_buffer.append", 1, 20_000),
        (60_000, "binary", 1, None),
        (70_000, "text (synthetic)", 1, None),
    ]
    assert rows(TRACE, "realtime")[2].what == "Good day"


def test_all_gives_every_frame_its_row() -> None:
    assert [row.t_us for row in rows(TRACE, "realtime", every=True)] == [frame.t_us for frame in TRACE.frames]


def test_ids_are_shown_by_role_and_audio_by_length() -> None:
    lines = [row.line() for row in rows(TRACE, "realtime")]
    assert "resp-1" in lines[3]
    assert "resp_9" not in lines[3]
    assert lines[1].endswith("40 ms of audio until 0.030")
    assert lines[5].endswith("3 bytes")
    assert lines[6].endswith("no json at all")


def test_columns_are_fixed() -> None:
    lines = [row.line() for row in rows(TRACE, "realtime")]
    assert {line.index(row.kind) for line, row in zip(lines, rows(TRACE, "realtime"), strict=True)} == {19}


def test_everything_on_the_cassette_is_shown(run: Run, tmp_path: Path) -> None:
    text = run("show", small(tmp_path)).stdout
    lines = text.splitlines()
    for expected in (
        "made      live, 2026-01-01T00:00:00Z",
        "protocol  realtime, openai",
        "redacted  header:authorization",
        "note      a note",
        "opening   wss://host/v1/realtime?model=m -> 101",
        "  > User-Agent: x",
        "  < subprotocol: realtime",
        "    0.035  mark    fault {'fault': 'stall'}",
        "    0.080  client  closes 1000 bye",
    ):
        assert expected in lines
    assert text.index("0.031") < text.index("mark    fault") < text.index("response.done")


def test_json_has_audio_by_length_unless_all_is_asked_for(run: Run, tmp_path: Path) -> None:
    folder = small(tmp_path)
    told = json.loads(run("show", folder, "--json").stdout)
    assert told["header"]["origin"] == "wss://host"
    assert told["closing"]["code"] == 1000
    assert len(told["frames"]) == len(TRACE.frames)
    assert told["frames"][1] == {
        "t_ms": 10.0,
        "from": "client",
        "event": {"type": "input_audio_buffer.append"},
        "audio_ms": 20.0,
    }
    whole = json.loads(run("show", folder, "--json", "--all").stdout)
    assert whole["frames"][1]["event"] == json.loads(append(20))


def test_turns_and_replies_of_a_call(run: Run) -> None:
    text = run("show", "front-desk-short").stdout
    turns = text[text.index("\ncaller turns") :]
    assert "Hi, yes, I'm calling about my booking" in turns
    assert "3000 ms  You're all set for Friday. Thank you for calling, and goodbye." in turns
    told = json.loads(run("show", "front-desk-short", "--json").stdout)
    assert [reply["audio_ms"] for reply in told["replies"]] == [8755.0, 3000.0]
    assert len(text.splitlines()) < 200
    assert len(run("show", "front-desk-short", "--all").stdout.splitlines()) > 1000


def test_an_authored_cassette_shows_its_script(run: Run) -> None:
    text = run("show", "front-desk-authored").stdout
    assert "pacing    created_ms 60, ready_ms 200" in text
    assert "  caller  pickup+0ms" in text
    assert "calls end_call(goodbye, reason, speaks goodbye, expects no output)" in text
    told = json.loads(run("show", "front-desk-authored", "--json").stdout)
    assert [step["step"] for step in told["script"]["steps"]] == ["turn", "reply", "reply", "turn", "reply"]
