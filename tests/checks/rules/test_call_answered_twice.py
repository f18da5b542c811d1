from tests.checks.talk import Talk

from .calling import findings
from .small import Event, Small


def test_two_outputs_for_one_call() -> None:
    talk = Talk().ready().created(1000).call(1100).done(1200).output(1300).output(1400)
    (found,) = talk.findings("PRO308")
    assert found.t_ms == 1400
    assert "number 2" in found.message


def test_two_calls_have_an_output_each() -> None:
    talk = Talk().ready().created(1000).call(1100).call(1150, "call_2").done(1200)
    assert talk.output(1300).output(1400, "call_2").findings("PRO308") == []


def test_an_output_that_was_refused_may_be_sent_again() -> None:
    item = {"type": "function_call_output", "call_id": "call_1", "output": "x" * 10}
    talk = Talk().ready().created(1000).call(1100).done(1200)
    talk.client(1300, "conversation.item.create", event_id="e1", item=item).error(1320, "invalid_value", "e1")
    assert talk.output(1400).findings("PRO308") == []


class Repeats(Small):
    """Takes each telling of a call for a call."""

    def take(self, event: Event) -> None:
        self.seen.clear()
        super().take(event)


def test_a_client_that_runs_a_call_that_comes_again() -> None:
    again = "repeat-call:call=0"
    (found,) = findings("PRO308", Repeats, "front-desk", again)
    assert "told of 2 times" in found.message
    assert findings("PRO308", Small, "front-desk", again) == []
    assert findings("PRO308", Repeats, "front-desk") == []


def test_a_call_that_the_model_makes_twice_is_two() -> None:
    assert findings("PRO308", Small, "front-desk", "repeat-call:call=0,id=new") == []
