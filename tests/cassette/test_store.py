import base64
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat
from simrt.cassette.header import Header
from simrt.cassette.script import Pacing, Reply, Script, Tool, Turn, Word
from simrt.cassette.store import Cassette, audio_track, load, load_cached, reseal, save, verify_integrity
from simrt.errors import CassetteError
from simrt.trace import Closing, Frame, Trace

from .builders import append, cassette_of, delta, pcm, session, small_call

ULAW = {"type": "audio/pcmu"}


def lines_of(folder: Path) -> list[str]:
    return (folder / "cassette.jsonl").read_text(encoding="utf-8").splitlines()


def rewrite(folder: Path, change: object) -> None:
    """Edit the cassette's lines with a function from lines to lines."""
    lines = change(lines_of(folder))  # type: ignore[operator]
    (folder / "cassette.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save(small_call(), tmp_path / "call")


# --- what is kept


def test_everything_comes_back(folder: Path) -> None:
    before, after = small_call(), load(folder)
    assert after.trace == before.trace
    assert after.trace.sha256() == before.trace.sha256()
    assert after.path == folder


def test_a_frame_line_can_be_read_by_a_person(folder: Path) -> None:
    lines = lines_of(folder)
    assert lines[1] == '{"t_us":0,"from":"server","event":{"type":"session.created","session":{"id":"sess_1"}}}'
    assert json.loads(lines[2]) == {
        "t_us": 1000,
        "from": "client",
        "event": {"type": "input_audio_buffer.append", "audio": {"$audio": ["caller.flac", 0, 480]}},
    }
    assert json.loads(lines[-1]) == {"t_us": 90000, "closed": {"code": 1000, "reason": "bye", "by": "client"}}


def test_audio_can_be_listened_to(folder: Path) -> None:
    samples, rate = soundfile.read(folder / "caller.flac", dtype="int16")
    assert rate == 24000
    assert samples.tobytes() == pcm(480, 1) + pcm(480, 3)


def test_saving_again_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = save(load(folder), tmp_path / "again")
    assert sorted(p.name for p in again.iterdir()) == ["agent.flac", "caller.flac", "cassette.jsonl"]
    for file in again.iterdir():
        assert file.read_bytes() == (folder / file.name).read_bytes()


def test_an_end_that_nobody_saw_stays_unknown(tmp_path: Path) -> None:
    folder = save(cassette_of(("client", "{}"), closing=None), tmp_path / "call")
    assert load(folder).trace.closing is None


def test_synthetic_frames_stay_marked(tmp_path: Path) -> None:
    frame = Frame(0, "server", '{"type":"error"}', synthetic=True)
    folder = save(Cassette(Header(), Trace(frames=[frame])), tmp_path / "call")
    assert load(folder).trace.frames == [frame]


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "x", "a": 1.0, "b": 1, "c": 1e5, "d": -0.0, "e": 0.10000000000000000555}',
        '{"big": 123456789012345678901234567890, "n": NaN}',
        '{"a": 1, "a": 2}',
        '{"a": "\\u00e9 \\/ \\ud83d\\ude00 \\ud800"}',
        '{\n  "type": "x"\n}',
        ' {"type":"x"} ',
        '{"type":"x"',
        "[1, 2]",
        '"text"',
        "",
        "line\nline\r\n\u2028\u0085",
        '{"type":"input_audio_buffer.append","audio":{"$audio":["caller.flac",0,480]}}',
        '{"deep":[{"$audio":["../x.flac",0,1]}],"type":"x"}',
        '{"\\u0024audio":1,"x":{"$audio":5}}',
        '{"text":"say \\"$audio\\" twice"}',
        '{"type":"input_audio_buffer.append","audio":""}',
        '{"type":"input_audio_buffer.append","audio":null}',
        '{"type":"input_audio_buffer.append","audio":"!!!!"}',
        '{"type":"input_audio_buffer.append","audio":"AAB="}',
        '{"type":"input_audio_buffer.append","audio":"AAAAAB=="}',
        '{"type":"input_audio_buffer.append","audio":"AAAA\\nAAAA"}',
        '{"type":"input_audio_buffer.append","audio":"AAA\\/AA=="}',
        '{"type":"input_audio_buffer.append","audio":"AAAA","copy":"AAAA"}',
        '{"type":"input_audio_buffer.append","audio":"AAAAAA==","note":{"$audio":1}}',
    ],
)
def test_odd_payloads_come_back_letter_by_letter(text: str, tmp_path: Path) -> None:
    cassette = cassette_of(("client", text), ("server", text), ("client", append(pcm(480))))
    assert load(save(cassette, tmp_path / "call")).trace == cassette.trace


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.just("$audio"), inner, max_size=3),
    max_leaves=8,
)
events = st.fixed_dictionaries(
    {"type": st.sampled_from(["input_audio_buffer.append", "response.output_audio.delta", "other"])},
    optional={
        "audio": st.binary(max_size=9).map(lambda b: base64.b64encode(b).decode()) | json_values,
        "delta": st.binary(max_size=9).map(lambda b: base64.b64encode(b).decode()) | json_values,
        "$audio": json_values,
        "more": json_values,
    },
)
encodable = st.text(st.characters(exclude_categories=["Cs"]))
payloads = st.one_of(
    encodable, st.binary(), events.map(json.dumps), events.map(lambda e: json.dumps(e, separators=(",", ":")))
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["client", "server"]), payloads), max_size=6))
def test_any_payload_comes_back(tmp_path: Path, messages: list[tuple[str, str | bytes]]) -> None:
    cassette = cassette_of(*messages)
    assert load(save(cassette, tmp_path / "call", overwrite=True)).trace == cassette.trace


@pytest.mark.parametrize(("kind", "format"), [("audio/pcmu", ULAW8), ("audio/pcma", ALAW8)])
def test_g711_keeps_every_code(kind: str, format: AudioFormat, tmp_path: Path) -> None:
    """All 256 codes, μ-law's two zeros among them, in an odd number of bytes."""
    codes = bytes(range(256)) + b"\x7f\xff\x7f"
    cassette = cassette_of(("server", session({"type": kind})), ("client", append(codes)), ("server", delta(codes)))
    folder = save(cassette, tmp_path / "call")
    assert sorted(p.name for p in folder.iterdir()) == ["agent.wav", "caller.wav", "cassette.jsonl"]
    info = soundfile.info(folder / "caller.wav")
    assert (info.subtype, info.samplerate, info.frames) == (kind[-4:].replace("pcm", "").upper() + "LAW", 8000, 259)
    after = load(folder)
    assert after.trace == cassette.trace
    assert audio_track(after, "client") == [(format, codes)]


def test_each_format_has_its_own_file(tmp_path: Path) -> None:
    cassette = cassette_of(
        ("client", append(pcm(480))),
        ("server", session({"type": "audio/pcm", "rate": 16000})),
        ("client", append(pcm(320))),
        ("server", session(ULAW)),
        ("client", append(b"\x7f" * 160)),
        ("server", session({"type": "audio/pcma"})),
        ("client", append(b"\x55" * 160)),
    )
    folder = save(cassette, tmp_path / "call")
    names = sorted(p.name for p in folder.iterdir())
    assert names == ["caller-16000.flac", "caller-alaw-8000.wav", "caller.flac", "caller.wav", "cassette.jsonl"]
    after = load(folder)
    assert after.trace == cassette.trace
    assert [format for format, _ in audio_track(after, "client")] == [PCM24, AudioFormat("pcm16", 16000), ULAW8, ALAW8]


def test_odd_bytes_of_pcm_stay_inline(tmp_path: Path) -> None:
    folder = save(cassette_of(("client", append(b"\x01" * 33))), tmp_path / "call")
    assert [p.name for p in folder.iterdir()] == ["cassette.jsonl"]


def test_an_unknown_protocol_is_kept_whole(tmp_path: Path) -> None:
    cassette = cassette_of(("client", append(pcm(480))), ("server", b"\x01"), dialect="generic")
    assert load(save(cassette, tmp_path / "call")).trace == cassette.trace


# --- writing


def test_save_does_not_overwrite_unasked(folder: Path) -> None:
    with pytest.raises(CassetteError, match="exists already"):
        save(small_call(), folder)


def test_save_overwrites_when_asked(folder: Path) -> None:
    save(cassette_of(("client", "{}")), folder, overwrite=True)
    assert [p.name for p in folder.iterdir()] == ["cassette.jsonl"]
    assert len(load(folder).trace.frames) == 1


def test_save_never_overwrites_other_files(folder: Path) -> None:
    (folder / "README.md").write_text("mine")
    with pytest.raises(CassetteError, match=r"README\.md"):
        save(small_call(), folder, overwrite=True)


def test_save_never_overwrites_a_file(tmp_path: Path) -> None:
    (tmp_path / "call").write_text("mine")
    with pytest.raises(CassetteError, match="not a folder"):
        save(small_call(), tmp_path / "call", overwrite=True)
    assert (tmp_path / "call").read_text() == "mine"


def test_a_failed_save_leaves_nothing(folder: Path) -> None:
    before = folder.joinpath("cassette.jsonl").read_bytes()
    broken = small_call()
    broken.trace.frames.append(Frame(1, "client", "late"))
    with pytest.raises(CassetteError, match="backwards"):
        save(broken, folder, overwrite=True)
    assert folder.joinpath("cassette.jsonl").read_bytes() == before
    assert [p.name for p in folder.parent.iterdir()] == ["call"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CassetteError, match=r"call: cannot be written .*choose another place"):
        save(small_call(), tmp_path / "file" / "call")


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def copy(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("simrt.cassette.writer.shutil.copyfileobj", copy)
    with pytest.raises(CassetteError, match=r"call: cannot be written \(No space left on device\)"):
        save(small_call(), tmp_path / "call")
    assert list(tmp_path.iterdir()) == []


# --- caching


def test_load_cached_reads_once_until_a_file_changes(folder: Path) -> None:
    first = load_cached(folder)
    assert load_cached(str(folder)) is first
    os.utime(folder / "caller.flac", ns=(1, 1))
    assert load_cached(folder) is not first


def test_load_cached_tells_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="no such folder"):
        load_cached(tmp_path / "nothing")


# --- the seal


def test_other_line_ends_do_not_break_the_seal(folder: Path) -> None:
    file = folder / "cassette.jsonl"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert load(folder).trace == small_call().trace


def test_a_byte_order_mark_does_not_matter(folder: Path) -> None:
    file = folder / "cassette.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert load(folder).trace == small_call().trace


def test_repacked_flac_does_not_break_the_seal(folder: Path) -> None:
    samples, rate = soundfile.read(folder / "caller.flac", dtype="int16")
    soundfile.write(folder / "caller.flac", samples, rate, subtype="PCM_16", compression_level=0.0)
    assert load(folder).trace == small_call().trace


@pytest.mark.parametrize("file", ["cassette.jsonl", "caller.flac"])
def test_a_change_breaks_the_seal_until_it_is_resealed(file: str, folder: Path) -> None:
    if file == "caller.flac":
        soundfile.write(folder / file, np.zeros(960, np.int16), 24000, subtype="PCM_16")
    else:
        rewrite(folder, lambda lines: [line.replace("sess_1", "sess_2") for line in lines])
    with pytest.raises(CassetteError, match=r"cassette\.jsonl, line 1: the digest does not match.*reseal"):
        verify_integrity(folder)
    changed = load(folder, check_digest=False)
    assert reseal(folder) == verify_integrity(folder).digest
    assert load(folder).trace == changed.trace


# --- damage


def broken(folder: Path, number: int | None = None) -> str:
    with pytest.raises(CassetteError) as caught:
        load(folder)
    message = str(caught.value)
    assert str(folder) in message
    if number is not None:
        assert f"cassette.jsonl, line {number}: " in message
    return message


def test_not_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "call"
    file.write_text("x")
    assert "is a file" in broken(file)
    assert "no such folder" in broken(tmp_path / "nothing")
    assert "there is no cassette.jsonl" in broken(tmp_path)


@pytest.mark.parametrize("content", ["", "\n", "  \n"])
def test_empty_file(content: str, folder: Path) -> None:
    (folder / "cassette.jsonl").write_text(content)
    assert "is empty" in broken(folder)


def test_a_line_that_is_no_json(folder: Path) -> None:
    rewrite(folder, lambda lines: [*lines[:2], "nonsense", *lines[2:]])
    assert "is no JSON" in broken(folder, 3)


def test_a_line_that_is_no_utf8(folder: Path) -> None:
    file = folder / "cassette.jsonl"
    file.write_bytes(file.read_bytes().replace(b"sess_1", b"sess\xff"))
    assert "UTF-8" in broken(folder, 2)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('{"t_us":0,"from":"server","event":{},"new":1}', "new"),
        ('{"t_us":0,"from":"server"}', "must hold"),
        ('{"t_us":0,"event":{}}', "must hold"),
        ('{"t_us":0,"from":"server","event":{},"text":""}', "must hold"),
        ('{"t_us":0,"from":"server","mark":"x"}', "must hold"),
        ('{"t_us":0,"from":"nobody","event":{}}', "nobody"),
        ('{"t_us":0.5,"from":"server","event":{}}', "t_us"),
        ('{"t_us":0,"from":"server","event":[]}', "object"),
        ('{"t_us":0,"from":"server","binary":"?"}', "base64"),
        ('{"t_us":-1,"from":"server","event":{}}', "before"),
        ('{"t_us":0,"from":"server","event":{"a":{"$audio":["agent.flac"]}}}', r"must hold [file"),
        ('{"t_us":0,"from":"server","event":{"a":{"$audio":["agent.flac",0,-1]}}}', r"must hold [file"),
    ],
)
def test_a_line_with_other_fields(line: str, part: str, folder: Path) -> None:
    rewrite(folder, lambda lines: [lines[0], line, *lines[1:]])
    assert part in broken(folder, 2)


@pytest.mark.parametrize("name", ["../call/agent.flac", "/agent.flac", "sub/agent.flac", "x.flac", "agent.mp3", ".."])
def test_a_path_that_leaves_the_folder(name: str, folder: Path) -> None:
    rewrite(folder, lambda lines: [line.replace("agent.flac", name) for line in lines])
    assert "is no audio file of a cassette" in broken(folder, 6)


@pytest.mark.parametrize("name", ["agent.flac", "cassette.jsonl"])
def test_a_link_that_leaves_the_folder(name: str, folder: Path, tmp_path: Path) -> None:
    shutil.move(folder / name, tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    assert "link that leaves the cassette" in broken(folder)


def test_a_folder_reached_by_a_link_is_fine(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert load(tmp_path / "link").trace == small_call().trace


def test_missing_audio(folder: Path) -> None:
    (folder / "caller.flac").unlink()
    assert "caller.flac: the audio file is missing" in broken(folder, 3)


def test_damaged_audio(folder: Path) -> None:
    (folder / "caller.flac").write_bytes(b"fLaC nonsense")
    assert "caller.flac: the audio file is damaged" in broken(folder, 3)


def test_short_audio(folder: Path) -> None:
    soundfile.write(folder / "caller.flac", np.zeros(600, np.int16), 24000, subtype="PCM_16")
    assert "needs samples 480 to 960 of caller.flac, which has only 600" in broken(folder, 7)


def test_a_header_of_a_newer_format(folder: Path) -> None:
    rewrite(folder, lambda lines: ['{"format":2,"anything":"else"}', *lines[1:]])
    assert "format 2 is newer than the 1 that this simrt reads; upgrade" in broken(folder, 1)


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("[]", "header"),
        ("{}", "format None"),
        ('{"format":1,"colour":"red"}', "colour"),
        ('{"format":1,"how":"magic"}', "magic"),
        ('{"format":1,"dialect":"klingon"}', "klingon"),
    ],
)
def test_a_header_that_is_none(header: str, part: str, folder: Path) -> None:
    rewrite(folder, lambda lines: [header, *lines[1:]])
    assert part in broken(folder, 1)


def test_cut_off_in_the_middle_of_a_line(folder: Path) -> None:
    file = folder / "cassette.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    assert "is cut off" in broken(folder, len(lines_of(folder)))


def test_cut_off_at_the_end_of_a_line(folder: Path) -> None:
    rewrite(folder, lambda lines: lines[:-1])
    assert "no closing line" in broken(folder, len(lines_of(folder)))


def test_nothing_but_a_header(folder: Path) -> None:
    rewrite(folder, lambda lines: lines[:1])
    assert "no closing line" in broken(folder, 1)


def test_lines_below_the_closing_line(folder: Path) -> None:
    rewrite(folder, lambda lines: [*lines, '{"t_us":90000,"mark":"x"}'])
    assert "below the closing line" in broken(folder, len(lines_of(folder)))


def test_times_that_go_backwards(folder: Path) -> None:
    rewrite(folder, lambda lines: [lines[0], lines[2], lines[1], *lines[3:]])
    assert "lies before the 1000 µs of the line above" in broken(folder, 3)


# --- authored


def script() -> Script:
    said = np.frombuffer(pcm(480), dtype="<i2")
    return Script(
        [
            Turn("Hello there.", "pickup+300ms", [Word("Hello", 0, 10), Word("there.", 10, 20)], said),
            Reply(text="Goodbye.", samples=said[:240], tool=Tool("end_call", {"goodbye": "Goodbye."}, "goodbye")),
            Reply(on="create", done=False),
        ],
        Pacing(think_ms=100),
    )


def authored(tmp_path: Path) -> Path:
    return save(Cassette(Header(how="authored"), Trace(), script()), tmp_path / "call")


def test_an_authored_call_comes_back(tmp_path: Path) -> None:
    after = load(authored(tmp_path))
    assert after.script is not None
    assert after.script.pacing == Pacing(think_ms=100)
    for step, wanted in zip(after.script.steps, script().steps, strict=True):
        left = None if step.samples is None else step.samples.tobytes()
        right = None if wanted.samples is None else wanted.samples.tobytes()
        assert left == right
        step.samples = wanted.samples = None
        assert step == wanted
    assert audio_track(after, "client") == []
    assert audio_track(load(tmp_path / "call"), "server") == [(PCM24, pcm(480)[:480])]


def test_an_authored_call_may_go_unsealed(tmp_path: Path) -> None:
    """It is written by hand."""
    folder = authored(tmp_path)
    rewrite(folder, lambda lines: ['{"format":1,"how":"authored"}', '{"pacing":{}}', '{"step":"reply","text":"Hi"}'])
    loaded = load(folder)
    assert loaded.script == Script([Reply(text="Hi")])


@pytest.mark.parametrize(
    ("lines", "number", "part"),
    [
        ([], 1, "is the only line"),
        (['{"step":"turn"}'], 2, "is no pacing"),
        (['{"pacing":{"think_ms":"long"}}'], 2, "is no pacing"),
        (['{"pacing":{}}', '{"step":"dance"}'], 3, "is no step"),
        (['{"pacing":{}}', '{"step":"turn","text":"a"}'], 3, "is no step"),
        (['{"pacing":{}}', "nonsense"], 3, "is no step"),
        (['{"pacing":{}}', '{"step":"reply","samples":{"$audio":["agent.flac"]}}'], 3, "must hold [file"),
        (['{"pacing":{}}', '{"step":"reply","samples":{"$audio":["agent.flac",0,999999]}}'], 3, "too short"),
    ],
)
def test_a_broken_script(lines: list[str], number: int, part: str, tmp_path: Path) -> None:
    folder = authored(tmp_path)
    rewrite(folder, lambda old: ['{"format":1,"how":"authored"}', *lines])
    assert part in broken(folder, number)


def test_closing_times_and_codes_come_back(tmp_path: Path) -> None:
    closing = Closing(5_000_000, 1011, "server error \u2014 sorry", "server")
    cassette = cassette_of(("client", "{}"), closing=closing)
    assert load(save(cassette, tmp_path / "call")).trace.closing == closing
