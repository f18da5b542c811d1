"""When to ask for a reply. Pure: events in, decisions out.

A tool's output alone makes nobody speak: a `response.create` has to follow. It is refused while a response is
active, and it is one too many when the server has since started a reply that knew the output (because the
caller spoke, say). So each output is followed from being sent, over the server's word that it is in history,
to the first reply begun after that. A note to the model that is to be spoken about is followed like an output.
A response that broke down leaves the caller without an answer, and so does a request that was refused: it is asked
for again, but not for ever.
"""

ALREADY_ACTIVE = "conversation_already_has_active_response"
BROKEN = ("failed", "incomplete")
TRIES = 3  # responses in a row that may break down, requests in a row that may be refused


class Turns:
    """Which response is active and which tool outputs no reply has taken up yet."""

    def __init__(self) -> None:
        self.active: str | None = None
        self.begun = 0  # how many responses were
        self.asked_for = False  # whether we had asked for the last of them
        self._done: set[str] = set()
        self._sent: set[str] = set()  # call ids of outputs on their way
        self._in_history: set[str] = set()
        self._taken_on_trust: set[str] = set()  # by the reply we asked for, if that was ours
        self._asked = 0
        self._waiting = False  # for the response.created that answers our response.create
        self._broken = 0  # responses in a row
        self._refused = 0  # requests in a row

    @property
    def busy(self) -> bool:
        """Whether a response is active, or one is asked for or about to be."""
        return self.active is not None or self._waiting or bool(self._sent or self._in_history)

    @property
    def waiting(self) -> str | None:
        """The event id of our `response.create` that nothing has come of yet."""
        return f"reply-{self._asked}" if self._waiting else None

    def owe(self, what: str) -> None:
        """A reply should come, for a reason of its own."""
        self._in_history.add(what)

    def output_sent(self, call_id: str) -> None:
        """The output of this call (or the note of this item id) goes out, and a reply should follow it."""
        self._sent.add(call_id)

    def output_in_history(self, call_id: str) -> None:
        """The server has added the output to the conversation: replies that start from now on know it."""
        if call_id in self._sent:
            self._sent.remove(call_id)
            self._in_history.add(call_id)

    def started(self, response_id: str) -> None:
        """`response.created`."""
        self.begun += 1
        if response_id not in self._done:
            self.active = response_id
        self._in_history.clear()
        self.asked_for = self._waiting
        if self._waiting:
            self._waiting, self._refused = False, 0
            self._taken_on_trust, self._sent = self._sent, set()

    def finished(self, response_id: str, status: str = "completed") -> None:
        """`response.done`. One that broke down is owed, until that has happened too often."""
        if self.active == response_id:
            self.active = None
        if response_id in self._done:
            return
        self._done.add(response_id)
        self._broken = self._broken + 1 if status in BROKEN else 0
        if 0 < self._broken < TRIES:
            self._in_history.add(response_id)

    def ask(self) -> str | None:
        """The event id for a `response.create` to send now; None: nothing to ask for, or not yet."""
        if self.active is not None or self._waiting or not (self._sent or self._in_history):
            return None
        self._waiting = True
        self._asked += 1
        self._taken_on_trust = set()
        return f"reply-{self._asked}"

    def refused(self, event_id: str | None, code: str | None) -> bool:
        """An error event. If it refuses our `response.create`, the reply that started was not ours.

        True: it does, and no response is active after which to ask again.
        """
        if code != ALREADY_ACTIVE and (event_id is None or event_id != f"reply-{self._asked}"):
            return False
        self._waiting = False
        self._in_history |= self._taken_on_trust
        self._taken_on_trust = set()
        if self.active is not None:
            return False
        self._refused += 1
        if self._refused >= TRIES:
            self._sent, self._in_history = set(), set()
        return True
