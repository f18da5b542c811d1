"""Regression files of `simrt explore --save` as tests: each makes its call again, and fails while its rule finds what
it found."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simrt.errors import SimrtError

if TYPE_CHECKING:
    from simrt.explore.regressions import Regression


class RegressionFile(pytest.File):
    """One file; it holds one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Read it."""
        from simrt.explore.regressions import load

        try:
            kept = load(self.path)
        except SimrtError as error:
            raise self.CollectError(str(error)) from None
        yield RegressionItem.from_parent(self, name=kept.code, kept=kept)


class _Found(Exception):
    pass


class RegressionItem(pytest.Item):
    """The call that the file holds."""

    def __init__(self, *, kept: "Regression", **more: Any) -> None:
        super().__init__(**more)
        self.kept = kept

    def runtest(self) -> None:
        """Make the call, and fail with what the rule says."""
        from simrt.explore.regressions import play

        message = play(self.kept, self.path.parent)
        if message is not None:
            raise _Found(message)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The finding and how to see it again; not the way through simrt."""
        if not isinstance(excinfo.value, (_Found, SimrtError)):
            return super().repr_failure(excinfo, style)
        from simrt.explore.regressions import command

        kept = self.kept
        job = kept.job(self.path.parent)
        text = [
            f"{kept.code} {kept.name}: {kept.client} on {kept.cassette}",
            f"  {excinfo.value}",
            f"  faults: {' '.join(kept.plan) or 'none'}",
            f"  {command(job.client, job.cassette, job.plan, job.seed)}",
        ]
        return "\n".join(text)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it is, for the report."""
        return self.path, None, f"{self.kept.client} {self.kept.code}"
