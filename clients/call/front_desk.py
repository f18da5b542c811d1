"""The front desk of the Harborview Inn: what it says, what it can look up, and how it comes to hang up."""

from .desk import Desk
from .tools import Output, Tool, ToolCall

BOOKINGS = {
    ("okafor", "friday"): {
        "surname": "Okafor",
        "day": "Friday",
        "room": "214",
        "nights": 2,
        "breakfast": "7 to 10 in the Atrium",
    },
}


class FrontDesk(Desk):
    """Finds bookings, and ends the call with a goodbye. How the line is let go is for subclasses to say."""

    instructions = (
        "You answer the phone at the front desk of the Harborview Inn. Be warm and brief: one or two short "
        "sentences. Ask for a surname and a day if you lack them, then call lookup_booking; tell the caller "
        "the room, the number of nights and the breakfast hours, and ask whether there is anything else. When "
        "the caller needs nothing more, call end_call: its goodbye is spoken to the caller, so do not say "
        "goodbye in any other way."
    )

    def tools(self) -> list[Tool]:
        return [
            Tool(
                "lookup_booking",
                "Find a booking by the guest's surname and the day of arrival.",
                {
                    "surname": {"type": "string", "description": "The guest's surname."},
                    "day": {"type": "string", "description": "The day of the week, such as Friday."},
                },
                self._lookup_booking,
            ),
            Tool(
                "end_call",
                "Say goodbye and hang up, once the caller needs nothing more.",
                {
                    "goodbye": {
                        "type": "string",
                        "description": "The goodbye, word for word as the caller is to hear it.",
                        # The server speaks it, in the same response as the call. A model that is told to
                        # speak first and then to call does speak, but the call never comes.
                        "poly_spoken": True,
                    },
                    "reason": {"type": "string", "description": "Why the call ends, for the log."},
                },
                self._end_call,
            ),
        ]

    async def goodbye_over(self, call: ToolCall) -> bool:
        """Wait until the line may be let go. False: it may not, the caller has talked over the goodbye."""
        raise NotImplementedError

    async def _lookup_booking(self, call: ToolCall) -> Output:
        wanted = call.parse("surname", "day")
        surname, day = wanted["surname"], wanted["day"]
        booking = BOOKINGS.get((surname.casefold(), day.casefold()))
        if booking is not None:
            return Output({"found": True, **booking})
        if any(name == surname.casefold() for name, _ in BOOKINGS):
            return Output({"found": False, "message": f"{surname} has a booking, but none for {day}."})
        return Output({"found": False, "message": f"There is no booking under the surname {surname}."})

    async def _end_call(self, call: ToolCall) -> Output | None:
        # Broken arguments change nothing here: what was spoken was spoken by the server.
        if await self.goodbye_over(call):
            self.end("the call is finished")
            return None
        self.line.note("the caller talked over the goodbye: staying on the line")
        message = "The caller talked over the goodbye. The line is still open: answer, then call end_call again."
        return Output({"hung_up": False, "message": message}, reply=False)  # their turn brings the next reply
