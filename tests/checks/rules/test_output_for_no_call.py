import pytest

from tests.checks.talk import Talk

from .calling import findings
from .small import Small


def broken_off(arguments: str | None = None) -> Talk:
    """A call whose response is cancelled in the middle of its arguments."""
    item = {"id": "item_call_1", "type": "function_call", "call_id": "call_1", "name": "look_up"}
    talk = Talk().ready().created(1000)
    talk.server(1100, "response.output_item.added", response_id="resp_1", item={**item, "arguments": ""})
    if arguments is not None:
        kind = "response.function_call_arguments.done"
        talk.server(1200, kind, response_id="resp_1", item_id="item_call_1", call_id="call_1", arguments=arguments)
    ended = {**item, "status": "incomplete", "arguments": arguments or '{"a": '}
    talk.server(1300, "response.output_item.done", response_id="resp_1", item=ended)
    return talk.done(1310, status="cancelled", status_details={"reason": "turn_detected"})


def test_a_call_that_was_broken_off_is_run() -> None:
    (found,) = broken_off().output(1500).findings("PRO309")
    assert "broken off before it was whole" in found.message


def test_who_leaves_it_alone_is_right() -> None:
    assert broken_off().append(9000, b"\0\0").findings("PRO309") == []


def test_a_call_that_had_come_whole_is_one_whatever_becomes_of_its_response() -> None:
    assert broken_off('{"a": 1}').output(1500).findings("PRO309") == []


def test_a_call_that_nobody_made() -> None:
    (found,) = Talk().ready().output(500, "call_9").findings("PRO309")
    assert "'call_9'" in found.message


def test_a_call_that_the_client_put_into_the_history_is_known() -> None:
    item = {"type": "function_call", "call_id": "call_9", "name": "look_up", "arguments": "{}"}
    talk = Talk().ready().client(400, "conversation.item.create", item=item).output(500, "call_9")
    assert talk.findings("PRO309") == []


@pytest.mark.parametrize(("output", "flagged"), [('{"booked": true}', 1), ('{"error": "no JSON object"}', 0)])
def test_cut_arguments_may_be_refused_but_not_run(output: str, flagged: int) -> None:
    assert len(broken_off('{"a": ').output(1500, output=output).findings("PRO309")) == flagged


class Runs(Small):
    """Runs a call with what there is of its arguments."""

    def look_up(self, arguments: str) -> str:
        return "booked"


def test_a_client_that_runs_what_is_there() -> None:
    assert len(findings("PRO309", Runs, "front-desk", "incomplete-call:call=0", cap_ms=30_000)) == 1
    assert findings("PRO309", Small, "front-desk", "incomplete-call:call=0", cap_ms=30_000) == []
