"""What a desk's tools are made of."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class ToolError(Exception):
    """A tool cannot do what it was asked; the message goes to the model as the call's output."""


@dataclass(frozen=True)
class ToolCall:
    """One function call of the model; `arguments` is JSON text, if the model kept to it."""

    name: str
    call_id: str
    response_id: str
    arguments: str

    def parse(self, *required: str) -> dict[str, str]:
        """The required arguments, stripped; ToolError when one is missing or the text is no JSON object."""
        given = self.given()
        values = {name: given.get(name) for name in required}
        missing = [name for name, value in values.items() if not isinstance(value, str) or not value.strip()]
        if missing:
            raise ToolError(f"{self.name} needs {' and '.join(missing)}. Ask the caller, then call it again.")
        return {name: str(value).strip() for name, value in values.items()}

    @property
    def whole(self) -> bool:
        """Whether the arguments are a JSON object: those of a call that was broken off are none."""
        try:
            return isinstance(json.loads(self.arguments), dict)
        except ValueError:
            return False

    def given(self) -> dict[str, Any]:
        """The arguments as they came; ToolError when the text is no JSON object."""
        if not self.whole:
            raise ToolError(f"The arguments of {self.name} were not a JSON object. Call it again.")
        given: dict[str, Any] = json.loads(self.arguments)
        return given


class Output(NamedTuple):
    """What a tool hands back to the model, and whether the model should reply to it."""

    result: dict[str, Any]
    reply: bool = True


@dataclass(frozen=True)
class Tool:
    """A function that the model may call. `run` returns None when the call (the phone call) is over."""

    name: str
    description: str
    parameters: dict[str, dict[str, Any]]  # all of them required: an optional one is often left out
    run: Callable[[ToolCall], Awaitable[Output | None]]

    def definition(self) -> dict[str, Any]:
        """The tool as `session.update` declares it."""
        parameters = {"type": "object", "properties": self.parameters, "required": list(self.parameters)}
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": parameters,
        }
