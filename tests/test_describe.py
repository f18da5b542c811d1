"""A call as text: what is in it, and what a harmless change does not move."""

import base64
import dataclasses
import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from simrt.caller import Clip, Clock, Cue, Line, Utterance
from simrt.describe import WIDTH, Labels, call_text, plain_text
from simrt.replay.session import Verdict
from simrt.result import CallerTurn, CallResult, Reply
from simrt.trace import Closing, Frame, Mark, Sender, Trace
from simrt.world import VirtualLoop

Sent = tuple[int, Sender, Any]


def make(*sent: Sent, marks: list[Mark] | None = None, **more: Any) -> CallResult:
    """A result whose one connection opened 10 ms after pickup and carried these; events are (ms, sender, event)."""
    frames = [
        Frame(ms * 1000, sender, json.dumps(event) if isinstance(event, dict) else event) for ms, sender, event in sent
    ]
    line = Line.on(Clock(VirtualLoop()), "ws://simrt.test/v1/realtime")
    fields: dict[str, Any] = {
        "ready_ms": 250.4,
        "caller_turns": [],
        "replies": [],
        "closed_by": "client",
        "virtual_ms": 1234.5678,
        "verdict": Verdict(),
        "log": [],
        "traces": [Trace(frames=frames, marks=marks or [], closing=Closing(900_000, 1000, "", "client"))],
        "utterances": [],
        "line": line,
        "opened_ms": [10.0],
    }
    return CallResult(**{**fields, **more})


def rows(*sent: Sent, **more: Any) -> list[str]:
    """The timeline of such a result."""
    text = call_text(make(*sent, **more))
    return text.partition("timeline\n")[2].partition("\n\n")[0].splitlines()[1:]


def whats(*sent: Sent) -> list[str]:
    """What happened, without the closing row."""
    return [row.split(maxsplit=2)[2] for row in rows(*sent)[:-1]]


def test_columns_are_fixed_and_times_whole_ms_from_pickup() -> None:
    first, *_, last = rows((5, "server", {"type": "a"}), (123_456, "client", {"type": "b"}))
    assert first == "         15  server    a"
    assert rows((123_456, "client", {"type": "b"}))[-1] == "     123466  client    b"
    assert last.index("client") == first.index("server")


def test_everything_is_in_one_order_of_time() -> None:
    line = Line.on(Clock(VirtualLoop()), "")
    line.note("a note")
    line.cut("client")
    clip = Clip("hello", np.zeros(240, np.int16), text="hello there")
    said = Utterance(clip, 20_000, 30_000, Cue("pickup"), 20_000)
    marks = [Mark(15_000, "fault", {"fault": "stall:reply=0", "shift_ms": 5})]
    found = rows((1, "server", {"type": "a"}), (12, "server", b"\x01\x02"), marks=marks, line=line, utterances=[said])
    assert [row.split(maxsplit=2)[1:] for row in found] == [
        ["client", "notes: a note"],
        ["line", "hung up by client"],
        ["server", "a"],
        ["caller", 'says hello: "hello there"'],
        ["server", "2 bytes #a12871fe"],
        ["fault", "stall:reply=0 shift_ms=5"],
        ["client", "closes 1000"],
    ]


def test_ids_are_named_by_role_in_order_of_appearance() -> None:
    assert whats(
        (1, "server", {"type": "response.created", "response": {"id": "resp_zzz9", "conversation_id": "conv_1"}}),
        (2, "server", {"type": "x", "item": {"id": "9a8b-77", "call_id": "call_b"}, "response_id": "resp_zzz9"}),
        (3, "server", {"type": "y", "item_id": "other", "previous_item_id": "9a8b-77"}),
        (4, "server", {"type": "z", "response": {"output": [{"id": "other"}, {"id": "third"}]}}),
    ) == [
        "response.created response={id: resp-1, conversation_id: conv-1}",
        "x resp-1 item={id: item-1, call_id: call-1}",
        "y item-2 after item-1",
        "z response={output: [{id: item-2}, {id: item-3}]}",
    ]


def test_ids_in_texts_are_named_too() -> None:
    text = "Item 'item_CMxyz12345' not found, nor 4711-aaaa-22"
    result = make(
        (1, "server", {"type": "x", "item_id": "4711-aaaa-22"}),
        (2, "server", {"type": "error", "error": {"message": text}}),
        verdict=Verdict(notes=["item_CMxyz12345 is late"]),
    )
    out = call_text(result)
    assert "Item 'item-2' not found, nor item-1" in out
    assert "notes: item-2 is late" in out


def test_what_does_not_matter_is_left_out() -> None:
    event = {
        **{"type": "response.done", "event_id": "event_77", "usage": {"total_tokens": 9}, "output_index": 0},
        "response": {"expires_at": 1, "metadata": None, "output": [], "status": "completed", "object": "response"},
    }
    assert whats((1, "server", event)) == ["response.done response={status: completed}"]


@pytest.mark.parametrize(
    "other",
    [
        {"name": "look", "type": "x", "item_id": "item_7", "n": 1},
        {"type": "x", "n": 1, "name": "look", "item_id": "entirely-different", "event_id": "e", "gone": None},
    ],
)
def test_harmless_changes_change_nothing(other: dict[str, Any]) -> None:
    assert whats((1, "server", other)) == whats((1, "server", {"type": "x", "item_id": "i", "name": "look", "n": 1}))


def test_numbers_false_and_zero_stay() -> None:
    event = {"type": "x", "audio_end_ms": 0, "ok": False, "gain": 0.5, "content_index": 1}
    assert whats((1, "server", event)) == ["x audio_end_ms=0 content_index=1 gain=0.5 ok=false"]


def test_long_bodies_end_in_a_hash_of_all_of_them() -> None:
    def body(end: str) -> str:
        return whats((1, "client", {"type": "session.update", "session": {"instructions": "so " * 100 + end}}))[0]

    assert len(body("a")) < WIDTH + 40
    assert body("a")[:-9] == body("b")[:-9]
    assert body("a") != body("b")


def test_arguments_read_as_what_they_are_unless_they_are_broken() -> None:
    done = {"type": "response.function_call_arguments.done", "call_id": "c"}
    assert whats((1, "server", {**done, "arguments": '{"day": "Friday", "found": null, "n": []}'}))[0].endswith(
        "call-1 arguments={day: Friday, found: null, n: []}"
    )
    assert whats((1, "server", {**done, "arguments": '{"day": "Fri'}))[0].endswith('arguments="{\\"day\\": \\"Fri"')


def test_audio_of_a_reply_is_one_line_with_length_hash_and_span() -> None:
    audio = np.arange(2400, dtype=np.int16).tobytes()

    def deltas(*cuts: int) -> list[Sent]:
        edges = [0, *cuts, len(audio)]
        return [
            (
                100 + n,
                "server",
                {
                    "type": "response.output_audio.delta",
                    **{"response_id": "r", "item_id": "i", "event_id": f"e{n}"},
                    "delta": base64.b64encode(audio[low:high]).decode(),
                },
            )
            for n, (low, high) in enumerate(itertools.pairwise(edges))
        ]

    digest = "#" + hashlib.sha256(audio).hexdigest()[:8]
    (line,) = whats(*deltas(1200, 2400))
    assert line == f"response.output_audio.delta item-1 resp-1 100 ms {digest} ×3 over 2 ms"
    (other,) = whats(*deltas(2400))
    assert other == line.replace("×3 over 2", "×2 over 1")


def test_audio_is_measured_in_the_format_in_force() -> None:
    update = {"type": "session.updated", "session": {"input_audio_format": "g711_ulaw"}}
    append = {"type": "input_audio_buffer.append", "audio": base64.b64encode(b"\xff" * 160).decode()}
    assert "append 20 ms" in whats((1, "server", update), (2, "client", append))[1]
    assert "append 3 ms" in whats((2, "client", append))[0]


def test_appends_are_one_line_until_the_buffer_is_taken() -> None:
    append = {"type": "input_audio_buffer.append", "audio": base64.b64encode(b"\0" * 960).decode()}
    found = whats(
        *((20 * n, "client", append) for n in range(3)),
        (60, "client", {"type": "input_audio_buffer.commit"}),
        *((60 + 20 * n, "client", append) for n in range(2)),
    )
    assert [what.partition(" #")[0] for what in found] == [
        "input_audio_buffer.append 60 ms",
        "input_audio_buffer.commit",
        "input_audio_buffer.append 40 ms",
    ]


def test_text_deltas_are_joined() -> None:
    delta = {"type": "response.output_audio_transcript.delta", "item_id": "i"}
    found = whats((1, "server", {**delta, "delta": "Good "}), (9, "server", {**delta, "delta": "day"}))
    assert found == ['response.output_audio_transcript.delta item-1 "Good day" ×2 over 8 ms']


def test_frames_that_are_no_events_and_made_up_answers_are_told_apart() -> None:
    result = make((1, "client", "no json"))
    result.traces[0].frames.append(Frame(2000, "server", '{"type":"error"}', synthetic=True))
    assert '"no json"' in call_text(result)
    assert "error (synthetic)\n" in call_text(result)


def test_sections() -> None:
    result = make(
        caller_turns=[CallerTurn("booking", 12, 3, "Hi, yes", 0.0)],
        replies=[
            Reply(0, "All set.", 1000.0, 1000.0, 1000.0, "All set.", False, 0.0, 100.0),
            Reply("answer-0", "Good bye now", 2000.0, 2000.0, 900.4, "Good", True, 20.0, 1100.0),
        ],
        verdict=Verdict(unfired=["stall:reply=0"], unplayed=["a ×1", "b ×2"]),
        error="the client raised ValueError: no",
    )
    text = call_text(result, {"ledger": [{"order": "A-7", "amount": 12}], "remarks": "none\nat all"})
    assert text.startswith(
        "call\n  ready      250 ms\n  lasted     1235 ms\n  closed by  client\n  error      the client"
    )
    assert 'caller turns\n  booking           12 words    3 lost  "Hi, yes"\n' in text
    assert '  0        audio   1000 ms  heard   1000 ms  whole    "All set."\n' in text
    assert '  answer-0 audio   2000 ms  heard    900 ms  cut off  again 20 ms  "Good"\n' in text
    assert "verdict\n  unplayed: a ×1\n  unplayed: b ×2\n  unfired: stall:reply=0\n" in text
    assert text.endswith("ledger\n  - {amount: 12, order: A-7}\n\nremarks\n  none\n  at all\n")


def test_empty_call_and_clean_verdict() -> None:
    text = call_text(make(ready_ms=None, traces=[], opened_ms=[]))
    assert "ready      never" in text
    assert "replies\n  none\n" in text
    assert "verdict\n  clean\n" in text


@dataclasses.dataclass
class _Entry:
    order: str
    amount: int


class _Row(msgspec.Struct):
    order: str


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("one line", "one line\n"),
        ("already ended\n", "already ended\n"),
        ({"b": 1, "a": [1, 2]}, "a: [1, 2]\nb: 1\n"),
        ([_Entry("A", 1), _Row("B")], "- {amount: 1, order: A}\n- {order: B}\n"),
        (7, "7\n"),
        ([], "[]\n"),
        ({"rooms": {7, 3}, "at": Path("a/b")}, "at: a/b\nrooms: [3, 7]\n"),
    ],
)
def test_plain_values(value: Any, text: str) -> None:
    assert plain_text(value) == text


def test_objects_without_a_text_are_refused() -> None:
    with pytest.raises(TypeError, match="a object has no text of its own"):
        plain_text({"a": object()})


def test_labels_leave_words_alone_that_a_client_took_as_an_id() -> None:
    labels = Labels()
    labels.of("item", "greeting")
    labels.of("item", "greeting-01")
    assert labels.text("a greeting, then greeting-01 but not greeting-011") == (
        "a greeting, then item-2 but not greeting-011"
    )
