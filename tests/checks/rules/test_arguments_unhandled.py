import json

import pytest

from tests.checks.talk import Talk

from .calling import findings
from .small import Event, Small


@pytest.mark.parametrize(
    ("arguments", "what"), [("", "empty"), ('{"a": ', "no JSON object"), ("[1]", "no JSON object")]
)
def test_a_call_that_cannot_be_read_is_passed_by(arguments: str, what: str) -> None:
    talk = Talk().ready().created(1000).call(1100, arguments=arguments).done(1200).append(20_000, b"\0\0")
    (found,) = talk.findings("PRO310")
    assert what in found.message
    assert talk.findings("PRO307") == []


def test_an_output_that_says_so_is_right() -> None:
    talk = Talk().ready().created(1000).call(1100, arguments="").done(1200).output(1300).append(20_000, b"\0\0")
    assert talk.findings("PRO310") == []


class Breaks(Small):
    """Takes it that arguments are JSON."""

    def take(self, event: Event) -> None:
        json.loads(event["arguments"])
        super().take(event)


class Passes(Small):
    """Passes by a call without arguments."""

    def take(self, event: Event) -> None:
        if event["arguments"]:
            super().take(event)


EMPTY, BROKEN = "arguments:call=0,are=empty", "arguments:call=0,are=broken"


@pytest.mark.parametrize(("client", "fault"), [(Breaks, EMPTY), (Breaks, BROKEN), (Passes, EMPTY)])
def test_clients_that_cannot_take_it(client: type[Small], fault: str) -> None:
    (found,) = findings("PRO310", client, "front-desk", fault, cap_ms=30_000)
    assert found.evidence["call_id"]


@pytest.mark.parametrize("fault", [EMPTY, BROKEN])
def test_a_client_that_answers_them(fault: str) -> None:
    assert findings("PRO310", Small, "front-desk", fault, cap_ms=30_000) == []
