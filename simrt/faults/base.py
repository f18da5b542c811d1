"""What a fault is: a value that a user writes, and the armed thing that acts on one call.

The pipeline that a server frame passes, and where a fault can act on it:

    score ──> extend ──> session ──> shift ──> (due) ──> emit ──> hold ──> the client
              (turns and  schedules   later or  drop,     the network
              replies are a frame     earlier   repeat    delays
              changed)
    the client ──> hold_inbound ──> gate ──> session ──> asked (a response is wanted): give another
                   the network      refuse,         ├──> speak (a commentary is to be said, Live): later, or never
                                    ignore
    connection: refuse (before it opens), timers (close, reset, error events), pong
    caller: says (barge-in), recast (the lines that it has anyway)
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from simrt.caller.cue import ReplyKey, Say
from simrt.errors import PlanError
from simrt.faults.draw import Draw, Harm
from simrt.replay.score import Score, ScoredFrame
from simrt.wire import Refusal, Request

if TYPE_CHECKING:
    from simrt.replay.live import LiveSession
    from simrt.replay.realtime import RealtimeSession

Ms = Annotated[int, msgspec.Meta(ge=0, extra={"unit": "ms"})]


class Send(msgspec.Struct):
    """A server frame on its way out. `frame` is the scored frame that it plays, None for one that was made up."""

    payload: str | bytes
    kind: str
    frame: ScoredFrame | None = None
    synthetic: bool = False
    reply: ReplyKey | None = None
    audio: bytes = b""


class End(msgspec.Struct, frozen=True):
    """The server ends the connection: with a close frame, or with a reset (no close frame)."""

    code: int = 1000
    reason: str = ""
    reset: bool = False


Action = Send | End


class Context:
    """What an armed fault may use: the seeded generator, marks in the trace, timers on the session, and the session.

    `cassette` is the score as it is without faults: what a fault's numbers mean; `score` is the one that is played.
    `session` is a RealtimeSession, and `live` a LiveSession, only where `Fault.check` has made sure of the dialect.
    """

    session: RealtimeSession
    live: LiveSession

    def __init__(self, score: Score, seed: int) -> None:
        self.score = self.cassette = score
        self.seed = seed
        self.refusals = 0  # how many connections of this call were refused before
        self.connections = 0  # how many were let in before
        self.ended: Counter[int] = Counter()  # how many a fault has ended, by its number in the plan
        self.mark: Callable[[int, str, dict[str, Any]], None] = lambda t_us, kind, detail: None
        self.put: Callable[[int, Action, Armed], None] = lambda due_us, action, armed: None
        self.do: Callable[[int, Armed, Callable[[int], None]], None] = lambda due_us, armed, then: None

    def rng(self, number: int) -> random.Random:
        """A generator of its own for the plan's fault of that number."""
        return random.Random(f"{self.seed}:{number}")


class Armed:
    """One fault in one call. Every hook is optional; the ones here do nothing.

    `by_place`: it shifts frames by their place in a reply's audio, so not those that close a reply which was cut off.
    """

    by_place: ClassVar[bool] = False

    def __init__(self, fault: Fault, context: Context, number: int) -> None:
        self.fault = fault
        self.context = context
        self.rng = context.rng(number)
        self.fired = False

    def fire(self, t_us: int, **detail: Any) -> None:
        """Note in the trace that the fault acted (the first time only)."""
        if not self.fired:
            self.fired = True
            self.context.mark(t_us, "fault", {"fault": str(self.fault), **detail})

    def refuse(self, request: Request) -> Refusal | None:
        """Answer the opening handshake with an HTTP status instead."""
        return None

    def opened(self, now_us: int) -> None:
        """The connection is open: timers can be set with `context.put`."""

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        """A frame is scheduled: when it shall be due instead. `fire` is called for it once it is really sent."""
        return due_us

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        """A frame is due: what goes out in its place."""
        return (send,)

    def hold(self, send: Send, now_us: int) -> int:
        """A frame enters the network: when it comes out (the order is kept)."""
        return now_us

    def hold_inbound(self, now_us: int, size: int) -> int:
        """A client frame of `size` bytes enters the network: when it reaches the server (the order is kept)."""
        return now_us

    def pong(self, now_us: int) -> int:
        """A ping of the client has come: when it is answered."""
        return now_us

    def acted(self, now_us: int) -> None:
        """The caller has done what the fault has them do."""
        self.fire(now_us)

    def gate(self, event: dict[str, Any], now_us: int) -> bool:
        """A control event of the client has reached the server: True if it goes no further."""
        return False

    def asked(self, now_us: int) -> bool:
        """The client asks for a response and may have one: True if the fault gives it one of its own."""
        return False

    def speak(self, nth: int, now_us: int) -> int | None:
        """Live: the session's nth commentary is to be spoken; how much later it is than it would, None: never."""
        return 0


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault as a user writes it; each has its module, and its `name` in the compact form."""

    name: ClassVar[str] = ""
    apart: ClassVar[tuple[str, ...]] = ()
    """Names of faults that a search does not draw together with this one: both at once happen to nobody."""

    @classmethod
    def draw(cls, draw: Draw) -> Fault | None:
        """One of these for a search, its values taken from `draw` (see simrt.faults.draw); None: not for a search.

        PlanError where it makes no sense for the cassette. As it stands here: the fault with its defaults.
        """
        return cls()

    def harm(self) -> Harm:
        """What it does to a client that makes no mistake; see simrt.faults.draw.Harm."""
        return "legal"

    def check(self, score: Score) -> None:
        """PlanError if this can never fire on that cassette."""

    def extend(self, score: Score, number: int, rng: random.Random) -> Score:
        """The score with what this fault adds to it or changes (a caller turn, say); `number` is its place in the
        plan, `rng` the seeded generator that `arm` has too, from its beginning. The score that came stays as it is."""
        return score

    def says(self, score: Score) -> list[Say]:
        """What the caller says or does because of it. The fault has fired once one of these has."""
        return []

    def recast(self, lines: list[Say], score: Score, number: int) -> list[Say]:
        """The caller's lines that are not the fault's own, with what it changes in them."""
        return lines

    def arm(self, context: Context, number: int) -> Armed:
        """The acting side, for one call."""
        return Armed(self, context, number)

    def __str__(self) -> str:
        return compact(self)

    def never(self, why: str) -> PlanError:
        """The error for a fault that can never fire."""
        return PlanError(f"fault {self} can never fire: {why}")

    def about(self, dialect: str, score: Score) -> None:
        """PlanError if the cassette speaks another protocol than `dialect`."""
        if score.dialect != dialect:
            name = {"realtime": "Realtime", "live": "Live"}[dialect]
            raise self.never(f"it is about the {name} protocol, and this cassette's is {score.dialect}")

    def find_reply(self, score: Score, reply: int) -> tuple[int, int]:
        """The number of the reply that `reply` means (negative: from the end), and its audio in ms."""
        own = [r for r in score.replies if isinstance(r.index, int)]
        if not -len(own) <= reply < len(own):
            many = f"{len(own)} replies with audio" if len(own) != 1 else "1 reply with audio"
            raise self.never(f"the cassette has {many}, so reply={reply} is not there")
        found = own[reply]
        return int(found.index), found.audio_us // 1000

    def find_event(self, score: Score, event: str, nth: int) -> ScoredFrame:
        """The nth server frame of that type (negative: from the end)."""
        matching = [f for f in score.own_frames if f.kind == event]
        if not matching:
            kinds = sorted({f.kind for f in score.own_frames if f.kind})
            raise self.never(f"the cassette has no {event!r} event; it has: {', '.join(kinds)}")
        if not -len(matching) <= nth < len(matching):
            raise self.never(f"the cassette has {len(matching)} {event!r} events, so nth={nth} is not there")
        return matching[nth]


def compact(fault: Fault) -> str:
    """`stall:reply=-1,at=1500ms,for=500ms`; values at their default are left out, a text with a comma is quoted."""
    parts = []
    for info in msgspec.structs.fields(fault):
        value = getattr(fault, info.name)
        if value == info.default:
            continue
        if isinstance(value, str) and (value != value.strip() or not value or "," in value or '"' in value):
            value = msgspec.json.encode(value).decode()
        unit = "ms" if is_duration(info.type) else ""
        parts.append(f"{info.encode_name}={value}{unit}")
    return f"{fault.name}:{','.join(parts)}" if parts else fault.name


def is_duration(kind: Any) -> bool:
    """Whether a field's type is `Ms`, or `Ms | None`."""
    options = getattr(kind, "__args__", ()) if not hasattr(kind, "__metadata__") else ()
    meta = getattr(kind, "__metadata__", ())
    return any(getattr(m, "extra", None) == {"unit": "ms"} for m in meta) or any(is_duration(o) for o in options)
