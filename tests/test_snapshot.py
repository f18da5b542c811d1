"""The syrupy extension, by itself and through the plugin's fixture."""

import pytest

from simrt.call import run_call
from simrt.describe import call_text
from simrt.scripts import authored
from simrt.shipped import client_module
from simrt.snapshot import CallSnapshotExtension

pytest_plugins = ["pytester"]

CALL = client_module("clients.call").Call
STALL = "stall:reply=-1,at=1500ms,for=500ms"


def test_same_call_gives_the_same_text_and_another_one_that_differs_where_it_should() -> None:
    plain = call_text(run_call(CALL, authored("front-desk")))
    assert call_text(run_call(CALL, authored("front-desk"))) == plain
    stalled = call_text(run_call(CALL, authored("front-desk"), [STALL]))
    changed = set(stalled.splitlines()) - set(plain.splitlines())
    assert sum(STALL.partition(":")[0] in line for line in changed) == 1
    assert len(changed) < 0.3 * len(stalled.splitlines())


def test_serialises_calls_pairs_and_plain_values() -> None:
    extension = CallSnapshotExtension()
    result = run_call(CALL, authored("front-desk-short"))
    assert extension.serialize(result) == call_text(result)
    assert extension.serialize((result, {"ledger": []})) == call_text(result, {"ledger": []})
    assert extension.serialize({"a": 1}) == "a: 1\n"
    assert extension.serialize((1, 2)) == "- 1\n- 2\n"
    with pytest.raises(TypeError, match="exclude and include cannot"):
        extension.serialize(result, exclude=lambda **_: True)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    return pytester


def test_snapshot_is_created_compared_and_updated(project: pytest.Pytester) -> None:
    test = """
        def test_desk(simrt_snapshot):
            assert {"room": 214} == simrt_snapshot
            assert "a transcript" == simrt_snapshot(name="words")
    """
    project.makepyfile(test_it=test)
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    project.runpytest("--snapshot-update").assert_outcomes(passed=1)
    folder = project.path / "__snapshots__" / "test_it"
    assert sorted(path.name for path in folder.iterdir()) == ["test_desk.txt", "test_desk[words].txt"]
    assert (folder / "test_desk.txt").read_text() == "room: 214\n"
    project.runpytest().assert_outcomes(passed=1)
    project.makepyfile(test_it=test.replace("214", "215"))
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * room: 214*", "E * room: 215*"])
    project.runpytest("--snapshot-update").assert_outcomes(passed=1)
    assert (folder / "test_desk.txt").read_text() == "room: 215\n"


def test_call_with_a_ledger_is_one_file(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_it="""
        from simrt import shipped
        Call = shipped.client_module("clients.call").Call

        def test_desk(simrt_call, simrt_snapshot):
            result = simrt_call(Call, "front-desk-short")
            assert (result, {"ledger": [{"refund": 12}]}) == simrt_snapshot
        """
    )
    project.runpytest("--snapshot-update").assert_outcomes(passed=1)
    project.runpytest().assert_outcomes(passed=1)
    text = (project.path / "__snapshots__" / "test_it" / "test_desk.txt").read_text(encoding="utf-8")
    assert text.startswith("call\n  ready ")
    assert text.endswith("ledger\n  - {refund: 12}\n")


def test_without_syrupy_the_fixture_says_what_to_install(project: pytest.Pytester) -> None:
    project.makepyfile("def test_it(simrt_snapshot): pass\ndef test_other(simrt_call): pass")
    result = project.runpytest("-p", "no:syrupy")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*simrt_snapshot needs the pytest plugin syrupy: pip install 'simrt[[]pytest[]]'*"])
