"""A client that acts on the world, one run at a time, each with a store of its own.

Such a client has a hook that says what is staged for a run and what came of it:

    class Desk:
        @classmethod
        def trial(cls, script: str, folder: Path) -> Trial: ...

It is asked for a Trial for each run, with an empty folder for what the run keeps. A client without the hook is called
as it is. `simrt call`, `simrt measure` and all that searches for faults stage their calls here.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import msgspec

from simrt.call import run_call
from simrt.caller import Line
from simrt.errors import CallError, WorldError
from simrt.faults.base import Fault
from simrt.replay.build import score_of
from simrt.replay.score import Score
from simrt.result import CallResult

Calling = Callable[..., CallResult]
"""`call(client, script, start=…)`: one more call with the seed of the run; options are those of run_call."""


class Trial(Protocol):
    """One run of a client that acts on the world.

    It may also have `prepare(self, call: Calling)`, for what went before the call that is measured: an earlier call,
    say; and `invariants`, a list of what must hold of its store (simrt.invariant).
    """

    def client(self, line: Line) -> Any:
        """The client; awaited."""
        ...

    def judge(self, result: CallResult) -> Mapping[str, Any]:
        """What came of the call, by outcome: an empty or false value does not count, a text or a list of texts says
        more. The same outcomes in the same order for each run."""
        ...


class Staged(msgspec.Struct):
    """One run, its store still there. `result` is None when the call came to nothing, and `error` then says why; a
    call that failed half-way has both. `trial`: None for a client without the hook."""

    result: CallResult | None = None
    error: str | None = None
    trial: Any = None

    def outcomes(self) -> dict[str, Any] | None:
        """What the trial says of the call; None: there is no trial, or no call."""
        return None if self.trial is None or self.result is None else dict(self.trial.judge(self.result))


@contextmanager
def staged(
    client: Any,
    script: str,
    faults: Sequence[Fault | str] = (),
    *,
    seed: int = 0,
    before: Sequence[Fault | str] = (),
    find: Callable[[str], Score] = score_of,
    **options: Any,
) -> Iterator[Staged]:
    """Call `client` once on the script or cassette that `find` finds by that name; its store is gone after the block.

    `before`: the faults of calls that the trial makes before the one that counts. `options` are those of `run_call`.
    Whatever the client does, there is a Staged: an error is part of it. PlanError: a fault can never fire.
    """
    hook = getattr(client, "trial", None)
    store = nullcontext("") if hook is None else tempfile.TemporaryDirectory(prefix="simrt-trial-", dir=_in_memory())
    with store as folder:
        trial: Any = None if hook is None else hook(script, Path(folder))
        run = Staged(trial=trial)

        def earlier(client: Any, script: str, **options: Any) -> CallResult:
            return run_call(client, find(script), before, seed=seed, **options)

        try:
            if hasattr(trial, "prepare"):
                trial.prepare(earlier)
            if own := getattr(trial, "invariants", ()):
                options["invariants"] = [*options.get("invariants", ()), *own]
            run.result = run_call(client if trial is None else trial.client, find(script), faults, seed=seed, **options)
        except (CallError, WorldError) as error:
            run.error, run.result = str(error), getattr(error, "result", None)
        yield run


def _in_memory() -> str | None:
    """Where files are kept in memory, if they are anywhere: a store that waits for a disk at each commit takes longer
    over it than the call takes, and no store outlives its call. None: the usual place, or the one that TMPDIR names."""
    shared = "/dev/shm"
    return shared if "TMPDIR" not in os.environ and os.access(shared, os.W_OK | os.X_OK) else None
