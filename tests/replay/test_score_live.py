"""Live recordings: the published log, and calls of our own as if they had been recorded."""

from functools import cache
from pathlib import Path

import msgspec
import pytest

from simrt.cassette.header import Header, Word
from simrt.cassette.importers import import_file
from simrt.cassette.store import Cassette
from simrt.replay.build import build_score, make_session
from simrt.replay.edit import with_turn_live
from simrt.replay.fidelity import check_fidelity
from simrt.replay.score import Score
from simrt.trace import Closing, Frame, Opening, Trace
from tests.replay.hand import Got, React
from tests.replay.live_hand import (
    AUDIO,
    DELEGATED,
    HEARD,
    REQUEST,
    SAID,
    STATUS,
    LiveCall,
    answering,
    clip_ms,
    parcel,
    turn,
)

ACK = "session.commentary.appended"


@pytest.fixture(scope="module")
def log(recordings: Path) -> Cassette:
    """The published GPT-Live session."""
    return import_file(recordings / "gpt-live" / "delegation.jsonl")


def again(
    log: Cassette, *, late: float = 0.0, until: float = 1e9, answers: bool = True, until_ms: float = 120_000
) -> LiveCall:
    """Play the published log to a client that sends its audio `late` ms later, or only `until` a moment of its own.

    It answers the delegation when that comes, as the recorded one did.
    """

    def react(call: object, ms: float, event: dict[str, object]) -> None:
        if event.get("type") == DELEGATED and answers and isinstance(call, LiveCall):
            for payload in replies:
                call.send(ms + 1, payload)

    call = LiveCall(build_score(log), react=react)
    call._mine.clear()
    replies = []
    for frame in log.trace.sent_by("client"):
        event = frame.event() or {}
        if event.get("delegation_id"):
            replies.append(frame.payload)
        elif "audio" in event and frame.t_us / 1000 <= until:
            call.send(frame.t_us / 1000 + late, frame.payload)
        elif "audio" not in event:
            call.send(frame.t_us / 1000, frame.payload)
    return call.run(until_ms)


def test_the_published_log_comes_back_as_it_was(log: Cassette) -> None:
    fidelity = check_fidelity(log)
    assert fidelity.ok, fidelity.difference
    assert fidelity.frames == 98


def test_its_header_says_that_its_audio_is_counts(log: Cassette) -> None:
    assert (log.header.dialect, log.header.caller_audio, log.header.agent_audio) == ("live", "counts", "counts")
    assert any("byte counts" in note for note in log.header.notes)


def test_what_the_agent_said_in_it(log: Cassette) -> None:
    score = build_score(log)
    assert [reply.text for reply in score.replies] == ["Okay, checking now.", "Staging is healthy:"]
    assert score.replies[1].cause == ("commentary", 0)
    assert score.replies[1].content == "Staging is healthy: all services are up."
    assert score.turns == []


@pytest.mark.parametrize("late", [1.0, 700.0, 30_000.0])
def test_all_of_it_moves_with_audio_that_is_sent_late(log: Cassette, late: float) -> None:
    plain, moved = again(log), again(log, late=late)
    for kind in (HEARD, DELEGATED, ACK, "session.thinking.appended", AUDIO, SAID):
        assert [got.ms - late for got in moved.of(kind)] == pytest.approx([got.ms for got in plain.of(kind)])
        assert [got.event for got in moved.of(kind)] == [got.event for got in plain.of(kind)]
    assert [got.ms for got in moved.of("session.usage.updated")] == [15_960, 30_969]


def test_it_stops_with_the_audio(log: Cassette) -> None:
    call = again(log, until=4000)
    assert call.heard() == "Please check the deployment status of the staging"
    assert not call.of(DELEGATED)
    assert not call.of(SAID)
    assert call.of(AUDIO)[-1].ms < 5000


def test_an_append_that_came_when_the_audio_had_stopped_is_never_placed(log: Cassette) -> None:
    call = again(log, until=4000).append(20_000, "Note.", "thinking").send(60_000, {"type": "session.close"})
    call.run()
    assert len(call.of("session.thinking.appended")) == 0
    assert call.codes() == ["context_injection_incomplete"]
    assert call.got[-1].event["usage"]["seconds"] == 2


@pytest.mark.parametrize("silence", [True, False])
def test_an_append_45_seconds_after_the_delegation(log: Cassette, silence: bool) -> None:
    call = again(log, answers=False)
    delegated = call.one(DELEGATED)
    at = delegated.ms + 45_000
    call.append(at, "Staging is healthy: all services are up.", delegation_id="item_0001")
    if silence:
        call.stream(delegated.ms, at + 4000)
    call.send(at + 5000, {"type": "session.close"}).run()
    if silence:
        assert 600 <= call.one(ACK).ms - at <= 1000
        assert not call.codes()
        assert "Staging is healthy:" in call.said()
    else:
        assert not call.of(ACK)
        assert call.codes() == ["context_injection_incomplete"]


def test_another_answer_is_said_in_a_made_up_voice(log: Cassette) -> None:
    call = again(log, answers=False, until_ms=6604).append(6604, "The database is down.", delegation_id="item_0001")
    call.stream(6700, 16_000).run(20_000)
    assert call.said().endswith("The database is down.")
    assert call.session.final_verdict().synthetic[-1] == "speech (The database is down.)"


def test_an_instruction_of_another_client_is_told_its_own_name(log: Cassette) -> None:
    call = LiveCall(build_score(log))
    call._mine.clear()
    start = msgspec.json.decode(log.trace.sent_by("client")[0].payload)
    call.send(675, {**start, "event_id": "mine", "session": {**start["session"], "instructions": "Be loud."}})
    call.run(2000)
    assert call.one("session.started").event["session"]["instructions"] == "Be loud."
    assert call.one("session.started").event["session"]["id"] == "live_0001"


# --- calls of our own, as if recorded


def recorded(call: LiveCall, **header: object) -> Cassette:
    """What a recording of that call would be. The client's frames are those that it sent."""
    frames = [Frame(round(got.ms * 1000), "server", got.send.payload) for got in call.got]
    frames += [Frame(round(at * 1000), "client", payload) for at, payload in call.sent]
    frames.sort(key=lambda frame: (frame.t_us, frame.sender))
    end_us = frames[-1].t_us
    closing = Closing(end_us, 1005, "", "server") if call.end is not None else Closing(end_us, 1000, "", "client")
    profile = call.session.score.profile
    return Cassette(
        Header(dialect="live", profile=profile, how="stand-in", **header),  # type: ignore[arg-type]
        Trace(Opening("/v1/live/sessions"), frames, closing),
    )


class Recorded(LiveCall):
    """A call that keeps what it sent."""

    def __init__(self, score: Score, faults: tuple[str, ...] = (), react: React | None = None, **session: object):
        self.sent: list[tuple[float, str | bytes]] = []
        super().__init__(score, faults, react=react, request=REQUEST, **session)

    def run(self, until_ms: float = 120_000) -> "Recorded":
        before = self.session.receive

        def receive(payload: str | bytes, now_us: int) -> None:
            self.sent.append((now_us / 1000, payload))
            before(payload, now_us)

        self.session.receive = receive  # type: ignore[method-assign]
        super().run(until_ms)
        self.session.receive = before  # type: ignore[method-assign]
        return self


SHAPES = [("openai", {}), ("kugel", {}), ("kugel", {"kugel": {}})]


@cache
def take(profile: str, ahead: bool, over: str = "") -> Recorded:
    """A whole call; `over`: what the caller says into the status."""
    score = parcel(profile)
    if over:
        score = with_turn_live(score, turn(over), None, 0, barge_in=True)
    call = Recorded(score, (), answering(), **({"kugel": {}} if ahead else {}))
    more = [(3500 + clip_ms("parcel-where") + 2500, over)] if over else []
    call.stream(500, 26_000, (3500, "parcel-where"), *more, (18_000, "thats-all"))
    call.append(2500, "Keep it short.", "instructions", event_id="i1")
    call.send(26_000, {"type": "session.close", "event_id": "bye"})
    return call.run()


@pytest.mark.parametrize(("profile", "session"), SHAPES, ids=["openai", "kugel", "kugel-ahead"])
def test_a_recorded_call_comes_back_as_it_was(profile: str, session: dict[str, object]) -> None:
    fidelity = check_fidelity(recorded(take(profile, bool(session))))
    assert fidelity.ok, fidelity.difference
    assert fidelity.frames > 150


@pytest.mark.parametrize(("profile", "session"), SHAPES, ids=["openai", "kugel", "kugel-ahead"])
def test_its_turns_and_replies_are_found(profile: str, session: dict[str, object]) -> None:
    score = build_score(recorded(take(profile, bool(session))))
    assert [turn.text for turn in score.turns] == [
        "Hi, where is my order? It's four seven double one.",
        "Great, that's all. Bye.",
    ]
    assert [(reply.text, reply.cause) for reply in score.replies] == [
        ("Parcel service, how can I help?", ("timeline", 0)),
        (STATUS, ("commentary", 0)),
        (parcel(profile).replies[2].text, ("turn.stop", 1)),
    ]
    assert score.replies[1].content == STATUS


@pytest.mark.parametrize(("profile", "session"), SHAPES, ids=["openai", "kugel", "kugel-ahead"])
def test_a_client_that_is_later_gets_it_all_later(profile: str, session: dict[str, object]) -> None:
    """The same cassette, the caller 2 s later, the answer another 3 s."""
    score = build_score(recorded(take(profile, bool(session))))
    call = LiveCall(score, react=answering(after_ms=3300), **session)
    call.append(2500, "Keep it short.", "instructions")
    call.stream(500, 32_000, (5500, "parcel-where"), (24_000, "thats-all")).send(
        32_000, {"type": "session.close"}
    ).run()
    before = take(profile, bool(session))
    assert call.heard() == before.heard()
    assert call.said() == before.said()
    assert call.one(DELEGATED).ms - before.one(DELEGATED).ms == pytest.approx(2000, abs=25)
    assert call.one(ACK).ms - before.one(ACK).ms == pytest.approx(5000, abs=25)
    offset = call.one(DELEGATED).event["offset_ms"] - before.one(DELEGATED).event["offset_ms"]
    assert offset == pytest.approx(2000, abs=1)
    assert first(call, 1).ms - first(before, 1).ms == pytest.approx(5000, abs=120)
    assert not call.session.final_verdict().synthetic
    assert not [kind for kind in call.session.final_verdict().unplayed if not kind.startswith(AUDIO)]


def first(call: LiveCall, reply: int) -> Got:
    """The first audio of a reply."""
    return next(got for got in call.of(AUDIO) if got.send.reply == reply)


@pytest.mark.parametrize(("profile", "session"), SHAPES, ids=["openai", "kugel", "kugel-ahead"])
def test_a_recorded_interruption_comes_back(profile: str, session: dict[str, object]) -> None:
    call = take(profile, bool(session), "hang-on")
    assert (1, True) in [(reply, cut) for reply, _, cut in call.ear.ended], "the caller talks over the status"
    cassette = recorded(call)
    fidelity = check_fidelity(cassette)
    assert fidelity.ok, fidelity.difference
    cut = build_score(cassette).replies[1]
    assert cut.cause == ("commentary", 0)
    assert STATUS.startswith(cut.text) or session


@pytest.mark.parametrize(("profile", "session"), SHAPES, ids=["openai", "kugel", "kugel-ahead"])
def test_the_words_of_the_header_are_placed_on_the_replies(profile: str, session: dict[str, object]) -> None:
    """They count from the first sample of the agent's audio, which has silence between replies, or has none."""
    call = take(profile, bool(session))
    words, at_ms = [], 0.0
    for reply in call.session.score.replies:
        at_ms = at_ms if session else call.live.track.started[reply.index] / 1000
        words += [Word(w.text, round(at_ms + w.start_ms), round(at_ms + w.end_ms)) for w in reply.words or []]
        at_ms += reply.audio_us / 1000
    found = build_score(recorded(call, words={"agent": words})).replies
    for reply, original in zip(found, call.session.score.replies, strict=True):
        assert [word.text for word in reply.words or []] == reply.text.split()
        # silence before its first sound is not the reply's own
        begins = 0 if session else (reply.home_us - call.live.track.started[original.index]) / 1000
        for word, meant in zip(reply.words or [], original.words or [], strict=True):
            assert word.start_ms == pytest.approx(meant.start_ms - begins, abs=1)


def test_a_caller_who_keeps_silent_is_not_delegated() -> None:
    score = build_score(recorded(take("openai", False)))
    call = LiveCall(score).stream(500, 26_000).run()
    assert not call.of(HEARD)
    assert not call.of(DELEGATED)
    assert call.said() == "Parcel service, how can I help?"
    verdict = call.session.final_verdict()
    assert any(kind.startswith(DELEGATED) for kind in verdict.unplayed)
    assert "session.commentary.append" in verdict.unasked


def test_the_end_of_the_recording_is_the_end() -> None:
    call = take("openai", False)
    score = build_score(recorded(call))
    assert score.closing is not None
    session = make_session(score)
    session.opened(0)
    assert session.accept(REQUEST) is None
    assert (score.closing_cause, score.closing.code) == (("session.close", 0), 1005)


def test_without_any_audio_there_is_the_start() -> None:
    call = Recorded(parcel()).run(1000)
    score = build_score(recorded(call))
    assert [frame.cause for frame in score.frames] == [("session.start", 0)]
    assert check_fidelity(recorded(call)).ok


def test_a_refused_session_is_refused_again_whatever_is_asked() -> None:
    refusal = {"type": "error", "event_id": "e", "error": {"type": "rate_limit_error", "code": "rate_limit_exceeded"}}
    start = {"type": "session.start", "session": {"model": "fluid-1"}}
    frames = [Frame(1000, "client", encode(start)), Frame(51_000, "server", encode(refusal))]
    trace = Trace(Opening("/v1/live/sessions"), frames, Closing(52_000, 1013, "busy", "server"))
    cassette = Cassette(Header(dialect="live", profile="kugel", how="live"), trace)
    assert check_fidelity(cassette).ok
    call = LiveCall(build_score(cassette), instructions="Other ones.").run(5000)
    assert call.codes() == ["rate_limit_exceeded"]
    assert call.end is not None
    assert (call.end[0], call.end[1].code) == (51, 1013)


def encode(event: dict[str, object]) -> str:
    return msgspec.json.encode(event).decode()


def test_what_the_recorded_agent_did_not_say_is_not_said() -> None:
    """A real agent need not tell every commentary; only what the recording does not know is made up."""
    call = take("openai", False)
    silent = recorded(call)
    frames = list(silent.trace.frames)
    words = {"type": "session.commentary.append", "content": "The lift is out of order.", "delegation_id": None}
    ack = {"type": ACK, "event_id": "ack", "start_ms": 22_400, "end_ms": 22_600}
    frames += [Frame(23_000_000, "client", encode(words)), Frame(23_700_000, "server", encode(ack))]
    cassette = Cassette(silent.header, Trace(silent.trace.opening, sorted(frames, key=lambda f: f.t_us)))
    assert check_fidelity(cassette).ok
    again = LiveCall(build_score(cassette), react=answering()).stream(500, 30_000, (3500, "parcel-where"))
    again.append(23_000, "The lift is out of order.").append(24_000, "The stairs are closed.").run()
    assert "lift" not in again.said()
    assert again.said().endswith("The stairs are closed.")
