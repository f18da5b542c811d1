"""`--simrt-record`, the marker's upstream and `simrt_record`. Recording takes real time, so these calls are short."""

from pathlib import Path

import pytest

from simrt.cassette.store import load
from simrt.pytest_plugin.recording import Tap
from tests.pytest_plugin.services import Greeting, served, short_script

pytest_plugins = ["pytester"]

MARKED = """
    import pytest
    from clients_here import greeter

    @pytest.mark.simrt(cassette="hello", upstream="{url}", says=[])
    def test_hello(simrt_call):
        assert simrt_call(greeter).log

    def test_again(simrt_record, simrt_call):
        assert simrt_call(greeter, simrt_record("hello", "{url}", greeter, says=[])).log
"""


@pytest.fixture
def marked(project: pytest.Pytester, greeting: Greeting) -> pytest.Pytester:
    """A project with two tests whose cassette is to be recorded from the greeting service."""
    project.makepyfile(test_it=MARKED.format(url=greeting.url))
    return project


def _cassette(project: pytest.Pytester) -> Path:
    return project.path / "cassettes" / "hello"


def test_none_never_calls_the_upstream(marked: pytest.Pytester, greeting: Greeting) -> None:
    result = marked.runpytest()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["E *no cassette 'hello'*To record it: pytest --simrt-record=once 'test_it.py::test_hello'"]
    )
    assert greeting.calls == 0
    assert not _cassette(marked).exists()


def test_once_records_what_is_missing_and_nothing_else(marked: pytest.Pytester, greeting: Greeting) -> None:
    result = marked.runpytest("--simrt-record=once")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["simrt: records cassettes in real time (once)"])
    assert greeting.calls == 1
    cassette = load(_cassette(marked))
    assert cassette.header.how == "live"
    assert cassette.header.origin.startswith(greeting.url)
    assert [path.name for path in _cassette(marked).parent.iterdir() if path.name != "short"] == ["hello"]
    marked.runpytest("--simrt-record=once").assert_outcomes(passed=2)
    marked.runpytest().assert_outcomes(passed=2)
    assert greeting.calls == 1


def test_rewrite_records_anew_once_a_run(marked: pytest.Pytester, greeting: Greeting) -> None:
    marked.runpytest("--simrt-record=once")
    first = load(_cassette(marked)).header.digest
    marked.runpytest("--simrt-record=rewrite").assert_outcomes(passed=2)
    assert greeting.calls == 2
    assert load(_cassette(marked)).header.digest != first


@pytest.mark.parametrize(("value", "calls"), [("1", 0), ("true", 0), ("0", 1), ("false", 1), ("", 1)])
def test_nothing_is_recorded_in_ci(
    marked: pytest.Pytester, greeting: Greeting, monkeypatch: pytest.MonkeyPatch, value: str, calls: int
) -> None:
    monkeypatch.setenv("CI", value)
    result = marked.runpytest("--simrt-record=once")
    assert greeting.calls == calls
    if not calls:
        result.assert_outcomes(failed=2)
        result.stdout.fnmatch_lines(
            [
                "simrt: records nothing, since CI is set (--simrt-record=once is left out of account)",
                "E *Nothing is recorded where CI is set*",
            ]
        )


def test_failed_recording_leaves_the_cassette_as_it_was(marked: pytest.Pytester, greeting: Greeting) -> None:
    marked.runpytest("--simrt-record=once")
    before = (_cassette(marked) / "cassette.jsonl").read_bytes()
    marked.makepyfile(test_it=MARKED.format(url=greeting.url).replace("import greeter", "import breaks as greeter"))
    result = marked.runpytest("--simrt-record=rewrite", "-k", "hello")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *SimrtError: nothing was recorded from ws://127.0.0.1:*: the client raised RuntimeError: out of order"]
    )
    assert (_cassette(marked) / "cassette.jsonl").read_bytes() == before
    assert sorted(path.name for path in _cassette(marked).parent.iterdir()) == ["hello", "short"]


def test_upstream_that_is_not_there_is_named(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=MARKED.format(url="ws://127.0.0.1:9/v1/realtime"))
    result = project.runpytest("--simrt-record=once", "-k", "hello")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *nothing was recorded from ws://127.0.0.1:9: *"])
    assert not _cassette(project).exists()


def test_recording_is_refused_in_parallel(marked: pytest.Pytester, greeting: Greeting) -> None:
    pytest.importorskip("xdist")
    result = marked.runpytest("--simrt-record=once", "-n1", "-k", "hello")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *cassettes/hello is to be recorded, which takes real time *: add -n 0"])
    assert greeting.calls == 0


def test_who_does_not_say_what_the_caller_says_is_told(marked: pytest.Pytester, greeting: Greeting) -> None:
    marked.makepyfile(test_it=MARKED.format(url=greeting.url).replace(", says=[]", ""))
    result = marked.runpytest("--simrt-record=once", "-k", "hello")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *nothing tells what the caller says: give says=*"])
    assert greeting.calls == 0


def test_negative_replies_are_refused_as_cues(marked: pytest.Pytester, greeting: Greeting) -> None:
    text = MARKED.format(url=greeting.url).replace("says=[]", "says=[Say(fixture_clip('booking'), CUE)]")
    text = text.replace("import pytest", "import pytest\n    from simrt import Say, fixture_clip, parse_cue")
    marked.makepyfile(test_it=text.replace("CUE", "parse_cue('reply[-1].end+1s')"))
    result = marked.runpytest("--simrt-record=once", "-k", "hello")
    result.stdout.fnmatch_lines(
        ["E *cue reply[[]-1[]].end+1000ms: on a live call nobody knows which reply is the last*"]
    )
    assert greeting.calls == 0


def test_call_with_audio_is_recorded_with_words_and_replies_alike(project: pytest.Pytester) -> None:
    with served(short_script()) as url:
        project.makepyfile(
            test_it=f"""
            import os
            from clients_here import talker
            from simrt import Say, load, parse_cue
            from simrt.cues import says_of
            from simrt.replay.build import score_of

            seen = []

            async def client(line):
                seen.append((line.url, os.environ.get("DIALOG_REALTIME_URL"), line.headers))
                await talker(line)

            def test_it(simrt_record, simrt_call):
                (_, first), = says_of(score_of("cassettes/short"))
                late = Say(first.clip, parse_cue("reply[0].start+1ms"))
                path = simrt_record("new", "{url}", client, says=[first, late], headers={{"X-Api-Key": "0123456789"}})
                url, environment, headers = seen[0]
                assert url.startswith(environment) and "127.0.0.1" in url
                assert headers["X-Api-Key"] == "0123456789"
                words = load(path).header.words["caller"]
                assert [word.text for word in words][:2] == ["good", "day"]
                assert abs(words[0].start_ms - 100) < 60  # the clip begins 100 ms after pickup
                result = simrt_call(client, path)
                assert result.transcript.splitlines()[:2] == ["caller: good day", "agent: hello"]
                assert result.caller_turns[0].words_lost == 0
            """
        )
        project.runpytest("--simrt-record=once", "-p", "no:looptime").assert_outcomes(passed=1)
    kept = [path.read_bytes() for path in (project.path / "cassettes" / "new").iterdir()]
    assert not any(b"0123456789" in data for data in kept)


class _Ear:
    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def sent(self, reply: int, samples: object, t_us: int, rate: int) -> None:
        self.calls.append(("sent", reply, len(samples), rate))  # type: ignore[arg-type]

    def ended(self, reply: int, t_us: int, cut: bool) -> None:
        self.calls.append(("ended", reply, cut))


class _Clock:
    def now_us(self) -> int:
        return 0


def test_tap_numbers_the_replies_with_audio_and_ends_them() -> None:
    ear = _Ear()
    tap = Tap(ear, _Clock())  # type: ignore[arg-type]
    for sender, payload in [
        ("server", '{"type":"session.updated","session":{"output_audio_format":"g711_ulaw"}}'),
        ("server", '{"type":"response.done","response":{"id":"tool only","status":"completed"}}'),
        ("server", '{"type":"response.audio.delta","response_id":"a","delta":"AAAA"}'),
        ("server", '{"type":"response.done","response":{"id":"a","status":"completed"}}'),
        ("client", '{"type":"response.output_audio.delta","response_id":"c","delta":"AAAA"}'),
        ("server", b"binary"),
        ("server", '{"type":"response.output_audio.delta","response_id":"b","delta":"no base64!"}'),
        ("server", '{"type":"response.done","response":{"id":"b","status":"cancelled"}}'),
    ]:
        tap.heard(sender, payload)  # type: ignore[arg-type]
    assert ear.calls[0] == ("sent", 0, 3, 8000)
    assert ear.calls[1] == ("ended", 0, False)
    assert ear.calls[-1] == ("ended", 1, True)
    assert len(ear.calls) == 4


def test_keys_in_the_marker_are_for_the_recording_alone(project: pytest.Pytester, greeting: Greeting) -> None:
    project.makepyfile(
        test_it=f"""
        import pytest
        from clients_here import greeter

        seen = []

        async def client(line):
            seen.append(line.headers.get("X-Api-Key"))
            await greeter(line)

        @pytest.mark.simrt(cassette="hello", upstream="{greeting.url}", says=[], headers={{"X-Api-Key": "0123456789"}})
        def test_it(simrt_call):
            simrt_call(client)
            assert seen == ["0123456789", None]
        """
    )
    project.runpytest("--simrt-record=once").assert_outcomes(passed=1)
