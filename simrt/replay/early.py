"""How a Realtime response looks that ended before its time: cancelled, failed, or cut at a limit. Pure functions."""

import copy
from collections.abc import Mapping
from typing import Any

import msgspec

CLOSERS = (
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.output_text.done",
    "response.content_part.done",
    "conversation.item.done",
    "response.output_item.done",
    "response.done",
)
"""What a response that ends early still sends for the items that it has opened, GA names, in this order."""

_TEXT_DELTAS = (
    "response.output_audio_transcript.delta",
    "response.output_text.delta",
    "response.function_call_arguments.delta",
)


class Opened(msgspec.Struct):
    """An output item so far: its transcript, or the arguments of its call, and whether it is finished."""

    text: str = ""
    done: bool = False


def follow(opened: dict[str, Opened], kind: str, event: dict[str, Any]) -> None:
    """Take one event of the response into account."""
    item_id = item_of(event)
    if kind == "response.output_item.added":
        opened[item_id] = Opened()
    elif item_id in opened:
        if kind == "response.output_item.done":
            opened[item_id].done = True
        elif kind in _TEXT_DELTAS:
            opened[item_id].text += str(event.get("delta") or "")


def item_of(event: dict[str, Any]) -> str:
    """The id of the item that an event is about, "None" for none."""
    item = event.get("item")
    return str(item.get("id") if isinstance(item, dict) else event.get("item_id"))


def closed_early(
    event: dict[str, Any], opened: Mapping[str, Opened], status: str, details: dict[str, Any] | None
) -> dict[str, Any]:
    """A closing event, as it is when the response ends with only this of it sent."""
    event = copy.deepcopy(event)
    so_far = opened.get(item_of(event), Opened())
    for key in ("transcript", "text", "arguments"):
        if key in event:
            event[key] = so_far.text
    if isinstance(event.get("part"), dict):
        _cut_text(event["part"], so_far.text)
    if isinstance(event.get("item"), dict):
        _incomplete(event["item"], so_far)
    response = event.get("response")
    if isinstance(response, dict):
        response["status"], response["status_details"] = status, details
        output = [item for item in response.get("output") or [] if item.get("id") in opened]
        for item in output:
            _incomplete(item, opened[item["id"]])
        response["output"] = output
    return event


def _incomplete(item: dict[str, Any], so_far: Opened) -> None:
    if so_far.done:
        return
    item["status"] = "incomplete"
    if "arguments" in item:
        item["arguments"] = so_far.text
    for part in item.get("content") or []:
        _cut_text(part, so_far.text)


def _cut_text(part: dict[str, Any], text: str) -> None:
    for key in ("transcript", "text"):
        if key in part:
            part[key] = text
