import base64
import json
from pathlib import Path

import pytest

from simrt.cassette.importers import import_file
from simrt.cassette.importers.pacing import pace
from simrt.cassette.redact import REDACTED, Redactor
from simrt.cassette.store import load, save
from simrt.dialect import dialect
from simrt.errors import ImportFormatError
from simrt.trace import Closing, Frame

from ..builders import append, delta, pcm, small_call

CLOCK = (
    '{"t_ms": 1.5, "dir": "c2s", "event": {"type": "a",  "n": 1.0}}\n'
    '{"t_ms": 2, "dir": "s2c", "event": {"type": "b"}}\n'
)
NAMES = '{"note":"from elsewhere"}\n{"at":0.5,"dir":"s2c","type":"a","role":"user"}\n'
LIVE = '{"t": 7, "dir": "out", "event": {"type": "session.input_audio.append", "audioBytes": 4, "x": 1}}\n'
YAML = "version: 1\ninteractions:\n- kind: message\n  direction: sent\n  data:\n    type: a\n    day: 2026-11-10\n"


def write(tmp_path: Path, content: str | bytes) -> Path:
    file = tmp_path / "recording"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def failure(tmp_path: Path, content: str | bytes) -> str:
    file = write(tmp_path, content)
    with pytest.raises(ImportFormatError) as caught:
        import_file(file)
    assert str(caught.value).startswith(str(file))
    return str(caught.value)


# --- what is told from the content


def test_clock_lines_keep_their_spelling(tmp_path: Path) -> None:
    cassette = import_file(write(tmp_path, CLOCK + '{"t_ms":3,"dir":"s2c","event":"plain \\"text\\""}\n'))
    assert cassette.trace.frames == [
        Frame(1500, "client", '{"type": "a",  "n": 1.0}'),
        Frame(2000, "server", '{"type": "b"}'),
        Frame(3000, "server", 'plain "text"'),
    ]
    assert cassette.trace.closing is None


def test_lines_as_windows_writes_them(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbf" + CLOCK.replace("\n", "\r\n").encode()
    assert import_file(write(tmp_path, raw)).trace == import_file(write(tmp_path, CLOCK)).trace


def test_name_lines_become_events_with_just_those_fields(tmp_path: Path) -> None:
    cassette = import_file(write(tmp_path, NAMES))
    assert cassette.trace.frames == [Frame(500_000, "server", '{"type":"a","role":"user"}')]
    assert cassette.header.notes[0] == "from elsewhere"


def test_live_lines_get_silence_of_the_length(tmp_path: Path) -> None:
    cassette = import_file(write(tmp_path, LIVE + LIVE.replace("out", "in").replace("7", "8")))
    assert [frame.event() for frame in cassette.trace.frames] == [
        {"type": "session.input_audio.append", "audio": "AAAAAA==", "x": 1},
        {"type": "session.input_audio.append", "delta": "AAAAAA==", "x": 1},
    ]


def test_yaml_dates_stay_text(tmp_path: Path) -> None:
    cassette = import_file(write(tmp_path, YAML))
    assert cassette.trace.frames[0].payload == '{"type":"a","day":"2026-11-10"}'


def test_yaml_with_times_and_a_close(tmp_path: Path) -> None:
    content = (
        "interactions:\n- kind: message\n  direction: received\n  at: 0.25\n  data: 'plain'\n"
        "- kind: close\n  code: 1001\n  reason: away\n  ok: true\n  at: 1.5\n"
    )
    cassette = import_file(write(tmp_path, content))
    assert cassette.header.timing == "measured"
    assert cassette.trace.frames == [Frame(250_000, "server", "plain")]
    assert cassette.trace.closing == Closing(1_500_000, 1001, "away", "server")


def test_yaml_with_a_close_but_no_times(tmp_path: Path) -> None:
    cassette = import_file(write(tmp_path, YAML + "- kind: close\n  code: 1000\n"))
    assert cassette.header.timing == "paced"
    assert cassette.trace.closing == Closing(cassette.trace.frames[-1].t_us, 1000, "", "server")


def test_http_exchanges_become_marks(tmp_path: Path) -> None:
    content = (
        "interactions:\n- request:\n    method: POST\n    uri: https://x.openai.azure.com/c?api-key=k\n"
        "    headers:\n      authorization: [Bearer abc]\n  response:\n    status: {code: 201}\n"
    )
    cassette = import_file(write(tmp_path, content), redactor=Redactor(environ={}))
    (mark,) = cassette.trace.marks
    assert mark.kind == "http"
    assert mark.detail == {
        "request": {
            "method": "POST",
            "uri": f"https://x.openai.azure.com/c?api-key={REDACTED}",
            "headers": {"authorization": [REDACTED]},
        },
        "response": {"status": {"code": 201}},
    }
    assert cassette.header.profile == "azure"
    assert load(save(cassette, tmp_path / "call")).trace == cassette.trace


def test_polyai_is_told_by_its_own_events(tmp_path: Path) -> None:
    line = '{"t_ms":1,"dir":"c2s","event":{"type":"poly.output_audio.started"}}\n'
    assert import_file(write(tmp_path, CLOCK + line)).header.profile == "polyai"


# --- secrets


def test_secrets_are_redacted(tmp_path: Path) -> None:
    line = '{"t_ms":1,"dir":"s2c","event":{"client_secret":{"value":"ek_1234567890"}}}\n'
    cassette = import_file(write(tmp_path, line + line.replace("client_secret", "note")), redactor=Redactor(environ={}))
    assert "ek_1234567890" not in repr(cassette)
    assert cassette.header.redacted == ["field:client_secret", "shape:ek_"]


# --- damage


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file(content: str, tmp_path: Path) -> None:
    assert "is empty" in failure(tmp_path, content)


@pytest.mark.parametrize("content", ["hello", "a: 1\n", '{"a": 1}\n', '{"t": 1}\n', b"\x89PNG\r\n", b"\xff\xfe{"])
def test_no_recording(content: str | bytes, tmp_path: Path) -> None:
    assert "is no recording that can be imported; understood are" in failure(tmp_path, content)


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match="is a folder; give one file"):
        import_file(tmp_path)
    with pytest.raises(ImportFormatError, match="check the path"):
        import_file(tmp_path / "nothing")


def test_a_cassette_need_not_be_imported(tmp_path: Path) -> None:
    folder = save(small_call(), tmp_path / "call")
    with pytest.raises(ImportFormatError, match="it is a cassette already, load it"):
        import_file(folder)
    with pytest.raises(ImportFormatError, match="load the folder around it"):
        import_file(folder / "cassette.jsonl")


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_lines_that_are_cut_off_are_imported_as_far_as_they_are_whole(cut: int, tmp_path: Path) -> None:
    cassette = import_file(write(tmp_path, (CLOCK + CLOCK)[: -1 - cut]))
    assert len(cassette.trace.frames) == 3
    assert "line 4 of the source is cut off and was left out" in cassette.header.notes


def test_lines_that_are_cut_off_inside_a_letter(tmp_path: Path) -> None:
    raw = (CLOCK + '{"t_ms":3,"dir":"s2c","event":{"type":"é').encode()
    assert len(import_file(write(tmp_path, raw[:-1])).trace.frames) == 2


def test_a_broken_line_in_the_middle(tmp_path: Path) -> None:
    assert "line 2: is no JSON object" in failure(tmp_path, CLOCK.replace('"dir": "s2c"', '"dir" "s2c"') + CLOCK)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('{"t_ms":"soon","dir":"c2s","event":{}}', "line 3: Expected `float`"),
        ('{"t_ms":1,"dir":"sideways","event":{}}', "line 3: has no 'sideways'"),
        ('{"dir":"c2s","event":{}}', "line 3: has no 't_ms'"),
        ('{"t_ms":1,"dir":"c2s"}', "line 3: holds no event"),
        ('{"t_ms":1,"dir":"c2s","event":{},"extra":1}', "line 3: holds event, extra"),
        ('{"t_ms":1,"dir":"c2s","event":5}', "line 3: its event is neither"),
    ],
)
def test_a_line_of_another_shape(line: str, part: str, tmp_path: Path) -> None:
    assert part in failure(tmp_path, CLOCK + line + "\n")


@pytest.mark.parametrize("size", ['"x"', "-1", "99999999999"])
def test_a_byte_count_that_is_none(size: str, tmp_path: Path) -> None:
    assert "line 1: its audioBytes are no size" in failure(tmp_path, LIVE.replace("4,", f"{size},"))


def test_times_that_go_backwards_are_raised(tmp_path: Path) -> None:
    cassette = import_file(write(tmp_path, CLOCK + CLOCK))
    assert [frame.t_us for frame in cassette.trace.frames] == [1500, 2000, 2000, 2000]
    assert "1 times that went backwards were raised to the time before them" in cassette.header.notes


def test_broken_yaml(tmp_path: Path) -> None:
    message = failure(tmp_path, YAML + "- kind: message\n  data: {type: 'x\n")
    assert "line 10: broken YAML" in message
    assert "cut it off before the message that begins in line 8" in message


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("interactions: 5\n", "no list of messages"),
        ("interactions: []\n", "nothing to import"),
        (YAML + "- kind: message\n  direction: sent\n", "interaction 2: is no message that is understood"),
        (YAML + "- kind: message\n  direction: up\n  data: {}\n", "interaction 2: is no message"),
        (YAML + "- kind: dance\n", "interaction 2: is no message"),
        (YAML + "- kind: close\n", "interaction 2: is a close without a code"),
        (YAML + "- kind: close\n  code: 1000\n" + YAML[YAML.index("- ") :], "interaction 3: comes after the close"),
        (YAML + "    x: !!binary aGk=\n", "interaction 1: holds something that JSON cannot say"),
        ("interactions:\n- \x01\n", "broken YAML"),
    ],
)
def test_yaml_of_another_shape(content: str, part: str, tmp_path: Path) -> None:
    assert part in failure(tmp_path, content)


def test_yaml_without_a_last_line_end_is_suspect(tmp_path: Path) -> None:
    cassette = import_file(write(tmp_path, YAML[:-3]))
    assert any("its last message may be cut off" in note for note in cassette.header.notes)


# --- pacing


def test_pacing_follows_the_microphone_and_typical_delays() -> None:
    def event(kind: str) -> str:
        return json.dumps({"type": kind})

    messages = [
        ("server", event("session.created")),
        ("client", event("session.update")),
        ("client", append(pcm(480))),
        ("client", append(pcm(480))),
        ("server", event("input_audio_buffer.speech_started")),
        ("client", append(pcm(4800))),
        ("client", event("response.create")),
        ("server", event("response.created")),
        ("server", delta(pcm(10))),
        ("server", delta(pcm(10))),
        ("client", event("response.create")),
    ]
    times = pace(messages, dialect("realtime"), cut=False)  # type: ignore[arg-type]
    assert times == [t * 1000 for t in (60, 65, 85, 105, 125, 305, 305, 398, 518, 538, 543)]


def test_cut_audio_counts_as_long_as_it_was() -> None:
    piece = base64.b64encode(bytes(33)).decode()
    messages = [("client", json.dumps({"type": "input_audio_buffer.append", "audio": piece}))] * 3
    assert pace(messages, dialect("realtime"), cut=True) == [100_000, 200_000, 300_000]  # type: ignore[arg-type]
    assert pace(messages, dialect("realtime"), cut=False) == [666, 1332, 1998]  # type: ignore[arg-type]
