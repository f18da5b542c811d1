"""The front desk clients against a scripted server, in virtual time."""

import asyncio
import base64
import json
from itertools import pairwise

import pytest
from websockets.asyncio.server import ServerConnection, serve

from clients.call import Call, DrainCall, NaiveCall
from clients.call import __main__ as command
from clients.desk.desk import Desk
from clients.desk.turns import ALREADY_ACTIVE, Turns
from simrt.audio import ULAW8, AudioFormat
from simrt.world import World
from tests.clients.scripted import URL, NumberedMicrophone, Outcome, Script, Server, greet_only, now_us, play

HEAVY = AudioFormat("pcm16", 192000)  # one second of it is more than the way out holds


def test_session_asks_for_what_the_desk_needs() -> None:
    outcome = play(Call, greet_only, caller_hangs_up_s=1)
    session = outcome.server.of("session.update")[0]["session"]
    pcm = {"type": "audio/pcm", "rate": 24000}
    assert session["type"] == "realtime"
    assert session["audio"]["input"]["format"] == pcm
    assert session["audio"]["output"]["format"] == pcm
    assert session["audio"]["input"]["turn_detection"] == {"type": "server_vad"}
    assert session["audio"]["input"]["transcription"]
    tools = {tool["name"]: tool["parameters"] for tool in session["tools"]}
    assert set(tools["lookup_booking"]["required"]) == {"surname", "day"}
    assert tools["end_call"]["properties"]["goodbye"]["poly_spoken"] is True
    assert "goodbye" in tools["end_call"]["required"]


def test_session_format_is_the_lines() -> None:
    outcome = play(Call, greet_only, format=ULAW8, caller_hangs_up_s=1)
    session = outcome.server.of("session.update")[0]["session"]
    assert session["audio"]["input"]["format"] == {"type": "audio/pcmu"}
    assert len(base64.b64decode(outcome.server.of("input_audio_buffer.append")[0]["audio"])) == 160


# The start


@pytest.mark.parametrize("client", [Call, DrainCall])
def test_held_frames_go_out_in_order_once_the_session_is_ready(client: type[Desk]) -> None:
    outcome = play(client, greet_only, ready_after_s=0.66, caller_hangs_up_s=2)
    frames = outcome.heard_frames
    assert frames == list(range(len(frames)))
    assert len(frames) >= 98
    ready_us = outcome.server.when("session.update")[0] + 660_000
    burst = [t_us for t_us in outcome.server.when("input_audio_buffer.append") if t_us == ready_us]
    assert len(burst) in (32, 33)
    assert "session ready 0.66 s after pickup" in outcome.notes


def test_nothing_is_sent_before_the_session_is_ready() -> None:
    outcome = play(Call, greet_only, ready_after_s=0.66, caller_hangs_up_s=2)
    assert next(event["type"] for _, event in outcome.server.got) == "session.update"
    assert min(outcome.server.when("input_audio_buffer.append")) >= 660_000


def test_past_the_cap_the_oldest_frames_go() -> None:
    outcome = play(Call, greet_only, ready_after_s=10.01, caller_hangs_up_s=12)
    frames = outcome.heard_frames
    assert frames[:250] == list(range(250, 500))
    assert all(after == before + 1 for before, after in pairwise(frames))
    assert "250 frames held, 250 dropped" in outcome.notes


def test_naive_call_drops_what_is_said_before_the_session_is_ready() -> None:
    outcome = play(NaiveCall, greet_only, ready_after_s=0.61, caller_hangs_up_s=2)
    frames = outcome.heard_frames
    assert frames[0] == 30
    assert all(after == before + 1 for before, after in pairwise(frames))


def test_no_frame_overtakes_the_queue_when_the_way_out_is_jammed() -> None:
    async def script(server: Server) -> None:
        await server.send("session.created", session={})
        await server.until("session.update")
        await asyncio.sleep(4)
        server.stop_reading()
        await server.send("session.updated", session={})
        await asyncio.sleep(3)
        server.go_on_reading()

    outcome = play(Call, script, format=HEAVY, caller_hangs_up_s=9)
    frames = outcome.heard_frames
    assert frames == list(range(len(frames)))
    assert len(frames) >= 440


def test_agent_is_heard_while_the_way_out_is_jammed() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        server.stop_reading()
        await asyncio.sleep(3)  # by now the client's socket takes nothing more
        await server.begin()
        await server.audio(400)
        await server.send("input_audio_buffer.speech_started", audio_start_ms=0)
        await server.done(status="cancelled")
        await server.begin("r2")
        await server.audio(500, "r2", "i2")
        await asyncio.sleep(1)
        server.go_on_reading()

    outcome = play(Call, script, format=HEAVY, caller_hangs_up_s=6)
    assert outcome.line.speaker.played_ms == 500 / 8  # the script sends 24 kHz


def test_microphone_opens_before_the_connection() -> None:
    outcome = play(Call, greet_only, status=503)
    assert isinstance(outcome.line.microphone, NumberedMicrophone)
    assert outcome.line.microphone.opened_us == 0


# Tools


def lookup(arguments: str, *, named: bool = True) -> Outcome:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", arguments, named=named)
        await server.done()

    return play(Call, script, caller_hangs_up_s=2)


def test_booking_is_found() -> None:
    outcome = lookup('{"surname": " okafor", "day": "FRIDAY"}')
    [(call_id, output)] = outcome.outputs
    assert call_id == "c1"
    assert output["found"] is True
    assert (output["room"], output["nights"]) == ("214", 2)
    assert output["breakfast"] == "7 to 10 in the Atrium"
    assert len(outcome.server.of("response.create")) == 1


def test_call_without_a_name_is_told_by_its_item() -> None:
    outcome = lookup('{"surname": "Okafor", "day": "Friday"}', named=False)
    assert outcome.outputs[0][1]["found"] is True


@pytest.mark.parametrize(
    ("surname", "day", "said"), [("Lindqvist", "Friday", "Lindqvist"), ("Okafor", "Sunday", "Sunday")]
)
def test_unknown_booking_is_said_to_be_unknown(surname: str, day: str, said: str) -> None:
    outcome = lookup(json.dumps({"surname": surname, "day": day}))
    [(_, output)] = outcome.outputs
    assert output["found"] is False
    assert said in output["message"]
    assert len(outcome.server.of("response.create")) == 1


@pytest.mark.parametrize(
    "arguments", ["", "{}", "[]", "null", '{"surname": "Okafor", "da', '{"surname": "Okafor", "day": 5}']
)
def test_broken_arguments_are_answered_with_an_error(arguments: str) -> None:
    outcome = lookup(arguments)
    [(call_id, output)] = outcome.outputs
    assert call_id == "c1"
    assert "lookup_booking" in output["error"]
    assert len(outcome.server.of("response.create")) == 1
    assert outcome.hung_up_us >= 2_000_000  # it went on


def test_call_that_was_broken_off_is_not_answered_and_the_response_is_asked_for_again() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", '{"surname": "Oka')
        await server.done("r1", "incomplete")

    outcome = play(Call, script, caller_hangs_up_s=6)
    assert outcome.outputs == []
    assert len(outcome.server.of("response.create")) == 1


def test_unknown_tool_is_answered_with_an_error() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("order_pizza", "{}")
        await server.done()

    [(_, output)] = play(Call, script, caller_hangs_up_s=2).outputs
    assert "order_pizza" in output["error"]


def test_tool_that_fails_is_answered_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clients.call.front_desk.BOOKINGS", None)
    outcome = lookup('{"surname": "Okafor", "day": "Friday"}')
    [(_, output)] = outcome.outputs
    assert "error" in output
    assert "lookup_booking failed" in outcome.notes


@pytest.mark.parametrize(("status", "answered"), [("completed", 1), (None, 1), ("incomplete", 0)])
def test_a_call_of_which_only_the_items_end_comes_is_run(status: str | None, answered: int) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        named = {"name": "lookup_booking", "arguments": '{"surname": "Okafor", "day": "Friday"}'}
        item = {"type": "function_call", "id": "item-c1", "call_id": "c1", "status": status, **named}
        await server.send("response.output_item.done", response_id="r1", item=item)
        await server.done()

    outcome = play(Call, script, caller_hangs_up_s=2)
    assert [call_id for call_id, _ in outcome.outputs] == ["c1"] * answered


def test_repeated_call_id_is_run_once() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        for _ in range(2):
            await server.call("lookup_booking", '{"surname": "Okafor", "day": "Friday"}')
        await server.done()

    outcome = play(Call, script, caller_hangs_up_s=2)
    assert len(outcome.outputs) == 1
    assert "came twice" in outcome.notes


# response.create


BOOKING = '{"surname": "Okafor", "day": "Friday"}'


def test_reply_is_asked_for_only_after_response_done() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", BOOKING)
        await server.until("conversation.item.create")
        await server.in_history()
        await asyncio.sleep(0.5)
        assert not server.of("response.create")
        await server.done()

    outcome = play(Call, script, caller_hangs_up_s=3)
    assert len(outcome.server.of("response.create")) == 1
    assert outcome.server.when("response.create")[0] - outcome.server.when("conversation.item.create")[0] >= 500_000


def test_two_calls_in_one_response_get_one_reply() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", BOOKING, "c1")
        await server.call("lookup_booking", BOOKING, "c2")
        await server.done()
        await server.until("response.create")
        await server.begin("r2")
        await server.done("r2")

    outcome = play(Call, script, caller_hangs_up_s=3)
    assert [call_id for call_id, _ in outcome.outputs] == ["c1", "c2"]
    assert len(outcome.server.of("response.create")) == 1


def test_no_reply_is_asked_for_when_one_began_after_the_output() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", BOOKING)
        await server.until("conversation.item.create")
        await server.in_history()
        await server.begin("r2")  # the caller's next turn; the server has dropped r1
        await server.done("r1", "cancelled")
        await asyncio.sleep(0.3)
        await server.done("r2")

    assert not play(Call, script, caller_hangs_up_s=3).server.of("response.create")


def test_reply_that_began_before_the_output_was_in_history_does_not_count() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", BOOKING)
        await server.done("r1", "cancelled")
        await server.begin("r2")  # crosses the output on the wire
        await server.until("conversation.item.create")
        await server.in_history()
        await asyncio.sleep(0.5)
        assert not server.of("response.create")
        await server.done("r2")

    assert len(play(Call, script, caller_hangs_up_s=3).server.of("response.create")) == 1


def test_request_that_another_reply_forestalled_is_made_again() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", BOOKING)
        await server.until("conversation.item.create")
        await server.done()
        await server.until("response.create")
        await server.begin("r2")  # begun before the output came, so it knows nothing of it
        await server.in_history()
        await server.send("error", error={"code": ALREADY_ACTIVE, "message": "busy", "event_id": "reply-1"})
        await asyncio.sleep(0.5)
        assert len(server.of("response.create")) == 1
        await server.done("r2")
        await server.until("response.create", 2)
        await server.begin("r3")
        await server.done("r3")

    assert len(play(Call, script, caller_hangs_up_s=3).server.of("response.create")) == 2


class TestTurns:
    def test_asks_nothing_without_an_output(self) -> None:
        turns = Turns()
        turns.started("r1")
        turns.finished("r1")
        assert turns.ask() is None

    def test_asks_once(self) -> None:
        turns = Turns()
        turns.output_sent("c1")
        assert turns.ask() == "reply-1"
        assert turns.ask() is None
        turns.started("r1")
        turns.finished("r1")
        assert turns.ask() is None

    def test_waits_for_the_active_response(self) -> None:
        turns = Turns()
        turns.started("r1")
        turns.output_sent("c1")
        assert turns.ask() is None
        turns.finished("r1")
        assert turns.ask() == "reply-1"

    def test_server_that_never_confirms_items_is_still_asked_once_only(self) -> None:
        turns = Turns()
        for number in (1, 2):
            turns.output_sent(f"c{number}")
            assert turns.ask() == f"reply-{number}"
            turns.started(f"r{number}")
            turns.finished(f"r{number}")
            assert turns.ask() is None

    def test_refusal_after_the_reply_that_knew_the_output_asks_no_more(self) -> None:
        turns = Turns()
        turns.output_sent("c1")
        turns.ask()
        turns.output_in_history("c1")
        turns.started("r1")  # the caller's turn, after the output and before our request
        turns.refused("reply-1", ALREADY_ACTIVE)
        turns.finished("r1")
        assert turns.ask() is None

    def test_other_errors_refuse_nothing(self) -> None:
        turns = Turns()
        turns.output_sent("c1")
        turns.ask()
        turns.refused(None, "invalid_value")
        assert turns.ask() is None

    @pytest.mark.parametrize("status", ["failed", "incomplete"])
    def test_response_that_broke_down_is_asked_for_again_but_not_for_ever(self, status: str) -> None:
        turns = Turns()
        asked = []
        for number in range(5):
            turns.started(f"r{number}")
            turns.finished(f"r{number}", status)
            asked.append(turns.ask())
        assert asked == ["reply-1", "reply-2", None, None, None]

    def test_one_that_went_well_counts_anew(self) -> None:
        turns = Turns()
        for number, status in enumerate(["failed", "failed", "completed", "failed"]):
            turns.started(f"r{number}")
            turns.finished(f"r{number}", status)
            asked = turns.ask()
        assert asked == "reply-3"

    def test_one_that_the_caller_cut_off_is_not_owed(self) -> None:
        turns = Turns()
        turns.started("r1")
        turns.finished("r1", "cancelled")
        assert turns.ask() is None

    def test_done_before_created_leaves_nothing_active(self) -> None:
        turns = Turns()
        turns.finished("r1")
        turns.started("r1")
        turns.output_sent("c1")
        assert turns.ask() == "reply-1"


# Barge-in


def barge_in(*, received_ms: int, after_s: float, complete: bool = False, beta: bool = False) -> Outcome:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(received_ms, beta=beta)
        if complete:
            await server.send("response.output_audio.done", response_id="r1", item_id="i1")
            await server.done()
        await asyncio.sleep(after_s)
        for _ in range(2):
            await server.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="u1")
        if not complete:
            await server.audio(200)  # already on the wire
            await server.done("r1", "cancelled")
            await server.audio(200)  # late
        await server.begin("r2")
        await server.audio(100, "r2", "i2")
        await server.done("r2")

    return play(Call, script, caller_hangs_up_s=6)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("beta", [False, True])
def test_barge_in_silences_the_reply_and_says_what_was_heard(complete: bool, beta: bool) -> None:
    outcome = barge_in(received_ms=1800, after_s=0.52, complete=complete, beta=beta)
    [truncate] = outcome.server.of("conversation.item.truncate")
    assert (truncate["item_id"], truncate["content_index"], truncate["audio_end_ms"]) == ("i1", 0, 520)
    assert outcome.line.speaker.played_ms == 520 + 100
    assert "520 of 1800 ms heard" in outcome.notes


def test_item_of_which_nothing_was_heard_is_deleted() -> None:
    server = barge_in(received_ms=1800, after_s=0.0, complete=True).server
    assert not server.of("conversation.item.truncate")
    assert len(server.of("conversation.item.delete")) == 1


def test_all_heard_is_not_truncated() -> None:
    outcome = barge_in(received_ms=400, after_s=0.6, complete=True)
    assert not outcome.server.of("conversation.item.truncate")
    assert outcome.line.speaker.played_ms == 400 + 100


def test_truncation_never_goes_beyond_what_was_received() -> None:
    outcome = barge_in(received_ms=400, after_s=0.6)  # the speaker ran empty, but the item was to go on
    [truncate] = outcome.server.of("conversation.item.truncate")
    assert truncate["audio_end_ms"] == 400


def test_only_the_item_that_was_playing_is_truncated() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        for number in (1, 2, 3):
            await server.begin(f"r{number}")
            await server.audio(1000, f"r{number}", f"i{number}")
            await server.done(f"r{number}")
        await asyncio.sleep(1.25)
        await server.send("input_audio_buffer.speech_started", audio_start_ms=0)

    outcome = play(Call, script, caller_hangs_up_s=5)
    cuts = [(event["item_id"], event["audio_end_ms"]) for event in outcome.server.of("conversation.item.truncate")]
    assert cuts == [("i2", 250)]


def test_item_is_all_heard_once_the_next_one_of_its_response_plays() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(600, "r1", "i1")
        await server.audio(600, "r1", "i2")
        await asyncio.sleep(0.75)
        await server.send("input_audio_buffer.speech_started", audio_start_ms=0)

    outcome = play(Call, script, caller_hangs_up_s=5)
    cuts = [(event["item_id"], event["audio_end_ms"]) for event in outcome.server.of("conversation.item.truncate")]
    assert cuts == [("i2", 150)]


def test_cancelled_response_falls_silent_without_speech_started() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(2000)
        await asyncio.sleep(0.7)
        await server.done("r1", "cancelled")

    outcome = play(Call, script, caller_hangs_up_s=5)
    assert outcome.line.speaker.played_ms == 700
    assert [event["audio_end_ms"] for event in outcome.server.of("conversation.item.truncate")] == [700]


@pytest.mark.parametrize("status", ["failed", "incomplete"])
def test_response_that_fails_is_noted_and_the_call_goes_on(status: str) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", BOOKING)
        await server.audio(300)
        await server.done("r1", status)

    outcome = play(Call, script, caller_hangs_up_s=3)
    assert status in outcome.notes
    assert outcome.line.speaker.played_ms == 300
    assert len(outcome.server.of("response.create")) == 1


# The end


def ending(goodbye_ms: int, *, stall_s: float = 0.0, done: str | None = "completed") -> Script:
    """A goodbye at speaking pace, after 1.5 s of it a stall, `response.done` 0.4 s after its last chunk."""

    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(300)
        await asyncio.sleep(0.046)
        await server.goodbye()
        await asyncio.sleep(0.154)
        sent = 300
        while sent < goodbye_ms:
            if sent == 1500:
                await asyncio.sleep(stall_s)
            chunk = min(200, goodbye_ms - sent)
            await server.audio(chunk)
            sent += chunk
            await asyncio.sleep(0.2)
        await asyncio.sleep(0.2)
        if done:
            await server.done("r1", done)

    return script


def test_call_plays_the_whole_goodbye() -> None:
    outcome = play(Call, ending(4900))
    assert outcome.line.speaker.played_ms == 4900
    assert outcome.line.hung_up_by == "client"
    assert outcome.server.close_code == 1000
    assert outcome.outputs == []
    assert outcome.leftovers == []


def test_call_plays_the_goodbye_through_a_stall() -> None:
    assert play(Call, ending(3000, stall_s=0.5)).line.speaker.played_ms == 3000


def test_call_waits_for_the_speaker_after_response_done() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(4900)
        await server.goodbye()
        await server.done()

    assert play(Call, script).line.speaker.played_ms == 4900


def test_naive_call_hangs_up_a_second_after_end_call() -> None:
    outcome = play(NaiveCall, ending(4900))
    assert outcome.line.speaker.played_ms == pytest.approx(1046, abs=1)
    assert outcome.server.close_code == 1000


def test_drain_call_is_right_without_a_stall_and_wrong_with_one() -> None:
    assert play(DrainCall, ending(4900)).line.speaker.played_ms == 4900
    assert 1400 < play(DrainCall, ending(3000, stall_s=0.5)).line.speaker.played_ms < 2000


def test_call_hangs_up_at_the_cap_when_response_done_never_comes() -> None:
    outcome = play(Call, ending(3000, done=None))
    assert outcome.line.speaker.played_ms == 3000
    assert outcome.hung_up_us == pytest.approx(8_046_000, abs=1000)
    assert "cap hit" in outcome.notes


@pytest.mark.parametrize("arguments", ["", '{"goodbye": "Bye'])
def test_broken_end_call_arguments_still_end_the_call(arguments: str) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(900)
        await server.call("end_call", arguments)
        await server.done()

    outcome = play(Call, script)
    assert outcome.line.speaker.played_ms == 900
    assert outcome.hung_up_us < 2_000_000


def talked_over(*, done_first: bool) -> Script:
    """The caller cuts in 0.5 s into the goodbye, is answered, and hears a second goodbye."""

    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(3000)
        await server.goodbye()
        if done_first:
            await server.done()
        await asyncio.sleep(0.5)
        await server.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="u1")
        if not done_first:
            await server.done("r1", "cancelled")
        await server.until("conversation.item.create")
        await server.in_history()
        await asyncio.sleep(1.5)
        await server.begin("r2")
        await server.audio(2000, "r2", "i2")
        await server.done("r2")
        await asyncio.sleep(3)
        await server.begin("r3")
        await server.goodbye("c2", "r3")
        await server.paced(2500, "r3", "i3")
        await server.done("r3")

    return script


@pytest.mark.parametrize("done_first", [False, True])
def test_call_stays_on_the_line_when_the_caller_talks_over_the_goodbye(done_first: bool) -> None:
    outcome = play(Call, talked_over(done_first=done_first))
    [(call_id, output)] = outcome.outputs
    assert call_id == "c1"
    assert "still open" in output["message"]
    assert not outcome.server.of("response.create")
    assert [event["audio_end_ms"] for event in outcome.server.of("conversation.item.truncate")] == [500]
    assert outcome.line.speaker.played_ms == 500 + 2000 + 2500
    assert outcome.line.hung_up_by == "client"


def test_a_reply_that_began_before_the_desk_knew_is_not_the_answer_to_a_lost_goodbye() -> None:
    """The caller's turn was over and its reply had begun when `response.done` told of the goodbye's end."""

    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(3000)
        await server.goodbye()
        await server.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="u1")
        await server.send("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id="u1")
        await server.begin("r2")
        await server.done("r1", "cancelled")
        await server.until("conversation.item.create")
        await server.in_history()
        await server.done("r2")

    outcome = play(Call, script, caller_hangs_up_s=6)
    assert len(outcome.server.of("response.create")) == 1


@pytest.mark.parametrize(
    ("status", "told"), [("cancelled", "still open"), ("failed", "again"), ("incomplete", "again")]
)
def test_call_stays_on_the_line_unless_the_goodbye_is_completed(status: str, told: str) -> None:
    outcome = play(Call, ending(2300, done=status), caller_hangs_up_s=6)
    assert told in outcome.outputs[0][1]["message"]
    assert len(outcome.server.of("response.create")) == 1  # nobody is speaking whose turn would bring a reply
    assert outcome.line.speaker.played_ms == 2300
    assert outcome.line.hung_up_by == "caller"


def test_call_does_not_hang_up_at_the_cap_on_a_caller_who_speaks() -> None:
    async def script(server: Server) -> None:
        await ending(2300, done=None)(server)
        await asyncio.sleep(3)
        await server.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="u")

    outcome = play(Call, script, caller_hangs_up_s=12)
    assert "still open" in outcome.outputs[0][1]["message"]
    assert outcome.line.hung_up_by == "caller"


@pytest.mark.parametrize("client", [NaiveCall, DrainCall])
def test_the_wrong_clients_hang_up_on_a_caller_who_talks_over_the_goodbye(client: type[Desk]) -> None:
    outcome = play(client, talked_over(done_first=False))
    assert outcome.line.speaker.played_ms == 500
    assert outcome.hung_up_us < 2_000_000


# Trouble


def test_refused_session_update_is_a_clear_error_and_nothing_is_pumped() -> None:
    async def script(server: Server) -> None:
        await server.send("session.created", session={})
        await server.until("session.update")
        error = {"code": "unsupported_parameter", "message": "no such tuning", "param": "session.audio.x"}
        await server.send("error", error=error)
        await asyncio.sleep(0.5)
        await server.send("session.updated", session={})

    outcome = play(Call, script)
    assert "unsupported_parameter" in str(outcome.error)
    assert "no such tuning" in str(outcome.error)
    assert [event["type"] for _, event in outcome.server.got] == ["session.update"]
    assert outcome.line.hung_up
    assert outcome.server.close_code == 1000
    assert outcome.leftovers == []


def refusal(status: int) -> str:
    outcome = play(Call, greet_only, status=status)
    assert outcome.error is not None
    assert outcome.line.hung_up
    assert outcome.leftovers == []
    assert "not-a-real-key" not in str(outcome.error)
    assert "model=" not in str(outcome.error)  # the query may hold a key
    return str(outcome.error)


def test_refusals_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("DIALOG_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    no_key = str(play(Call, greet_only, headers={}).error)
    messages = {status: refusal(status) for status in (401, 403, 429, 500, 503)}
    assert len({no_key, *messages.values()}) == 6
    assert "DIALOG_API_KEY" in no_key
    assert "DIALOG_API_KEY" in messages[401]
    assert "key" not in messages[429].lower()
    assert all(f"HTTP {status}" in message for status, message in messages.items())


def test_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def sent() -> str | None:
        request = play(Call, greet_only, headers={}, caller_hangs_up_s=1).server.connection.request
        assert request is not None
        return request.headers.get("Authorization")

    monkeypatch.setenv("OPENAI_API_KEY", "second")
    monkeypatch.setenv("DIALOG_API_KEY", "first")
    assert sent() == "Bearer first"
    monkeypatch.delenv("DIALOG_API_KEY")
    assert sent() == "Bearer second"


@pytest.mark.parametrize("url", ["https://desk.test/v1/realtime", "ws://elsewhere.test/v1/realtime"])
def test_wrong_address_is_a_clear_error(url: str) -> None:
    outcome = play(Call, greet_only, url=url)
    assert url in str(outcome.error)
    assert outcome.line.hung_up


def test_session_that_never_gets_ready_is_given_up() -> None:
    outcome = play(Call, greet_only, ready_after_s=50)
    assert "not ready after 30 s" in str(outcome.error)
    assert not outcome.server.of("input_audio_buffer.append")


def test_connection_closed_before_ready_is_a_clear_error() -> None:
    async def script(server: Server) -> None:
        await server.connection.close(1013, "try again later")

    outcome = play(Call, script)
    assert "1013 try again later" in str(outcome.error)


def test_caller_who_hangs_up_ends_the_call_also_before_it_is_ready() -> None:
    for ready_after_s in (0.2, 50.0):
        outcome = play(Call, greet_only, ready_after_s=ready_after_s, caller_hangs_up_s=1)
        assert outcome.error is None
        assert outcome.hung_up_us == pytest.approx(1_000_000, abs=1000)
        assert outcome.leftovers == []
        assert outcome.server.close_code == 1000


@pytest.mark.parametrize("code", [1001, 1011, None])
def test_lost_connection_is_noted_and_the_line_hung_up(code: int | None) -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await asyncio.sleep(1)
        if code is None:
            server.connection.transport.abort()
        else:
            await server.connection.close(code, "gone")

    outcome = play(Call, script)
    assert outcome.error is None
    assert "connection was lost" in outcome.notes
    assert str(code or "no close frame") in outcome.notes
    assert outcome.hung_up_us < 2_000_000
    assert outcome.leftovers == []


def test_connection_lost_during_the_goodbye_ends_the_call_at_once() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(3000)
        await server.goodbye()
        await asyncio.sleep(0.5)
        server.connection.transport.abort()

    outcome = play(Call, script)
    assert outcome.hung_up_us < 1_000_000
    assert outcome.leftovers == []


def test_error_events_and_garbled_messages_do_not_end_the_call() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.send("error", error={"code": "invalid_value", "message": "too short"})
        await server.send("error", error=None)
        for garbage in ("", "not json", "[1]", b"\x00\xff", '{"type": 5}', '{"type": "response.done"}'):
            await server.connection.send(garbage)
        await server.send("response.done", response=None)
        await server.send("response.output_audio.delta", response_id="r1", item_id="i1", delta="?")
        await server.send("response.created", response={})
        await server.send("response.function_call_arguments.done", arguments="{}")
        await server.begin()
        await server.audio(200)

    outcome = play(Call, script, caller_hangs_up_s=2)
    assert outcome.error is None
    assert "invalid_value: too short" in outcome.notes
    assert outcome.line.speaker.played_ms == 200
    assert outcome.hung_up_us >= 2_000_000


# The command


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({}, None),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, "ws://127.0.0.1:9/v1/realtime?model=gpt-realtime"),
        ({"OPENAI_BASE_URL": "https://h.test/v1/?model=m"}, "wss://h.test/v1/realtime?model=m"),
        ({"OPENAI_BASE_URL": "https://h.test/v1", "DIALOG_REALTIME_URL": "wss://d.test/x"}, "wss://d.test/x"),
    ],
)
def test_url_comes_from_the_environment(
    environment: dict[str, str], url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_BASE_URL", "DIALOG_REALTIME_URL"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert command.realtime_url() == url


def test_scripted_caller_speaks_at_pickup_and_when_the_answer_has_been_heard(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DIALOG_API_KEY", "any")
    spoken_us: list[int] = []
    answer_over_us = 0

    async def main() -> None:
        async def handler(connection: ServerConnection) -> None:
            nonlocal answer_over_us
            server = Server(connection, ready_after_s=0.3)
            reading = asyncio.create_task(server.read())
            await server.greet()
            await asyncio.sleep(6)
            await server.begin()
            await server.paced(3300)
            await server.done()
            await asyncio.sleep(0.3)
            answer_over_us = now_us()
            await asyncio.sleep(4)
            await server.begin("r2")
            await server.audio(900, "r2", "i2")
            await server.goodbye("c1", "r2")
            await server.done("r2")
            await reading
            for t_us, event in server.got:
                if event["type"] == "input_audio_buffer.append" and any(base64.b64decode(event["audio"])):
                    spoken_us.append(t_us)

        async with serve(handler, "desk.test", 80):
            await command.call(Call, URL)

    World().run(main())
    second_us = next(after for before, after in pairwise(spoken_us) if after - before > 2_000_000)
    assert spoken_us[0] == 300_000  # held until then
    assert 800_000 <= second_us - answer_over_us <= 900_000
    assert "session ready 0.30 s after pickup" in capsys.readouterr().out
