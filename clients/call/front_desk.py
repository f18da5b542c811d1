"""The front desk of the Harborview Inn: what it says, and what it can look up."""

from ..desk import GoodbyeDesk, Output, Tool, ToolCall

BOOKINGS = {
    ("okafor", "friday"): {
        "surname": "Okafor",
        "day": "Friday",
        "room": "214",
        "nights": 2,
        "breakfast": "7 to 10 in the Atrium",
    },
}


class FrontDesk(GoodbyeDesk):
    """Finds bookings, and ends the call with a goodbye."""

    cassettes = ("front-desk",)
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
            self.end_call_tool(),
        ]

    async def _lookup_booking(self, call: ToolCall) -> Output:
        wanted = call.parse("surname", "day")
        surname, day = wanted["surname"], wanted["day"]
        booking = BOOKINGS.get((surname.casefold(), day.casefold()))
        if booking is not None:
            return Output({"found": True, **booking})
        if any(name == surname.casefold() for name, _ in BOOKINGS):
            return Output({"found": False, "message": f"{surname} has a booking, but none for {day}."})
        return Output({"found": False, "message": f"There is no booking under the surname {surname}."})
