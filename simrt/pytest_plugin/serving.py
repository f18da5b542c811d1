"""`simrt_serve`: a cassette served inside the World of an asynchronous test."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from simrt.call import Conversation, finish, pick_up
from simrt.caller import Line
from simrt.cassette.store import Cassette
from simrt.errors import CallError, SimrtError
from simrt.faults.base import Fault
from simrt.faults.plan import check_plan, parse_plan
from simrt.pytest_plugin.cassettes import cassette_name, resolve
from simrt.pytest_plugin.failures import Call, log_of
from simrt.pytest_plugin.settings import settings_of
from simrt.replay.build import score_of
from simrt.replay.server import WebSocketServer
from simrt.result import CallResult
from simrt.stage import Stage
from simrt.world import VirtualLoop

_TAKEN = frozenset({"says", "seed", "url", "headers", "format", "cap_ms", "invariants"})


class Server:
    """The callable that the fixture `simrt_serve` gives."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._log = log_of(item)

    def __call__(
        self,
        cassette: Cassette | str | Path | None = None,
        faults: Sequence[Fault | str] | None = None,
        **more: Any,
    ) -> "Serving":
        """Pick up: from now on the caller speaks at its cues, and whoever connects is served the cassette.

        Arguments as for `run_call`, and the marker gives their defaults; `start` only the marker can give. Raises
        SimrtError outside a World, PlanError for a fault that can never fire.
        """
        __tracebackhide__ = True
        settings = settings_of(self._item)
        cassette = settings.get("cassette") if cassette is None else cassette
        faults = settings.get("faults", ()) if faults is None else faults
        if cassette is None:
            raise SimrtError('simrt_serve needs a cassette: simrt_serve("name"), or the marker\'s cassette=')
        options = {name: value for name, value in settings.items() if name in _TAKEN} | more
        try:
            loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        if not isinstance(loop, VirtualLoop):
            raise SimrtError("simrt_serve is called inside an asynchronous test, where the loop is a World's")
        score = score_of(resolve(self._item, cassette), options.pop("vad", settings.get("vad", "energy")))
        plan = parse_plan(faults or ())
        check_plan(plan, score)
        talk, stage = pick_up(_nobody, score, plan, **options)
        loop.network.listen("*", lambda: WebSocketServer(stage.accept), None)
        serving = Serving(talk, stage)
        name, kept = cassette_name(cassette), [str(fault) for fault in plan]

        def end() -> Call | None:
            result = serving.end()
            return None if result is None else Call(result, name, score.profile, kept)

        self._log.open.append(end)
        return serving


async def _nobody(line: Line) -> None:
    """The client is the test itself."""


class Serving:
    """A call that is going on. `line` is what a client gets."""

    def __init__(self, talk: Conversation, stage: Stage) -> None:
        self.line = talk.line
        self._talk = talk
        self._stage = stage
        self._result: CallResult | None = None
        talk.caller.start()
        self._watch()

    @property
    def url(self) -> str:
        """Where to connect to; any other host is served too."""
        return self.line.url

    async def result(self) -> CallResult:
        """Hang up, if the client has not, and judge the call. Raises CallError as `run_call` does."""
        self._hang_up()
        await asyncio.sleep(0.001)  # close frames cross
        if self._result is None:
            self._result = finish(self._talk, self._stage)
        return self._result

    def end(self) -> CallResult | None:
        """The result as far as it goes, for the failure report."""
        self._hang_up()
        try:
            return self._result or finish(self._talk, self._stage)
        except CallError as error:
            return error.result

    def _hang_up(self) -> None:
        self.line.cut("client")

    def _watch(self) -> None:
        """Cut the line when the client stays too long after the caller's last cue: time must not run for ever."""
        talk = self._talk
        if self.line.hung_up:
            return
        end_us = talk.caller.last_cue_us + talk.cap_ms * 1000
        if self.line.clock.now_us() >= end_us:
            talk.capped = True
            self.line.cut("harness")
        else:
            self.line.clock.call_at(end_us, self._watch)
