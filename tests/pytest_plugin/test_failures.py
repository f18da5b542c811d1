"""What a failed test leaves behind."""

from pathlib import Path

import pytest
import soundfile

from simrt.cassette.store import load

pytest_plugins = ["pytester"]

FAILING = """
    import pytest
    from clients_here import talker

    def test_desk(simrt_call):
        result = simrt_call(talker, "short", ["stall:reply=0,at=100ms,for=200ms"])
        assert result.closed_by == "nobody"
"""


def _folders(project: pytest.Pytester, name: str = "simrt-failures") -> list[Path]:
    return sorted((project.path / name).iterdir())


def test_report_has_verdict_and_transcript_and_names_the_folder(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=FAILING)
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    (folder,) = _folders(project)
    assert folder.name == "test_it.test_desk"
    result.stdout.fnmatch_lines(
        [
            "*- simrt -*",
            "cassette short with stall:reply=0,at=100ms,for=200ms",
            "verdict:",
            "  clean",
            "transcript:",
            "  caller: good day",
            "  agent: hello",
            "client's log:",
            f"trace, audio and timeline: {folder}",
        ]
    )


def test_folder_holds_trace_audio_and_timeline(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=FAILING)
    project.runpytest()
    (folder,) = _folders(project)
    cassette = load(folder / "trace")
    assert next(frame.event()["type"] for frame in cassette.trace.sent_by("server")) == "session.created"
    assert cassette.trace.marks[0].kind == "fault"
    assert "a simulated call of test_it.py::test_desk" in cassette.header.notes[0]
    samples, rate = soundfile.read(folder / "call.wav")
    assert rate == 24000
    assert samples.shape[1] == 2
    assert abs(samples).max(axis=0).min() > 0.1  # both sides are on it
    assert "hung up by client" in (folder / "call.txt").read_text(encoding="utf-8")


def test_folder_is_cleaned_when_the_test_runs_again(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=FAILING)
    project.runpytest()
    (folder,) = _folders(project)
    (folder / "left-over").write_text("old")
    project.runpytest()
    assert sorted(path.name for path in folder.iterdir()) == ["call.txt", "call.wav", "trace"]
    project.makepyfile(test_it=FAILING.replace("nobody", "client"))
    project.runpytest().assert_outcomes(passed=1)
    assert not (project.path / "simrt-failures").exists()


def test_setting_names_another_place(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=FAILING)
    project.runpytest("-o", "simrt_failures=build/calls")
    assert [path.name for path in _folders(project, "build/calls")] == ["test_it.test_desk"]


def test_every_call_of_a_test_is_kept(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_it="""
        from clients_here import breaks, greeter

        def test_two(simrt_call):
            simrt_call(greeter, "short")
            simrt_call(breaks, "short")
        """
    )
    result = project.runpytest()
    (folder,) = _folders(project)
    names = ["call-2.txt", "call-2.wav", "call.txt", "call.wav", "trace", "trace-2"]
    assert sorted(path.name for path in folder.iterdir()) == names
    result.stdout.fnmatch_lines(
        ["call 1 of 2: cassette short", "call 2 of 2: cassette short", "error: the client raised RuntimeError: out of*"]
    )


def test_expected_failures_leave_nothing(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=FAILING.replace("def test", "@pytest.mark.xfail\n    def test"))
    project.runpytest().assert_outcomes(xfailed=1)
    assert not (project.path / "simrt-failures").exists()


def test_secrets_stay_out_of_report_and_folder(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = ["sk-proj-planted0123456789abcdef", "hush-hush-0123456789", "from-the-environment-77"]
    monkeypatch.setenv("SOME_API_KEY", planted[2])
    project.makepyfile(
        test_it=f"""
        import json
        from websockets.asyncio.client import connect

        async def leaks(line):
            async with connect(line.url, additional_headers=line.headers) as socket:
                await socket.send(json.dumps({{"type": "session.update", "session": {{"prompt": "{planted[0]}"}}}}))
                await socket.recv()
                line.note("authorised with {planted[1]} and {planted[2]}")

        def test_leak(simrt_call):
            key = "Bearer {planted[1]}"
            url = "ws://simrt.test/v1/realtime?api_key={planted[0]}"
            result = simrt_call(leaks, "short", headers=dict(Authorization=key), url=url)
            raise AssertionError
        """
    )
    result = project.runpytest("--tb=no")
    result.assert_outcomes(failed=1)
    (folder,) = _folders(project)
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert any(b"<redacted>" in data for data in kept)
    for secret in planted:
        assert not any(secret.encode() in data for data in kept), secret
        assert secret not in result.stdout.str()


def test_folder_that_cannot_be_written_does_not_hide_the_failure(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=FAILING)
    (project.path / "simrt-failures").write_text("in the way")
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *assert *'nobody'*", "trace and audio could not be written to *"])
