"""Delegations, what was appended to them, and what became of it."""

from pathlib import Path

from simrt.cassette.importers import import_file
from simrt.delegations import delegations

from .live_traces import acked, append, created, failed, heard, spoken, trace


def outcomes(*sent: object) -> list[tuple[str, str]]:
    return [(found.id, found.outcome) for found in delegations(trace(*sent))]  # type: ignore[arg-type]


def fates(*sent: object) -> list[str]:
    return [put.fate for found in delegations(trace(*sent)) for put in found.appends]  # type: ignore[arg-type]


def test_an_answered_delegation() -> None:
    (found,) = delegations(
        trace(
            created(1000, "d1", 900),
            spoken(1010),
            append(1100, "thinking", "Checking.", "d1"),
            append(1200, "commentary", "It arrives tomorrow.", "d1"),
            heard(1500),
            acked(1900, "thinking", 1200),
            acked(2000, "commentary", 1400),
        )
    )
    assert (found.id, found.offset_ms, found.created_us, found.outcome) == ("d1", 900, 1_000_000, "answered")
    assert [put.kind for put in found.appends] == ["thinking", "commentary"]
    assert [put.fate for put in found.appends] == [
        "placed at 1200–1400 ms, 800 ms later",
        "placed at 1400–1600 ms, 800 ms later",
    ]


def test_what_may_become_of_a_delegation() -> None:
    for sent, outcome in (
        ([], "never answered"),
        ([append(2, "thinking", "x", "d1"), acked(900, "thinking", 0)], "progress only"),
        ([append(2, "commentary", "x", "d1")], "answer not placed"),
        ([append(2, "commentary", "x", "d1"), failed(9, "context_injection_incomplete")], "answer not placed"),
        ([append(2, "commentary", "x", "d1"), failed(9, "invalid_value", param="content")], "answer refused"),
        ([append(2, "commentary", "x", "d1"), acked(900, "commentary", 0)], "answered"),
    ):
        assert outcomes(created(1, "d1", 0), *sent) == [("d1", outcome)]


def test_two_that_are_open_at_once_are_kept_apart() -> None:
    found = delegations(
        trace(
            created(1, "d1", 0),
            created(2, "d2", 100),
            append(3, "commentary", "second", "d2"),
            append(4, "commentary", "first", "d1"),
            acked(800, "commentary", 200),
        )
    )
    assert [(each.id, each.outcome) for each in found] == [("d1", "answer not placed"), ("d2", "answered")]


def test_the_clients_id_goes_before_the_order() -> None:
    assert fates(
        append(1, "commentary", "a", event_id="c1"),
        append(2, "commentary", "b", event_id="c2"),
        acked(802, "commentary", 400, client_event_id="c2"),
        failed(900, "context_injection_incomplete", client_event_id="c1"),
    ) == ["not placed: context_injection_incomplete", "placed at 400–600 ms, 800 ms later"]


def test_without_ids_errors_at_the_close_go_by_the_order() -> None:
    assert fates(
        append(1, "commentary", "a"),
        append(2, "thinking", "b"),
        acked(801, "commentary", 0),
        failed(900, "context_injection_incomplete"),
    ) == ["placed at 0–200 ms, 800 ms later", "not placed: context_injection_incomplete"]


def test_a_refusal_without_an_id_is_for_the_latest() -> None:
    assert fates(
        append(1, "commentary", "a"),
        append(2, "commentary", "b " * 600),
        failed(3, "invalid_value", param="content"),
        acked(801, "commentary", 0),
    ) == ["placed at 0–200 ms, 800 ms later", "not placed: invalid_value"]


def test_errors_about_other_things_touch_no_append() -> None:
    assert fates(
        append(1, "commentary", "a", event_id="c1"),
        failed(2, "invalid_value", param="session.delegation.type"),
        failed(3, "invalid_value", param="content", client_event_id="other"),
        (4, "server", {"type": "error", "error": "odd"}),
    ) == ["never placed"]


def test_what_belongs_to_no_delegation_comes_last() -> None:
    found = delegations(
        trace(
            append(1, "instructions", "Be brief."),
            append(2, "commentary", "We close at six.", "unknown"),
            created(3, "d1", 0),
            acked(801, "instructions", 0),
            acked(802, "thinking", 0),
        )
    )
    assert [(each.id, len(each.appends)) for each in found] == [("d1", 0), ("", 2)]
    assert [put.content for put in found[1].appends] == ["Be brief.", "We close at six."]


def test_a_session_without_any() -> None:
    assert delegations(trace(heard(1), spoken(2))) == []


def test_the_published_log(recordings: Path) -> None:
    loaded = import_file(recordings / "gpt-live" / "delegation.jsonl")
    answered, loose = delegations(loaded.trace)
    assert (answered.id, answered.offset_ms, answered.outcome) == ("item_0001", 4600, "answered")
    assert [put.fate for put in answered.appends] == ["placed at 5400–5600 ms, 801 ms later"] * 2
    assert [put.fate for put in loose.appends] == ["placed at 600–800 ms, 1347 ms later"]
