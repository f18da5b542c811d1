"""The pytest plugin: calls in virtual time from tests. Light at import: the rest is loaded when a fixture is asked for.

    @pytest.mark.simrt(cassette="front-desk", faults=["stall:reply=-1,at=1500ms,for=500ms"])
    def test_goodbye_is_heard_whole(simrt_call, simrt_snapshot):
        result = simrt_call(client)
        assert not result.replies[-1].cut_off
        result.check()  # no rule finds anything (see simrt.checks)
        assert result == simrt_snapshot

Fixtures: `simrt_call` (run_call), `simrt_record` (record a cassette when `--simrt-record` says so), `simrt_snapshot`,
`simrt_world` (a World); for asynchronous tests in virtual time `simrt_serve`. The marker `simrt` gives them defaults.
Files that `simrt explore --save` has written are tests too.
"""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simrt.pytest_plugin.settings import MARKER, Mode, mode_of
from simrt.pytest_plugin.virtual import is_virtual, pytest_generate_tests, pytest_runtest_setup, world_of

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from simrt.pytest_plugin.calls import Caller
    from simrt.pytest_plugin.recording import Recorder
    from simrt.pytest_plugin.serving import Server
    from simrt.world import World

__all__ = ["pytest_generate_tests", "pytest_runtest_setup"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("simrt", "voice calls in virtual time")
    group.addoption(
        "--simrt-record",
        choices=("none", "once", "rewrite"),
        default="none",
        help="Record cassettes that tests name an upstream for: never (none, the default, and always when CI is set), "
        "those that are missing (once), all of them anew (rewrite).",
    )
    parser.addini("simrt_failures", "Where the traces and the audio of failed tests go.", default="simrt-failures")
    parser.addini(
        "simrt_regressions",
        "Which files are regressions that simrt explore --save has written.",
        type="args",
        default=["*.simrt.json"],
    )
    parser.addini("simrt_virtual_time", "Run every asynchronous test in virtual time.", type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the regression files of `simrt explore --save` for tests."""
    if any(file_path.match(pattern) for pattern in parent.config.getini("simrt_regressions")):
        from simrt.pytest_plugin.regressions import RegressionFile

        return RegressionFile.from_parent(parent, path=file_path)
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is recorded, if that is not nothing, or not what was asked for."""
    asked: Mode = config.getoption("--simrt-record")
    if asked == "none":
        return None
    if mode_of(config) == "none":
        return f"simrt: records nothing, since CI is set (--simrt-record={asked} is left out of account)"
    return f"simrt: records cassettes in real time ({asked})"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the calls of a failed test into its report and into a folder."""
    report = yield
    if report.when == "call" and report.failed:
        from simrt.pytest_plugin.failures import LOG, report_failure

        if LOG in item.stash:
            text = report_failure(item)
            if text:
                report.sections.append(("simrt", text))
    return report


@pytest.fixture
def simrt_call(request: pytest.FixtureRequest) -> "Caller":
    """`run_call` for tests: `simrt_call(client, cassette, faults, …)` in virtual time, returns a CallResult.

    The marker `simrt` gives defaults to all of its arguments. A cassette is a Cassette, an absolute path, or a name:
    in `cassettes/` beside the test file, in `cassettes/` of the root folder, or shipped with simrt. When the test
    fails, its calls are in the report, and their traces and audio in a folder that the report names.
    """
    from simrt.pytest_plugin.calls import Caller

    return Caller(request.node, _recorder(request))


@pytest.fixture
def simrt_record(request: pytest.FixtureRequest) -> "Recorder":
    """`simrt_record(name, upstream, client, says=…)`: the path of a cassette, recorded first if the mode says so.

    Recording runs the client in real time, through the proxy, against the upstream. See `--simrt-record`.
    """
    return _recorder(request)


def _recorder(request: pytest.FixtureRequest) -> "Recorder":
    from simrt.pytest_plugin.recording import Recorder

    return Recorder(request.node)


@pytest.fixture
def simrt_world(request: pytest.FixtureRequest) -> "World":
    """A World: in a synchronous test one that has not run, in an asynchronous one that in which the test runs."""
    return world_of(request.node)


@pytest.fixture
def simrt_serve(request: pytest.FixtureRequest) -> "Server":
    """`simrt_serve(cassette, faults, …)` in an asynchronous test: the call is picked up, and served in its World.

    Returns a Serving: its `line` is for the client, `await serving.result()` hangs up and gives the CallResult.
    """
    from simrt.pytest_plugin.serving import Server

    if not is_virtual(request.node):
        pytest.fail("simrt_serve is for asynchronous tests (pytest-asyncio); others use simrt_call", pytrace=False)
    return Server(request.node)


@pytest.fixture
def simrt_snapshot(request: pytest.FixtureRequest) -> "SnapshotAssertion":
    """syrupy's `snapshot`, with one readable text file for each. See simrt.snapshot."""
    try:
        from simrt.snapshot import CallSnapshotExtension

        snapshot: SnapshotAssertion = request.getfixturevalue("snapshot")
        return snapshot.use_extension(CallSnapshotExtension)
    except (ImportError, pytest.FixtureLookupError):
        pytest.fail("simrt_snapshot needs the pytest plugin syrupy: pip install 'simrt[pytest]'", pytrace=False)
