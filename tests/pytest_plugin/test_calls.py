"""`simrt_call` and its marker."""

import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]


def test_a_first_test_takes_ten_lines(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from clients_here import talker

        def test_desk(simrt_call, simrt_snapshot):
            result = simrt_call(talker, "short", ["latency:add=50ms"])
            assert result.transcript.splitlines() == ["caller: good day", "agent: hello"]
            assert result.verdict.clean
            assert result.caller_turns[0].words_lost == 0
            assert result.replies[0].heard_ms == 300
            assert result.timeline[-1].what == "hung up by client"
            assert result == simrt_snapshot
        """
    )
    project.runpytest("--snapshot-update").assert_outcomes(passed=1)
    project.runpytest().assert_outcomes(passed=1)


def test_marker_gives_defaults_and_the_closest_wins(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        from clients_here import greeter

        pytestmark = pytest.mark.simrt(cassette="front-desk", faults=["late-ready:at=5s"], seed=3)

        def test_from_the_module(simrt_call):
            assert simrt_call(greeter).ready_ms >= 5000

        @pytest.mark.simrt(faults=[])
        def test_from_the_function(simrt_call):
            assert simrt_call(greeter).ready_ms < 1000

        def test_arguments_beat_both(simrt_call):
            late = simrt_call(greeter, "late-ready", ())
            assert 9000 < late.ready_ms < 11000
            assert simrt_call(greeter, faults=()).ready_ms < 1000
            assert len(simrt_call.results) == 2
        """
    )
    project.runpytest("--strict-markers").assert_outcomes(passed=3)


def test_marker_with_what_it_does_not_take_is_refused(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.simrt(casette="front-desk")
        def test_misspelt(simrt_call):
            simrt_call(None)
        """
    )
    result = project.runpytest()
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*test_misspelt: the marker simrt does not take casette; it takes cap_ms, cassette,*"])


def test_cassette_is_found_beside_the_test_then_in_the_root_folder(project: pytest.Pytester) -> None:
    project.makepyfile(
        **{
            "sub/test_where": """
            import shutil
            from pathlib import Path
            import pytest
            from clients_here import greeter
            from simrt import shipped, load

            HERE, ROOT = Path(__file__).parent / "cassettes", Path(__file__).parents[1] / "cassettes"

            def copy(name, place):
                shutil.copytree(shipped.cassette(name), place)

            def test_all(simrt_call, tmp_path):
                assert simrt_call(greeter, "front-desk").ready_ms < 1000
                copy("late-ready", ROOT / "front-desk")
                assert simrt_call(greeter, "front-desk").ready_ms > 5000
                copy("front-desk", HERE / "front-desk")
                assert simrt_call(greeter, "front-desk").ready_ms < 1000
                copy("late-ready", tmp_path / "elsewhere")
                assert simrt_call(greeter, tmp_path / "elsewhere").ready_ms > 5000
                assert simrt_call(greeter, load(tmp_path / "elsewhere")).ready_ms > 5000
            """
        }
    )
    project.runpytest().assert_outcomes(passed=1)


def test_missing_cassette_says_where_it_was_looked_for_and_how_to_record_it(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        from clients_here import greeter

        def test_plain(simrt_call):
            simrt_call(greeter, "dusk")

        @pytest.mark.simrt(cassette="dawn", upstream="ws://127.0.0.1:9/v1/realtime")
        def test_upstream(simrt_call):
            simrt_call(greeter)

        def test_none_named(simrt_call):
            simrt_call(greeter)
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=3)
    place = project.path / "cassettes"
    result.stdout.fnmatch_lines(
        [
            f"E *CassetteError: there is no cassette 'dusk' in {place}, nor is it shipped; there are: *front-desk*"
            f"simrt record UPSTREAM --out {place}/dusk -- COMMAND*",
            "E *no cassette 'dawn'*To record it: pytest --simrt-record=once '*::test_upstream'",
            "E *simrt_call needs a cassette: *",
        ]
    )
    result.stdout.no_fnmatch_line("*simrt/pytest_plugin*")  # tracebacks end in the test


def test_world_runs_what_a_test_likes(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio, random, time
        import pytest

        @pytest.mark.simrt(seed=5, start="2031-01-01T00:00:00+00:00")
        def test_sync(simrt_world):
            async def main():
                await asyncio.sleep(60)
                return time.gmtime().tm_year, random.random()
            assert simrt_world.run(main()) == (2031, random.Random(5).random())
            assert simrt_world.loop.time() == 60
        """
    )
    project.runpytest().assert_outcomes(passed=1)


def test_plugin_can_be_left_out(project: pytest.Pytester) -> None:
    project.makepyfile("def test_nothing(): pass\ndef test_fixture(simrt_call): pass")
    result = project.runpytest("-p", "no:simrt")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*fixture 'simrt_call' not found*"])


def test_importing_the_plugin_is_light() -> None:
    heavy = "'numpy', 'websockets', 'freezegun', 'soundfile', 'msgspec', 'syrupy', 'typer'"
    code = f"import sys, simrt.pytest_plugin; print([name for name in ({heavy}) if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_works_in_parallel(project: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    project.makepyfile(
        """
        import pytest
        from clients_here import greeter, breaks

        @pytest.mark.parametrize("way", ["a/b", "a.b"])
        def test_fails(simrt_call, way):
            simrt_call(breaks, "front-desk")

        def test_passes(simrt_call, simrt_snapshot):
            assert simrt_call(greeter, "front-desk").ready_ms
            assert "text" == simrt_snapshot
        """
    )
    result = project.runpytest("-n2", "--snapshot-update")
    result.assert_outcomes(passed=1, failed=2)
    folders = sorted(path.name for path in (project.path / "simrt-failures").iterdir())
    assert len(folders) == 2
    result.stdout.fnmatch_lines_random([f"trace, audio and timeline: *{folder}" for folder in map(_literal, folders)])


def _literal(name: str) -> str:
    return name.replace("[", "[[]")
