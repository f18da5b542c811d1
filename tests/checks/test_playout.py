from simrt.checks.playout import expected
from tests.checks.talk import Talk


def plays(talk: Talk, *stops_ms: float) -> list[tuple[float, float]]:
    case = talk.case()
    found = expected(case.responses, [round(ms * 1000) for ms in stops_ms])
    return [(low / 1000, high / 1000) for low, high in found.values()]


def test_pieces_queue_up_behind_one_another() -> None:
    talk = Talk().ready().audio(200, 300).audio(210, 200).audio(1000, 100)
    assert plays(talk) == [(200, 500), (500, 700), (1000, 1100)]


def test_the_queue_is_dropped_when_the_caller_talks() -> None:
    talk = Talk().ready().audio(200, 300).audio(210, 200).audio(220, 500).audio(2000, 100)
    assert plays(talk, 600) == [(200, 500), (500, 600), (2000, 2100)]


def test_what_comes_after_the_stop_plays_at_once() -> None:
    talk = Talk().ready().audio(200, 3000).audio(700, 100, "resp_2", "item_2")
    assert plays(talk, 600) == [(200, 600), (700, 800)]
