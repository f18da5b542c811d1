"""`simrt show` of a Live session."""

import json
import re
from pathlib import Path

from simrt.cassette.header import Header
from simrt.cassette.store import Cassette, save
from simrt.cli.show_rows import rows
from simrt.trace import Trace

from ..live_traces import LOUD, Sent, acked, append, created, heard, said, spoken, trace
from .conftest import Run

START: Sent = (0, "client", {"type": "session.start", "session": {"model": "gpt-live-1"}})
STARTED: Sent = (
    *(400, "server"),
    {
        "type": "session.started",
        "event_id": "e1",
        "session": {"id": "live_1", "model": "gpt-live-1", "status": "active"},
    },
)


def session() -> Trace:
    """1.2 s of audio both ways; the agent speaks from 0.5 s to 0.8 s; a delegation, answered too late."""
    track = [
        each
        for n in range(12)
        for each in (spoken(500 + 100 * n), heard(501 + 100 * n, LOUD if 5 <= n < 8 else bytes(4800)))
    ]
    return trace(
        *(START, STARTED),
        *track,
        said(1801, "Okay,", 500, 700),
        said(1802, " one moment.", 700, 800),
        said(1803, "Well", 2000, 2200),
        created(1804, "item_1", 900),
        append(1810, "thinking", "Checking.", "item_1"),
        acked(2611, "thinking", 1000),
        append(2700, "commentary", "It arrives tomorrow.", "item_1"),
    )


def saved(folder: Path) -> Path:
    return save(Cassette(Header(dialect="live"), session()), folder / "small")


def test_silence_and_speech_have_rows_of_their_own() -> None:
    found = [
        (row.kind.rpartition(".")[2], row.count, row.audio_us, row.quiet)
        for row in rows(session(), "live")
        if row.audio_us is not None
    ]
    assert found == [
        ("append", 12, 1_200_000, True),
        ("delta", 5, 500_000, True),
        ("delta", 3, 300_000, False),
        ("delta", 4, 400_000, True),
    ]


def test_lines_say_so() -> None:
    lines = [re.sub(" +", " ", row.line().strip()) for row in rows(session(), "live")]
    assert "1.001 server session.output_audio.delta ×3 300 ms of audio until 1.201" in lines
    assert "1.301 server session.output_audio.delta ×4 400 ms of silence until 1.601" in lines
    assert "1.801 server session.output_transcript.delta ×2 at 500–800 ms until 1.802 Okay, one moment." in lines


def test_utterances_have_their_place() -> None:
    found = [(row.what, row.span) for row in rows(session(), "live") if "transcript" in row.kind]
    assert found == [("Okay, one moment.", (500, 800)), ("Well", (2000, 2200))]
    assert [row.span for row in rows(session(), "live", every=True) if "transcript" in row.kind] == [
        (500, 700),
        (700, 800),
        (2000, 2200),
    ]


def test_other_protocols_fold_as_they_did() -> None:
    assert not any(row.quiet for row in rows(session(), "generic"))


def test_delegations_are_listed(run: Run, tmp_path: Path) -> None:
    text = run("show", saved(tmp_path)).stdout
    assert text.rpartition("\ndelegations\n")[2].splitlines() == [
        "  1         at 900 ms    answer not placed",
        "      1.810 thinking     placed at 1000–1200 ms, 801 ms later  Checking.",
        "      2.700 commentary   never placed  It arrives tomorrow.",
    ]


def test_and_in_json(run: Run, tmp_path: Path) -> None:
    shown = json.loads(run("show", saved(tmp_path), "--json").stdout)
    assert shown["delegations"] == [
        {
            "id": "item_1",
            "offset_ms": 900,
            "outcome": "answer not placed",
            "appends": [
                {
                    **{"kind": "thinking", "content": "Checking.", "sent_ms": 1810.0},
                    **{"placed_ms": [1000, 1200], "acked_ms": 2611.0, "error": None},
                },
                {
                    **{"kind": "commentary", "content": "It arrives tomorrow.", "sent_ms": 2700.0},
                    **{"placed_ms": None, "acked_ms": None, "error": None},
                },
            ],
        }
    ]
