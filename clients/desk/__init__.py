"""A desk on a Realtime session: the plumbing that the shipped desks share. `await SomeDesk(line).run()` is a call."""

from .desk import Desk
from .dial import CallFailed
from .goodbye import GoodbyeDesk
from .tools import Output, Tool, ToolCall, ToolError

__all__ = ["CallFailed", "Desk", "GoodbyeDesk", "Output", "Tool", "ToolCall", "ToolError"]
