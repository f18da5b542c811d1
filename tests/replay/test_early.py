from typing import Any

from simrt.replay.early import Opened, closed_early, follow, item_of


def added(item_id: str) -> dict[str, Any]:
    return {"type": "response.output_item.added", "item": {"id": item_id}}


def told(*events: dict[str, Any]) -> dict[str, Opened]:
    opened: dict[str, Opened] = {}
    for event in events:
        follow(opened, event["type"], event)
    return opened


WORDS = "response.output_audio_transcript.delta"
ARGUMENTS = "response.function_call_arguments.delta"
HALF = told(
    added("m"),
    {"type": WORDS, "item_id": "m", "delta": "Good"},
    {"type": WORDS, "item_id": "m", "delta": " day"},
    added("c"),
    {"type": ARGUMENTS, "item_id": "c", "delta": '{"a'},
    {"type": ARGUMENTS, "item_id": "never opened", "delta": "x"},
)


def test_follows_what_was_opened_and_how_far_it_got() -> None:
    assert {"m": Opened("Good day"), "c": Opened('{"a')} == HALF
    whole = told(added("m"), {"type": "response.output_item.done", "item": {"id": "m"}})
    assert whole["m"].done


def test_events_name_their_item_in_two_ways() -> None:
    assert item_of({"item": {"id": "m"}}) == item_of({"item_id": "m"}) == "m"
    assert item_of({}) == "None"


def test_a_closing_event_tells_what_there_was() -> None:
    event = {"type": "response.output_audio_transcript.done", "item_id": "m", "transcript": "Good day to you."}
    assert closed_early(event, HALF, "cancelled", None)["transcript"] == "Good day"
    assert event["transcript"] == "Good day to you."
    part = {"type": "response.content_part.done", "item_id": "m", "part": {"transcript": "Good day to you."}}
    assert closed_early(part, HALF, "cancelled", None)["part"] == {"transcript": "Good day"}


def test_a_call_that_was_not_finished_has_the_arguments_so_far() -> None:
    item = {"id": "c", "type": "function_call", "status": "completed", "arguments": '{"a": 1}'}
    made = closed_early({"type": "response.output_item.done", "item": item}, HALF, "incomplete", None)
    assert (made["item"]["status"], made["item"]["arguments"]) == ("incomplete", '{"a')


def test_the_response_holds_what_was_opened_and_what_was_finished_stays_so() -> None:
    opened = {"m": Opened("Good day to you.", done=True), "c": Opened("")}
    output = [
        {"id": "m", "status": "completed", "content": [{"transcript": "Good day to you."}]},
        {"id": "c", "status": "completed", "arguments": "{}"},
        {"id": "later", "status": "completed", "arguments": "{}"},
    ]
    event = {"type": "response.done", "response": {"status": "completed", "output": output}}
    response = closed_early(event, opened, "failed", {"type": "failed"})["response"]
    assert (response["status"], response["status_details"]) == ("failed", {"type": "failed"})
    assert [(item["id"], item["status"]) for item in response["output"]] == [("m", "completed"), ("c", "incomplete")]
