"""`simrt_call`: run_call with a test's defaults, and a memory for the failure report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from simrt.call import Client, run_call
from simrt.cassette.store import Cassette
from simrt.errors import CallError, SimrtError
from simrt.faults.base import Fault
from simrt.pytest_plugin.cassettes import cassette_name, profile_of, resolve
from simrt.pytest_plugin.failures import Call, log_of
from simrt.pytest_plugin.recording import Recorder
from simrt.pytest_plugin.settings import FOR_THE_RECORDING, RUN, settings_of
from simrt.result import CallResult


class Caller:
    """The callable that the fixture `simrt_call` gives; `results` holds what its calls came to so far."""

    def __init__(self, item: pytest.Item, recorder: Recorder) -> None:
        self.results: list[CallResult] = []
        self._item = item
        self._recorder = recorder
        self._log = log_of(item)

    def __call__(
        self,
        client: Client,
        cassette: Cassette | str | Path | None = None,
        faults: Sequence[Fault | str] | None = None,
        **more: Any,
    ) -> CallResult:
        """One call. Arguments and errors are those of `simrt.run_call`; what is not given is taken from the marker."""
        __tracebackhide__ = True
        settings = settings_of(self._item)
        upstream = settings.get("upstream")
        ours = RUN if upstream is None else RUN - FOR_THE_RECORDING
        options = {name: value for name, value in settings.items() if name in ours} | more
        cassette = options.pop("cassette", None) if cassette is None else cassette
        faults = options.pop("faults", ()) if faults is None else faults
        options.pop("cassette", None)
        options.pop("faults", None)
        if cassette is None:
            raise SimrtError('simrt_call needs a cassette: simrt_call(client, "name"), or the marker\'s cassette=')
        if upstream is not None and not isinstance(cassette, Cassette):
            cassette = self._recorder(cassette, upstream, client)
        found = resolve(self._item, cassette)
        made_of = cassette_name(cassette), profile_of(found)
        try:
            result = run_call(client, found, faults, **options)
        except SimrtError as error:
            if isinstance(error, CallError) and error.result is not None:
                self._keep(error.result, made_of, faults)
            raise error.with_traceback(None) from error.__cause__  # the way through simrt says nothing to a user
        self._keep(result, made_of, faults)
        return result

    def _keep(self, result: CallResult, made_of: tuple[str, str], faults: Sequence[Fault | str]) -> None:
        self.results.append(result)
        self._log.calls.append(Call(result, *made_of, [str(fault) for fault in faults]))
