"""Random Live calls, as if they had been recorded, come back as they were."""

from random import Random
from typing import Any

import pytest

from simrt.cassette.script import Step
from simrt.replay.fidelity import check_fidelity
from tests.replay.hand import React
from tests.replay.live_hand import DELEGATED, STATUS, Delegate, LiveCall, clip_ms, says, script, turn
from tests.replay.test_score_live import Recorded, recorded

TEXTS = [STATUS, "Order 4711 has shipped.", "The depot burnt down.", "no"]
KINDS = ("commentary", "commentary", "thinking", "instructions")


def random_call(seed: int) -> Recorded:
    """A caller who says some of three things with pauses, a client that appends this and that, a mute now and then."""
    draw = Random(seed)
    profile = draw.choice(("openai", "kugel"))
    kugel = profile == "kugel"
    session: dict[str, Any] = {"kugel": {}} if kugel and draw.random() < 0.5 else {}

    def perhaps(step: Step) -> list[Step]:
        return [step] if draw.random() < 0.6 else []

    score = script(
        *perhaps(says("parcel-greeting", "start")),
        turn("parcel-where"),
        Delegate(),
        *perhaps(says("let-me-check")),
        says("status-4711", "commentary"),
        turn("hang-on"),
        *perhaps(says("take-your-time")),
        turn("thats-all"),
        says("parcel-goodbye"),
        profile=profile,
        lag_ms=draw.choice((100, 800)),
        silence_ms=draw.choice((200, 500)),
    )
    call = Recorded(score, (), answering_at_random(draw, kugel), **session)
    start = 500 + draw.random() * 1000
    at = start + draw.choice((300, 900, 2500))
    clips = []
    for clip in ("parcel-where", "hang-on", "thats-all"):
        if draw.random() < 0.8:
            clips.append((at, clip))
        at += clip_ms(clip) + draw.choice((900, 1500, 3000, 6000))
    end = at + 5000
    call.stream(start, end, *clips)
    for k in range(draw.randrange(3)):
        moment = start + draw.random() * (end - start)
        call.append(moment, draw.choice(TEXTS), draw.choice(KINDS), event_id=f"x{k}")
    if draw.random() < 0.2:
        call.send(start + draw.random() * 2000, {"type": "session.input_audio.mute"})
        call.send(start + 2500 + draw.random() * 2000, {"type": "session.input_audio.unmute"})
    if draw.random() < 0.8:
        call.send(end, {"type": "session.close"})
    return call.run(end + 3000)


def answering_at_random(draw: Random, kugel: bool) -> React:
    """One or two appends to each delegation; a question now and then, some of them where none may stand."""

    def react(call: object, ms: float, event: dict[str, Any]) -> None:
        if event.get("type") != DELEGATED or not isinstance(call, LiveCall):
            return
        for _ in range(draw.choice((1, 1, 2))):
            question = {"expects_reply": True} if kugel and draw.random() < 0.3 else {}
            after, kind = draw.choice((1, 100, 300, 2500)), draw.choice(KINDS[:3])
            call.append(ms + after, draw.choice(TEXTS), kind, event["delegation"]["id"], **question)

    return react


@pytest.mark.parametrize("seed", range(12))
def test_a_random_call_comes_back_as_it_was(seed: int) -> None:
    fidelity = check_fidelity(recorded(random_call(seed)))
    assert fidelity.ok, fidelity.difference


@pytest.mark.slow
def test_many_random_calls_come_back_as_they_were() -> None:
    differing = [seed for seed in range(100, 300) if not check_fidelity(recorded(random_call(seed))).ok]
    assert differing == []
