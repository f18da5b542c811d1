"""Asynchronous tests in virtual time, and no other test touched."""

import pytest

pytest_plugins = ["pytester"]


def test_only_those_that_ask_for_it_run_in_virtual_time(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio, time
        import pytest
        from simrt.world import VirtualLoop

        def virtual():
            return isinstance(asyncio.get_running_loop(), VirtualLoop)

        pytestmark = pytest.mark.asyncio

        async def test_real_before():
            assert not virtual()

        @pytest.mark.simrt(start="2030-05-05T12:00:00+00:00")
        async def test_marker():
            assert virtual()
            await asyncio.sleep(3600)
            assert time.time() == 1904216400

        @pytest.mark.parametrize("hours", [1, 2])
        async def test_fixture(simrt_world, hours):
            assert simrt_world.loop is asyncio.get_running_loop()
            await asyncio.sleep(hours * 3600)
            assert simrt_world.loop.time() == hours * 3600

        class TestGroup:
            @pytest.mark.simrt
            async def test_method(self):
                assert virtual()

            async def test_real(self):
                assert not virtual()

        async def test_real_after():
            assert not virtual()
            assert time.time() > 1904216400 - 10 ** 9
        """
    )
    result = project.runpytest("-v", "--durations=1")
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(
        ["*::test_marker PASSED*", "*::test_fixture[[]1[]] PASSED*", "*::test_real_after PASSED*"]
    )


def test_setting_puts_all_asynchronous_tests_into_virtual_time(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio
        from simrt.world import VirtualLoop

        async def test_async():
            await asyncio.sleep(10 ** 6)

        def test_sync():
            async def main():
                return asyncio.get_running_loop()
            assert not isinstance(asyncio.run(main()), VirtualLoop)
        """
    )
    project.runpytest("-o", "simrt_virtual_time=true", "-o", "asyncio_mode=auto").assert_outcomes(passed=2)


def test_asynchronous_fixtures_share_the_loop(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio
        import pytest, pytest_asyncio

        @pytest_asyncio.fixture
        async def waited():
            await asyncio.sleep(100)
            yield asyncio.get_running_loop()
            await asyncio.sleep(100)

        @pytest.mark.asyncio
        @pytest.mark.simrt
        async def test_it(waited, simrt_world):
            assert waited is asyncio.get_running_loop() is simrt_world.loop
            assert waited.time() == 100
        """
    )
    project.runpytest().assert_outcomes(passed=1)


def test_loop_factories_of_the_project_stay_in_force_elsewhere(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import asyncio

        class Own(asyncio.SelectorEventLoop): pass

        def pytest_asyncio_loop_factories():
            return {"own": Own}
        """
    )
    project.makepyfile(
        """
        import asyncio, pytest

        @pytest.mark.asyncio
        async def test_own():
            assert type(asyncio.get_running_loop()).__name__.endswith("Own")

        @pytest.mark.asyncio
        @pytest.mark.simrt
        async def test_ours():
            await asyncio.sleep(10 ** 6)
        """
    )
    project.runpytest("-p", "no:looptime").assert_outcomes(passed=2)


def test_deadlock_is_named_not_waited_for(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio, pytest

        @pytest.mark.asyncio
        @pytest.mark.simrt
        async def test_stuck():
            await asyncio.Event().wait()
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *deadlock at 0.000000 s*", "E *test_stuck*"])


def test_serve_gives_a_line_and_a_result(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio, pytest
        from clients_here import talker

        pytestmark = pytest.mark.asyncio

        @pytest.mark.simrt(cassette="short")
        async def test_marker(simrt_serve):
            serving = simrt_serve()
            await talker(serving.line)
            result = await serving.result()
            assert result.transcript.splitlines() == ["caller: good day", "agent: hello"]
            assert result.verdict.clean
            assert await serving.result() is result

        async def test_same_as_a_call(simrt_serve):
            serving = simrt_serve("short", ["stall:reply=0,at=100ms,for=500ms"])
            await asyncio.gather(talker(serving.line), asyncio.sleep(1))
            result = await serving.result()
            assert result.replies[0].heard_ms == 300
            assert not result.verdict.unfired

        async def test_client_that_never_connects(simrt_serve):
            serving = simrt_serve("short")
            from simrt import CallError
            with pytest.raises(CallError, match="without ever connecting"):
                await serving.result()

        async def test_line_is_cut_when_the_client_stays_on(simrt_serve):
            serving = simrt_serve("short", cap_ms=5000)
            frames = [frame async for frame in serving.line.microphone]
            assert 250 < len(frames) < 260

        async def test_fault_that_cannot_fire(simrt_serve):
            from simrt import SimrtError
            with pytest.raises(SimrtError, match="reply=7 is not there"):
                simrt_serve("short", ["stall:reply=7"])
        """
    )
    project.runpytest().assert_outcomes(passed=5)


def test_serve_in_a_synchronous_test_says_what_to_use(project: pytest.Pytester) -> None:
    project.makepyfile("def test_it(simrt_serve): pass")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*simrt_serve is for asynchronous tests (pytest-asyncio); others use simrt_call*"])


def test_failed_asynchronous_test_has_its_call_in_the_report(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        from clients_here import greeter

        @pytest.mark.asyncio
        async def test_it(simrt_serve):
            serving = simrt_serve("short")
            await greeter(serving.line)
            assert False
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- simrt -*", "cassette short", "verdict:", "*unsaid: hum*", "* ready"])
    assert any((project.path / "simrt-failures").glob("*/trace/cassette.jsonl"))
