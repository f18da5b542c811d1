import pytest

from clients.call import Call, DrainCall
from simrt import run_call
from simrt.audio import PCM24, ULAW8
from simrt.checks import Case
from simrt.result import CallResult
from simrt.trace import Trace

from .talk import Talk


@pytest.fixture(scope="module")
def plain() -> CallResult:
    return run_call(Call, "front-desk")


def test_an_empty_trace_is_a_case() -> None:
    case = Case.of_trace(Trace())
    assert (case.events, case.responses, case.calls, case.turns, case.appends) == ([], [], [], [], [])
    assert (case.end_us, case.hearing, case.ready_us, case.hung_up_by) == (0, None, None, None)


def test_events_have_their_new_names_and_leave_out_the_callers_audio() -> None:
    talk = Talk().ready()
    talk.append(110, b"\0" * 960)
    talk.server(120, "conversation.item.created", item={"id": "i"})
    talk.server(130, "response.audio.delta", response_id="r", item_id="i", delta="")
    case = talk.case()
    assert [event.kind for event in case.events[3:]] == ["conversation.item.added", "response.output_audio.delta"]
    assert [(e.t_us, e.frame) for e in case.connections[0].appends] == [(110_000, 3)]
    assert [(a.t_us, len(a.audio), a.format) for a in case.appends] == [(110_000, 960, PCM24)]


def test_appends_have_the_format_that_the_server_last_named() -> None:
    half = {"format": {"type": "audio/pcmu"}}
    talk = Talk().append(0, b"\0" * 960).ready(audio={"input": half}).append(200, b"\0" * 160)
    assert [append.format for append in talk.case().appends] == [PCM24, ULAW8]


def test_a_response_has_its_times_items_and_audio() -> None:
    talk = Talk().ready().client(200, "response.create").created(300).audio(400, 300).audio(450, 200)
    talk.audio(500, 100, item_id="item_2")
    talk.done(600, status="cancelled", status_details={"type": "cancelled", "reason": "turn_detected"})
    (response,) = talk.case().responses
    assert (response.first_us, response.done_us, response.status) == (300_000, 600_000, "cancelled")
    assert response.reason == "turn_detected"
    assert response.asked is not None
    assert response.asked.t_us == 200_000
    assert [(item.id, item.audio_us) for item in response.items] == [("item_1", 500_000), ("item_2", 100_000)]
    assert [(piece.from_us, piece.audio_us) for piece in response.items[0].pieces] == [(0, 300_000), (300_000, 200_000)]
    assert response.audio_us == 600_000


def test_a_refused_response_create_is_answered_by_no_response() -> None:
    talk = Talk().ready().turn(200, 900).created(950)
    talk.client(1000, "response.create", event_id="mine")
    talk.error(1010, "conversation_already_has_active_response", "mine")
    talk.done(2000)
    case = talk.case()
    (ask,) = case.asks
    assert ask.refused is not None
    assert ask.response is None
    assert case.responses[0].asked is None
    assert case.errors[0].refuses is ask.event


@pytest.mark.parametrize("code", ["conversation_already_has_active_response", "response_cancel_not_active"])
def test_errors_without_a_name_are_told_by_their_code(code: str) -> None:
    talk = Talk().ready().client(1000, "response.create").client(1001, "response.cancel").error(1010, code)
    (error,) = talk.case().errors
    assert error.refuses is not None
    assert error.refuses.kind == ("response.cancel" if "cancel" in code else "response.create")


def test_calls_have_their_outputs() -> None:
    talk = Talk().ready().created(200).call(300, "call_1", arguments='{"a": 1}').call(310, "call_2").done(320)
    talk.output(400, "call_1").output(410, "call_1")
    one, two = talk.case().calls
    assert (one.name, one.arguments, one.ready_us, len(one.told)) == ("look_up", '{"a": 1}', 300_000, 2)
    assert [event.t_us for event in one.outputs] == [400_000, 410_000]
    assert two.outputs == []
    assert two.response is not None


def test_what_the_client_puts_into_the_history_is_no_call() -> None:
    item = {"id": "i", "type": "function_call", "call_id": "old", "name": "look_up", "arguments": "{}"}
    talk = Talk().ready().client(200, "conversation.item.create", item=item)
    talk.server(210, "conversation.item.added", item=item).server(210, "conversation.item.done", item=item)
    assert talk.case().calls == []


def test_turns_are_what_the_server_told_of() -> None:
    talk = Talk().ready().turn(500, 1500, "u1", "Hello.").turn(3000, 3200, "u2", "")
    one, two = talk.case().turns
    assert (one.first_us, one.over_us, one.text) == (500_000, 1_500_000, "Hello.")
    assert two.text == ""
    assert talk.case().caller_speech == [(500_000, 1_500_000), (3_000_000, 3_200_000)]


def test_what_is_known_of_the_turns_end() -> None:
    talk = Talk().ready(turn_detection={"type": "server_vad", "create_response": False})
    case = talk.case()
    assert case.detection(0, 50_000) == {}
    assert case.detection(0, 100_000) == {"type": "server_vad", "create_response": False}
    assert Talk().ready(audio={"input": {"turn_detection": None}}).case().detection(0, 200_000) is None


def test_agent_speech_of_a_recording_is_as_it_would_be_played() -> None:
    talk = Talk().ready().created(200).audio(300, 1000).audio(400, 1000).turn(1500, 2000).audio(2500, 100)
    assert talk.case().agent_speech == [(300_000, 1_500_000), (2_500_000, 2_600_000)]
    assert talk.case(timing="paced").agent_speech is None
    assert talk.case(agent_audio="truncated").agent_speech is None


def test_a_simulated_call_has_its_ear(plain: CallResult) -> None:
    case = Case.of_result(plain)
    hearing = case.hearing
    assert hearing is not None
    spoken = [response for response in case.responses if response.audio_us]
    assert [round(hearing.heard_us(r) / 1000) for r in spoken] == [round(r.heard_ms) for r in plain.replies]
    assert [hearing.of(r)[0].start_us / 1000 for r in spoken] == [r.from_ms for r in plain.replies]
    assert all(hearing.known(piece) for response in spoken for piece in response.pieces)
    assert case.agent_speech == hearing.speech
    assert case.ready_us == round((plain.ready_ms or 0) * 1000)
    assert (case.hung_up_by, case.end_us) == ("client", round(plain.virtual_ms * 1000))


def test_the_ear_tells_what_was_cut() -> None:
    result = run_call(DrainCall, "talk-over")
    case = Case.of_result(result)
    assert case.hearing is not None
    cut = [response for response in case.responses if response.status == "cancelled"]
    heard = next(reply for reply in result.replies if reply.cut_off)
    assert [round(case.hearing.heard_us(response) / 1000) for response in cut] == [round(heard.heard_ms)]
    assert case.hearing.clears


def test_a_call_over_an_8_khz_line_is_heard_too() -> None:
    case = Case.of_result(run_call(Call, "front-desk", format=ULAW8))
    assert case.hearing is not None
    spoken = [response for response in case.responses if response.audio_us]
    assert len(spoken) == 2
    assert all(case.hearing.heard_us(r) == pytest.approx(r.audio_us, abs=1000) for r in spoken)
    assert {append.format for append in case.appends} == {ULAW8}


def test_judging_costs_little_beside_calling(plain: CallResult) -> None:
    case = Case.of_result(plain)
    assert "appends" not in vars(case), "decoding the caller's audio is left to those who need it"
    assert case.responses is case.responses


def test_an_ask_that_was_lost_is_not_the_one_that_was_answered() -> None:
    talk = Talk().ready().client(1000, "response.create").client(9000, "response.create")
    case = talk.created(9100).done(9500).case()
    lost, again = case.asks
    assert lost.response is None
    assert again.response is case.responses[0]
