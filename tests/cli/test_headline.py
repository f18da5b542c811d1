"""Figures of one call and of many."""

from simrt.cli.headline import Headline, of_many, of_one, summary_of

RIGHT = Headline(260.0, 12, 0, 4900.0, 4900.0)
NAIVE = Headline(660.0, 12, 2, 4900.0, 1045.25)
SILENT = Headline(None, None, None, None, None)


def test_one_call() -> None:
    assert of_one(NAIVE) == [
        "first words lost: 2 of 12 (session ready 0.66 s after pickup)",
        "goodbye played:   1.05 of 4.90 s",
    ]


def test_one_call_without_anything() -> None:
    assert of_one(SILENT) == [
        "first words lost: the caller said nothing (session never ready)",
        "goodbye played:   no reply was sent",
    ]


def test_many_calls() -> None:
    assert of_many([RIGHT, NAIVE, Headline(460.0, 12, 1, 4900.0, 1000.0)]) == [
        "3 runs",
        "first words lost: min 0, max 2, median 1 of 12",
        "session ready:    median 0.46 s after pickup",
        "goodbyes played:  in full 1 of 3, median 1.05 s",
    ]


def test_calls_without_a_figure_do_not_count_in_its_median() -> None:
    figures = summary_of([RIGHT, SILENT])
    assert figures["median_ready_ms"] == 260.0
    assert figures["words_lost"] == {"min": 0, "max": 0, "median": 0}
    assert (figures["goodbyes"], figures["goodbyes_in_full"], figures["runs"]) == (1, 1, 2)


def test_no_figures_at_all() -> None:
    assert of_many([SILENT])[1:] == [
        "first words lost: the caller said nothing",
        "session ready:    never",
        "goodbyes played:  no reply was sent",
    ]


def test_a_rounded_sample_is_no_missing_end() -> None:
    assert Headline(goodbye_ms=3000.0, goodbye_heard_ms=2999.96).goodbye_whole
    assert not Headline(goodbye_ms=3000.0, goodbye_heard_ms=2990.0).goodbye_whole
    assert not SILENT.goodbye_whole
