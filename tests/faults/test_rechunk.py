import base64

import pytest

from tests.replay.hand import Call

from .runs import fired, plain, refused, times, with_fault

DELTA = "response.output_audio.delta"


def pieces(call: Call, reply: int) -> list[bytes]:
    return [base64.b64decode(got.event["delta"]) for got in call.of(DELTA) if got.send.reply == reply]


def test_the_audio_is_the_same_in_other_pieces() -> None:
    call = with_fault("rechunk", seed=3)
    before, after = pieces(plain(), 1), pieces(call, 1)
    assert b"".join(after) == b"".join(before)
    assert [len(piece) for piece in after] != [len(piece) for piece in before]
    assert pieces(call, 0) == pieces(plain(), 0)


def test_the_lengths_are_drawn_to_the_sample() -> None:
    samples = [len(piece) // 2 for piece in pieces(with_fault("rechunk:least=5ms,most=90ms", seed=3), 1)]
    assert all(5 * 24 <= count <= 90 * 24 for count in samples[:-1])
    assert any(count % 2 for count in samples)


def test_a_fixed_length_is_possible() -> None:
    assert {len(piece) for piece in pieces(with_fault("rechunk:least=20ms,most=20ms"), 1)} == {960}


def test_none_comes_before_its_last_sample_did() -> None:
    for faults in ("rechunk:least=500ms,most=900ms", "rechunk:least=1ms,most=30ms"):
        call = with_fault(faults, seed=1)
        arrived = [
            (got.ms, len(base64.b64decode(got.event["delta"]))) for got in plain().of(DELTA) if got.send.reply == 1
        ]
        total, was = 0, []
        for ms, size in arrived:
            total += size
            was.append((total, ms))
        sent = 0
        for got in call.of(DELTA):
            if got.send.reply == 1:
                sent += len(base64.b64decode(got.event["delta"]))
                assert got.ms == next(ms for total, ms in was if total >= sent)


def test_the_reply_ends_when_it_did_for_the_caller() -> None:
    call = with_fault("rechunk", seed=2)
    assert [(reply, cut) for reply, _, cut in call.ear.ended] == [(0, False), (1, False)]
    assert times(call, "response.done") == times(plain(), "response.done")
    assert fired(call)[0][1] == "rechunk"


def test_the_same_seed_the_same_pieces() -> None:
    assert pieces(with_fault("rechunk", seed=5), 1) == pieces(with_fault("rechunk", seed=5), 1)
    assert pieces(with_fault("rechunk", seed=5), 1) != pieces(with_fault("rechunk", seed=6), 1)


@pytest.mark.parametrize("fault", ["rechunk:reply=4", "rechunk:least=0ms", "rechunk:least=50ms,most=20ms"])
def test_what_cannot_be_is_refused(fault: str) -> None:
    assert refused(fault)
