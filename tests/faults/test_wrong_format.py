import base64

import numpy as np
import pytest

from simrt.audio import ULAW8
from simrt.errors import PlanError
from simrt.faults import parse_fault
from tests.replay.hand import ULAW_UPDATE, Call, answer_tools, one_reply, samples_of, small, turn, update

from .runs import fired, plain, refused, with_fault

DELTA = "response.output_audio.delta"


def test_the_deltas_are_mu_law_though_pcm_was_agreed() -> None:
    call = with_fault("wrong-format")
    before, after = plain().of(DELTA)[0], call.of(DELTA)[0]
    pcm, ulaw = (base64.b64decode(got.event["delta"]) for got in (before, after))
    assert len(ulaw) * 6 == len(pcm)
    loudest = int(np.abs(np.frombuffer(pcm, np.int16).astype(np.int32)).max())
    assert abs(int(np.abs(ULAW8.decode(ulaw).astype(np.int32)).max()) - loudest) < 0.2 * loudest
    assert call.one("session.updated").event == plain().one("session.updated").event
    assert fired(call)[0] == (after.ms, "wrong-format")


@pytest.mark.parametrize("fault", ["wrong-format:to=pcm16", "wrong-format"])
def test_or_the_other_way_round(fault: str) -> None:
    call = Call(one_reply(), [fault], react=answer_tools)
    update(call, 60, audio={"output": {"format": {"type": "audio/pcmu"}}, **ULAW_UPDATE["audio"]})
    call.say(300, samples_of("booking"), ULAW8, tail_ms=6000)
    call.run()
    data = base64.b64decode(call.of(DELTA)[0].event["delta"])
    assert len(data) == 300 * 48
    assert call.ear.audio[0][2] == 300  # what the caller would hear of it, were it played rightly


def test_told_the_session_says_so() -> None:
    call = with_fault("wrong-format:told=yes")
    assert call.one("session.updated").event["session"]["audio"]["output"]["format"] == {"type": "audio/pcmu"}


def test_what_was_agreed_is_not_wrong() -> None:
    assert with_fault("wrong-format:to=pcm16").session.final_verdict().unfired == ["wrong-format:to=pcm16"]


def test_unknown_formats_are_refused() -> None:
    with pytest.raises(PlanError, match="to: "):
        parse_fault("wrong-format:to=mp3")


def test_without_audio_it_can_never_fire() -> None:
    assert "has no reply" in refused("wrong-format", small([turn("booking")]))
