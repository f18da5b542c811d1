"""The engine beneath the protocols: handshake, order, the unknown protocol, the end."""

from pathlib import Path

import pytest

from simrt.cassette.header import Header
from simrt.cassette.importers import import_file
from simrt.cassette.store import Cassette
from simrt.faults.base import End, Send
from simrt.replay.build import build_score, make_session, score_of
from simrt.replay.live import LiveSession
from simrt.replay.score_generic import score_generic
from simrt.replay.session import GenericSession, Session, Verdict
from simrt.trace import Closing, Frame, Opening, Trace
from simrt.wire import Request

from .hand import Call, update, whole_call


def generic(
    *rows: tuple[int, str, str | bytes], closing: Closing | None = None, opening: Opening | None = None
) -> Session:
    frames = [Frame(ms * 1000, "client" if side == "c" else "server", payload) for ms, side, payload in rows]
    trace = Trace(opening or Opening(), frames, closing)
    return make_session(score_generic(trace, Header(dialect="generic")))


def play(session: Session, *sends: tuple[int, str]) -> list[tuple[float, str | bytes]]:
    """Open, send (ms, payload), and what comes back."""
    got: list[tuple[float, str | bytes]] = []
    session.opened(0)
    for ms, payload in (*sends, (10**9, "")):
        while (due := session.next_due()) is not None and due < ms * 1000:
            for action in session.due(due):
                got.append((due / 1000, action.payload if isinstance(action, Send) else f"end {action.code}"))
        if payload:
            session.receive(payload, ms * 1000)
    return got


TALK = [(10, "s", "hello"), (20, "c", "one"), (25, "s", "1"), (27, "s", b"\x01"), (90, "c", "two"), (99, "s", "2")]


def test_an_unknown_protocol_is_played_by_the_order_of_the_clients_frames() -> None:
    session = generic(*TALK)
    assert isinstance(session, GenericSession)
    assert play(session, (20, "one"), (90, "two")) == [(10, "hello"), (25, "1"), (27, b"\x01"), (99, "2")]
    assert session.final_verdict().clean


def test_its_answers_come_as_long_after_the_question_as_recorded() -> None:
    assert play(generic(*TALK), (500, "x"), (501, "y")) == [(10, "hello"), (505, "1"), (507, b"\x01"), (510, "2")]


def test_what_its_client_did_not_send_is_in_the_verdict() -> None:
    session = generic(*TALK)
    play(session, (20, "one"))
    assert session.final_verdict().unasked == ["client frame ×1"]
    assert session.final_verdict().unplayed == ["? ×1"]


def test_what_its_client_sends_beyond_the_recording_brings_nothing() -> None:
    session = generic(*TALK)
    assert play(session, (20, "a"), (21, "b"), (22, "c"))[-1] == (30, "2")
    assert session.final_verdict().unasked == []


def test_the_recorded_end_comes_with_its_cause() -> None:
    session = generic(*TALK, closing=Closing(120_000, 4000, "over", "server"))
    assert play(session, (20, "one"), (190, "two"))[-2:] == [(199, "2"), (220, "end 4000")]
    assert session.ended_it
    assert session.next_due() is None


def test_a_lost_connection_is_a_reset() -> None:
    session = generic((10, "s", "hello"), closing=Closing(30_000, 1006, "", "network"))
    session.opened(0)
    session.due(10_000)
    (end,) = session.due(30_000)
    assert end == End(1006, "", reset=True)


def test_the_clients_own_end_is_not_played() -> None:
    session = generic(*TALK, closing=Closing(120_000, 1000, "", "client"))
    assert play(session, (20, "one"), (90, "two"))[-1] == (99, "2")


def test_an_imported_live_session_is_played_as_one(recordings: Path) -> None:
    imported = import_file(recordings / "gpt-live" / "delegation.jsonl")
    assert isinstance(make_session(build_score(imported)), LiveSession)


# --- the handshake


@pytest.mark.parametrize(
    ("recorded", "offered", "chosen"),
    [
        ("realtime", ["realtime", "openai-insecure-api-key.K"], "realtime"),
        ("realtime", ["openai-insecure-api-key.K", "realtime"], "realtime"),
        ("realtime", [], None),
        ("realtime", ["other"], None),
        (None, ["realtime", "openai-insecure-api-key.K"], "realtime"),
        (None, ["openai-insecure-api-key.K"], None),
        (None, ["openai-live", "openai-insecure-api-key.K"], "openai-live"),
        ("realtime", ["openai-insecure-api-key.K", "openai-live"], "openai-live"),
        (None, [], None),
        ("special", ["special", "realtime"], "special"),
    ],
)
def test_the_subprotocol(recorded: str | None, offered: list[str], chosen: str | None) -> None:
    session = generic(opening=Opening(subprotocol=recorded))
    assert session.accept(Request("h", "/", [], offered)) is None
    assert session.subprotocol == chosen


def test_a_recorded_refusal_refuses() -> None:
    opening = Opening(status=429, response_body="busy", response_headers=[("Retry-After", "7")])
    refusal = generic(opening=opening).accept(Request("h", "/"))
    assert refusal is not None
    assert (refusal.status, refusal.body, refusal.headers) == (429, "busy", [("Retry-After", "7")])


# --- order and repeat


def test_frames_of_one_moment_keep_the_recorded_order() -> None:
    rows = [(20, "c", "go"), *[(30, "s", str(k)) for k in range(50)]]
    assert [payload for _, payload in play(generic(*rows), (5, "go"))] == [str(k) for k in range(50)]


def test_a_late_driver_gets_everything_in_order() -> None:
    """A busy real-time loop may call `due` long after the moments."""
    session = generic(*TALK)
    session.opened(0)
    session.receive("one", 20_000)
    session.receive("two", 21_000)
    assert [a.payload for a in session.due(10**9) if isinstance(a, Send)] == ["hello", "1", b"\x01", "2"]


def test_after_the_end_nothing_is_due() -> None:
    session = generic(*TALK)
    session.opened(0)
    session.closed(5000)
    assert session.next_due() is None
    assert session.final_verdict().unplayed == ["? ×4"]


def test_verdicts_are_clean_or_not() -> None:
    assert Verdict().clean
    for name in Verdict.__struct_fields__:
        verdict = Verdict(**{name: ["x"]})
        assert not verdict.clean
        assert str(verdict) == f"{name}: x"


# --- from cassettes


def test_scores_from_disk_are_built_once(tmp_path: Path) -> None:
    from simrt import shipped

    path = shipped.cassette("front-desk")
    assert score_of(path) is score_of(path)
    assert score_of(str(path)) is score_of(path)


def test_a_cassette_in_memory_is_scored_each_time() -> None:
    cassette = Cassette(Header(dialect="generic"), Trace())
    assert score_of(cassette) is not score_of(cassette)


def test_the_same_sends_give_the_same_bytes() -> None:
    assert whole_call().rows() == whole_call().rows()


def test_marks_and_frames_share_a_clock() -> None:
    call = whole_call(None, ["stall:at=1s,for=100ms"])
    (mark,) = call.session.marks
    assert any(abs(got.ms * 1000 - mark.t_us) < 500_000 for got in call.got)


def test_a_session_needs_no_loop() -> None:
    assert update(Call(build_score(Cassette(Header(), Trace()))), 1).run().kinds() == ["session.updated"]
