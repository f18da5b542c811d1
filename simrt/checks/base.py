"""What a rule is, what it finds, and whom a finding blames.

A finding blames the *client*. Rules keep to one principle, so that nobody is blamed for what he could not mend:

1. *Duty*: the protocol, or the person on the phone, expects something of the client from a certain moment on. That is
   the moment when what calls for it had reached the client, by the wire or by the line, not when it happened elsewhere.
2. *Ability*: from then on the client could do it. The connection was open (or the client could have opened another),
   the caller was still there, the server had sent what is needed for it. Whatever only the server, the network or the
   caller could have done is no duty: audio that never came need not be played, and a response that is cut short by the
   end of the connection need not be whole.
3. *Allowance*: it was not done within a limit (`Limits`). Latency, a carrier's queue, a slow provider are everyday.

Silence, say, is dead air for whoever listens, but it is a finding only while the client owed something: an output, a
`response.create`, the audio that it had; or, after a long while, a second try for an answer that never came. What
nobody on the client's side could have mended is no finding, or one of severity "note", which tells what a listener
noticed and counts as no failure.

What a recording does not show (what was heard, times that an importer made up, audio that was cut) is not guessed at:
a rule that needs it is silent.
"""

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from simrt.errors import SimrtError
from simrt.faults.draw import Harm

if TYPE_CHECKING:
    from simrt.checks.case import Case
    from simrt.checks.events import Event

Severity = Literal["error", "note"]
Check = Callable[["Case"], Iterable["Finding"]]

GROUPS: dict[str, str] = {
    "CLR": "the caller's side: what was said, and what of it reached the server",
    "AGT": "the agent's side: what was sent, and what of it was heard",
    "PRO": "the protocol",
    "END": "how the call ends",
    "EFF": "effects: what must hold of the user's own store",
    "LIV": "Live sessions",
}
"""What the codes begin with."""


class Finding(msgspec.Struct, frozen=True):
    """Something that went wrong, and what a listener would have noticed of it.

    `t_ms` counts from pickup; in a recording, from the moment at which the connection opened. `connection` and `frame`
    say where to look: the number of the trace, and of the frame in it. `evidence` holds plain JSON values. A finding of
    severity "note" blames nobody.
    """

    code: str
    name: str
    t_ms: float
    message: str
    connection: int = 0
    frame: int | None = None
    evidence: dict[str, Any] = {}
    severity: Severity = "error"

    def __str__(self) -> str:
        place = f" (frame {self.frame})" if self.frame is not None else ""
        note = "note: " if self.severity == "note" else ""
        return f"{self.t_ms / 1000:.2f} s  {self.code} {self.name}: {note}{self.message}{place}"


class Flagged(AssertionError):
    """A call in which the rules found something; `findings` has all of it, notes included."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = list(findings)
        errors = [str(finding) for finding in findings if finding.severity == "error"]
        count = f"{len(errors)} finding{'s' if len(errors) != 1 else ''} in this call (simrt rule CODE explains each)"
        super().__init__("\n  ".join([f"{count}:", *errors]))


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The thresholds of the rules, all in ms. What lies within a limit is no finding.

    The defaults are meant for people on a telephone: what is beyond them is noticed.
    """

    hold_ms: float = 5000
    """How much of the caller's speech a client must be able to hold until the session can take it."""
    unheard_ms: float = 60
    """Audio of a reply that may go unheard: less is no sound that anybody misses."""
    hang_up_ms: float = 7500
    """How long a client must wait for a goodbye that does not end, counted from the tool call that hangs up."""
    barge_in_ms: float = 300
    """How long a reply may go on after the client was told that the caller talks, or that the reply is cancelled."""
    again_ms: float = 60
    """Audio that may be played another time, or out of order."""
    play_ms: float = 500
    """How long the client may take to play audio that it has (a jitter buffer, say)."""
    late_play_ms: float = 1500
    """How long the line may be quiet although the client has audio for it."""
    ask_ms: float = 3000
    """How long the line may be quiet while the client owes the server an output, or a `response.create`."""
    tool_ms: float = 10000
    """How long the line may be quiet while a tool runs."""
    failure_ms: float = 5000
    """How long the line may be quiet after a response that failed or was refused."""
    answer_ms: float = 15000
    """How long a client may wait in silence for a response that does not come, or does not go on, before it does
    something: asks (again), cancels, hangs up."""
    talk_over_ms: float = 2000
    """How long the agent may be heard while the caller talks, and the client knows it."""
    race_ms: float = 50
    """How long a client may act on what it knew before an event crossed its own on the wire."""
    truncate_ms: float = 100
    """How far a truncate may miss what was heard."""
    idle_ms: float = 10000
    """How long a client may take to hang up when the goodbye is over."""
    frozen_ms: float = 1000
    """How long a Live session may go without audio."""
    goodbye_ms: float = 1000
    """How long the line may stay open after everything is over (rules END4xx)."""
    notice_ms: float = 5000
    """How long a lost connection may go unnoticed (rules END4xx)."""


class Rule(msgspec.Struct, frozen=True):
    """One rule. `explanation` is its module's docstring. `harm`: up to which harm of a plan's faults a finding blames
    the client (see simrt.faults.draw.Harm); a search leaves out the findings of a rule where the plan does more harm.
    """

    code: str
    name: str
    summary: str
    explanation: str
    check: Check
    harm: Harm = "survivable"

    def find(self, case: "Case") -> list[Finding]:
        """What this rule finds in a case."""
        return [msgspec.structs.replace(found, code=self.code, name=self.name) for found in self.check(case)]


_registered: dict[str, Rule] = {}


def rule(code: str, name: str, summary: str, harm: Harm = "survivable") -> Callable[[Check], Check]:
    """Make a rule of a function that takes a Case and yields findings, which `found` makes without code and name."""

    def register(check: Check) -> Check:
        explanation = sys.modules[check.__module__].__doc__ or summary
        known = _registered.get(code)
        if known is not None and known.check.__module__ != check.__module__:
            raise ValueError(f"the code {code} is {known.name}'s already")
        _registered[code] = Rule(code, name, summary, explanation.strip(), check, harm)
        return check

    return register


def found(
    when: "int | Event",
    message: str,
    *,
    event: "Event | None" = None,
    connection: int = 0,
    frame: int | None = None,
    severity: Severity = "error",
    **evidence: Any,
) -> Finding:
    """A finding for a rule to yield; the rule's code and name are put in later. `when`: an Event, or µs of the call.

    With µs, `event` (or `connection` and `frame`) says where to look.
    """
    event = event if isinstance(when, int) else when
    t_us = when if isinstance(when, int) else when.t_us
    if event is not None:
        connection, frame = event.connection, event.frame
    return Finding("", "", t_us / 1000, message, connection, frame, evidence, severity)


@cache
def all_rules() -> tuple[Rule, ...]:
    """All rules, by code: those of the modules in simrt.checks.rules."""
    package = importlib.import_module("simrt.checks.rules")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return tuple(_registered[code] for code in sorted(_registered))


def find_rule(code: str) -> Rule:
    """The rule of that code or name; SimrtError names the nearest where there is none."""
    wanted = code.strip()
    for known in all_rules():
        if wanted.upper() == known.code or wanted.lower() == known.name:
            return known
    names = [name for known in all_rules() for name in (known.code, known.name)]
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "simrt rule lists them"
    raise SimrtError(f"there is no rule {code!r}; {hint}")


def chosen(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> list[Rule]:
    """The rules whose code begins with one of `select` (none given: all), without those that one of `ignore` begins.

    The longer prefix counts: `select=["AGT201"], ignore=["AGT"]` leaves AGT201. SimrtError for a prefix that no rule's
    code begins with.
    """
    for prefix in (*select, *ignore):
        if not prefix or not any(known.code.startswith(prefix.upper()) for known in all_rules()):
            groups = ", ".join(GROUPS)
            raise SimrtError(
                f"no rule's code begins with {prefix!r}; codes begin with {groups} (simrt rule lists them)"
            )

    def reach(code: str, prefixes: Sequence[str]) -> int:
        return max((len(prefix) for prefix in prefixes if code.startswith(prefix.upper())), default=-1)

    return [
        known
        for known in all_rules()
        if (max(reach(known.code, select), -1 if select else 0)) > reach(known.code, ignore)
    ]


def judge(
    case: "Case",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
    invariants: Sequence[Any] = (),
) -> list[Finding]:
    """What the rules find in a case, in the order of time.

    `limits` replaces the case's own. `invariants` (see simrt.invariant) are asked about a simulated call; what does not
    hold is a finding of EFF501. SimrtError for a prefix that no rule has.
    """
    wanted = chosen(select, ignore)
    if limits is not None:
        case.limits = limits
    case.ask(invariants)
    findings = [finding for known in wanted for finding in known.find(case)]
    return sorted(findings, key=lambda finding: (finding.t_ms, finding.connection, finding.frame or 0, finding.code))
