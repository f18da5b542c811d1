"""Every recording that others made imports, is stored, and comes back JSON-equal, frame by frame."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from simrt.audio import PCM24
from simrt.cassette.importers import import_file
from simrt.cassette.store import Cassette, audio_track, load, save

FILES = {
    "gpt-live/delegation.jsonl": ("openai", "measured", "counts", "counts"),
    "hf-speech-to-speech/session1.jsonl": ("openai", "measured", "whole", "whole"),
    "pydantic-ai/openai-idle-timeout-timed.jsonl": ("openai", "measured", "none", "none"),
    "pydantic-ai/azure-voice-live/test_audio_in_server_vad_turn.yaml": (
        "azure-voice-live",
        "paced",
        "truncated",
        "truncated",
    ),
    "pydantic-ai/azure-voice-live/test_message_history_seeding.yaml": ("azure-voice-live", "paced", "none", "none"),
    "pydantic-ai/azure-voice-live/test_text_in_audio_out_turn.yaml": ("azure-voice-live", "paced", "none", "truncated"),
    "pydantic-ai/azure/test_audio_in_server_vad_transcribes.yaml": ("azure", "paced", "truncated", "truncated"),
    "pydantic-ai/azure/test_webrtc_sideband_text_turn.yaml": ("azure", "paced", "none", "none"),
    "pydantic-ai/openai/test_tool_call_round.yaml": ("openai", "paced", "none", "none"),
    "pydantic-ai/openai-full-caller-audio/test_audio_in_server_vad_turn.yaml": (
        "openai",
        "paced",
        "whole",
        "truncated",
    ),
}
THREE_TURNS = "pydantic-ai/openai-full-caller-audio/test_input_audio_retention_segments_three_server_vad_turns.yaml"


def source_events(file: Path) -> list[tuple[str, Any]]:
    """What the file says, read in another way than the importers do."""
    if file.suffix == ".yaml":
        rows = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return [
            ({"sent": "client", "received": "server"}[row["direction"]], row["data"])
            for row in rows["interactions"]
            if "data" in row
        ]
    sides = {"c2s": "client", "out": "client", "s2c": "server", "in": "server"}
    out = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "dir" not in row:
            continue
        side = sides[row["dir"]]
        event = row.get("event") or {key: value for key, value in row.items() if key not in ("at", "dir")}
        if "audioBytes" in event:
            key = "audio" if side == "client" else "delta"
            silence = base64.b64encode(bytes(event["audioBytes"])).decode()
            event = {
                key if name == "audioBytes" else name: silence if name == "audioBytes" else value
                for name, value in event.items()
            }
        out.append((side, event))
    return out


def files(recordings: Path) -> list[Path]:
    folders = ("hf-speech-to-speech", "pydantic-ai", "gpt-live")
    return sorted(p for name in folders for p in (recordings / name).rglob("*") if p.suffix in (".jsonl", ".yaml"))


def test_every_recording_comes_back_frame_by_frame(recordings: Path, tmp_path: Path) -> None:
    found = files(recordings)
    assert len(found) >= 20
    for i, file in enumerate(found):
        imported = import_file(file)
        loaded = load(save(imported, tmp_path / str(i)))
        assert loaded.trace == imported.trace, file
        events = [(frame.sender, frame.event()) for frame in loaded.trace.frames]
        wanted = source_events(file)
        assert events == wanted, file
        assert [json.dumps(event) for _, event in events] == [json.dumps(event) for _, event in wanted], "key order"
        assert bool(events) != bool(loaded.trace.marks), "HTTP exchanges become marks"


@pytest.mark.parametrize("name", FILES)
def test_the_header_says_what_it_is(name: str, recordings: Path) -> None:
    header = import_file(recordings / name).header
    assert (header.profile, header.timing, header.caller_audio, header.agent_audio) == FILES[name]
    assert (header.how, header.origin) == ("import", Path(name).name)
    assert any("times are not measured" in note for note in header.notes) == (
        header.timing == "paced" and "webrtc" not in name
    )


def test_measured_times_are_kept(recordings: Path) -> None:
    trace = import_file(recordings / "hf-speech-to-speech/session1.jsonl").trace
    assert (trace.frames[0].t_us, trace.frames[-1].t_us) == (12_400, 53_153_600)
    trace = import_file(recordings / "pydantic-ai/openai-idle-timeout-timed.jsonl").trace
    assert (trace.frames[1].t_us, trace.frames[-1].t_us) == (5_000, 7_239_000)
    trace = import_file(recordings / "gpt-live/delegation.jsonl").trace
    assert (trace.frames[0].t_us, trace.frames[-1].t_us) == (675_000, 30_969_000)


def test_whole_caller_audio_is_paced_as_it_sounds(recordings: Path) -> None:
    """Speech events come after the audio that they place was sent, and soon after it."""
    cassette = import_file(recordings / THREE_TURNS)
    ((format, data),) = audio_track(cassette, "client")
    assert (format, len(data)) == (PCM24, 1_078_272)
    sent_us, starts, ends = 0, [], []
    first = None
    for frame in cassette.trace.frames:
        event = frame.event()
        assert event is not None
        if event["type"] == "input_audio_buffer.append":
            first = frame.t_us if first is None else first
            sent_us += PCM24.duration_us(len(base64.b64decode(event["audio"])))
        for key, list_ in (("audio_start_ms", starts), ("audio_end_ms", ends)):
            if key in event:
                list_.append(event[key])
                assert event[key] * 1000 <= sent_us <= event[key] * 1000 + 500_000
    assert starts == [1460, 8948, 16436]
    assert ends == [4256, 11744, 19232]
    assert first is not None
    spoken_us = cassette.trace.frames[-1].t_us - first
    assert sent_us <= spoken_us <= sent_us * 1.05


def speech_file(recordings: Path) -> bytes:
    return (recordings / "speech/marcelo_24khz.pcm").read_bytes()


def test_the_caller_track_is_the_audio_that_was_sent(recordings: Path) -> None:
    cassette: Cassette = import_file(recordings / THREE_TURNS)
    ((_, data),) = audio_track(cassette, "client")
    assert speech_file(recordings)[24_000:120_000] in data
