"""Property 1 on every recording at hand, and that the check can fail."""

from pathlib import Path

import msgspec
import pytest

from simrt import shipped
from simrt.cassette.importers import import_file
from simrt.cassette.store import Cassette, load, load_cached, save
from simrt.replay.fidelity import check_fidelity
from simrt.trace import Frame, Trace

RECORDED = ("front-desk", "front-desk-short", "talk-over", "late-ready", "no-done")


def files(recordings: Path) -> list[Path]:
    folders = ("hf-speech-to-speech", "pydantic-ai", "gpt-live")
    return sorted(p for name in folders for p in (recordings / name).rglob("*") if p.suffix in (".jsonl", ".yaml"))


def test_every_recording_comes_back(recordings: Path) -> None:
    found = files(recordings)
    assert len(found) >= 20
    for file in found:
        cassette = import_file(file)
        result = check_fidelity(cassette, file.name)
        assert result.difference == "", file
        assert result.frames == len(cassette.trace.sent_by("server")), file
        assert result.worst_us <= 1000, file
        assert result.ok, file


def test_a_recording_comes_back_from_the_cassette_too(recordings: Path, tmp_path: Path) -> None:
    cassette = load(save(import_file(recordings / "hf-speech-to-speech" / "session1.jsonl"), tmp_path / "c"))
    result = check_fidelity(cassette)
    assert result.ok, result.difference
    assert result.frames == len(cassette.trace.sent_by("server")) > 100


@pytest.mark.parametrize("name", RECORDED)
def test_every_shipped_cassette_comes_back(name: str) -> None:
    cassette = load_cached(shipped.cassette(name))
    result = check_fidelity(cassette, name)
    assert result.ok, result.difference
    assert result.frames == len(cassette.trace.sent_by("server")) > 100


def front_desk(frames: list[Frame] | None = None) -> Cassette:
    """A copy of a shipped cassette that is scored anew."""
    cassette = load_cached(shipped.cassette("front-desk"))
    trace = cassette.trace
    copy = Trace(trace.opening, list(trace.frames) if frames is None else frames, trace.closing)
    return Cassette(cassette.header, copy)


@pytest.fixture
def tampered(monkeypatch: pytest.MonkeyPatch) -> list[Frame]:
    """The frames that the check compares with, while the replay plays from the untouched ones."""
    whole = front_desk()
    from simrt.replay import fidelity
    from simrt.replay.build import build_score

    score = build_score(whole)
    monkeypatch.setattr(fidelity, "score_of", lambda cassette: score)
    return list(whole.trace.frames)


def server_frame(frames: list[Frame], kind: str) -> int:
    return next(
        k for k, frame in enumerate(frames) if frame.sender == "server" and f'"type":"{kind}"' in str(frame.payload)
    )


def test_untampered_frames_pass(tampered: list[Frame]) -> None:
    assert check_fidelity(front_desk(tampered)).ok


def test_a_changed_frame_is_found(tampered: list[Frame]) -> None:
    k = server_frame(tampered, "session.updated")
    payload = str(tampered[k].payload)
    assert '"voice"' in payload
    tampered[k] = msgspec.structs.replace(tampered[k], payload=payload.replace('"voice":"', '"voice":"x', 1))
    result = check_fidelity(front_desk(tampered), "tampered")
    assert not result.ok
    assert result.frames == 1
    assert "session.updated" in result.difference


def test_other_spacing_of_the_same_json_passes(tampered: list[Frame]) -> None:
    k = server_frame(tampered, "session.updated")
    tampered[k] = msgspec.structs.replace(tampered[k], payload=f" {tampered[k].payload} ")
    assert check_fidelity(front_desk(tampered)).ok


@pytest.mark.parametrize(("off_us", "ok"), [(1000, True), (1001, False), (-1001, False)])
def test_a_changed_time_is_found(tampered: list[Frame], off_us: int, ok: bool) -> None:
    k = server_frame(tampered, "response.done")
    tampered[k] = msgspec.structs.replace(tampered[k], t_us=tampered[k].t_us + off_us)
    result = check_fidelity(front_desk(tampered))
    assert result.worst_us == abs(off_us)
    assert result.ok is ok


def test_a_changed_order_is_found(tampered: list[Frame]) -> None:
    k = server_frame(tampered, "input_audio_buffer.committed")
    j = server_frame(tampered, "conversation.item.added")
    tampered[k], tampered[j] = tampered[j], tampered[k]
    assert "input_audio_buffer.committed" in check_fidelity(front_desk(tampered)).difference


def test_a_missing_frame_is_found(tampered: list[Frame]) -> None:
    count = sum(frame.sender == "server" for frame in tampered)
    last = max(k for k, frame in enumerate(tampered) if frame.sender == "server")
    del tampered[last]
    assert check_fidelity(front_desk(tampered)).difference == (
        f"{count - 1} server frames were recorded, {count} came back"
    )


def test_a_client_frame_that_is_not_sent_again_is_missed(tampered: list[Frame]) -> None:
    k = next(k for k, f in enumerate(tampered) if f.sender == "client" and "response.create" in str(f.payload))
    del tampered[k]
    assert not check_fidelity(front_desk(tampered)).ok
