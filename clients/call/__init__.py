"""The Harborview Inn's front desk on a Realtime session: one client that is right and two that are not.

    await Call(line).run()

`Call` loses no word at the start and no word of the goodbye. `NaiveCall` drops what the caller says before
the session is ready, and hangs up a second after the agent decides to. `DrainCall` starts like `Call`, but
takes an empty speaker for the end of the goodbye.
"""

from ..desk import CallFailed
from .calls import Call, DrainCall, NaiveCall
from .front_desk import FrontDesk

__all__ = ["Call", "CallFailed", "DrainCall", "FrontDesk", "NaiveCall"]
