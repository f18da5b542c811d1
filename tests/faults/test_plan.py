"""Plans: the compact form, what is misspelt, and that a plan and a seed give one call in every process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simrt.faults as package
from simrt.errors import PlanError
from simrt.faults import FAULTS, Clog, Fault, Stall, check_plan, format_fault, parse_fault, parse_plan
from simrt.faults.base import is_duration
from simrt.replay.build import score_of

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)


def values(kind: type[Fault]) -> st.SearchStrategy[dict[str, Any]]:
    """Any values that the fields of a fault may have."""
    fields = {}
    for info in msgspec.structs.fields(kind):
        if is_duration(info.type):
            some: st.SearchStrategy[Any] = st.integers(0, 10_000_000)
        elif info.type is int or "int" in str(info.type):
            some = st.integers(-1000, 10_000)
        elif "Literal" in str(info.type):
            some = st.sampled_from(info.type.__args__)
        else:
            some = TEXT
        optional = "None" in str(info.type)
        fields[info.name] = (st.none() | some) if optional else some
    return st.fixed_dictionaries(fields)


ANY_FAULT = st.sampled_from(list(FAULTS.values())).flatmap(lambda kind: values(kind).map(lambda v: kind(**v)))


@given(ANY_FAULT)
def test_the_compact_form_reads_back(fault: Fault) -> None:
    assert parse_fault(format_fault(fault)) == fault


@pytest.mark.parametrize("name", list(FAULTS))
def test_the_name_alone_is_the_fault_with_its_defaults(name: str) -> None:
    assert format_fault(parse_fault(name)) == name
    assert type(parse_fault(name)) is FAULTS[name]


def test_every_fault_class_of_the_package_has_a_name_in_the_plan() -> None:
    classes = {
        value
        for value in vars(package).values()
        if isinstance(value, type) and issubclass(value, Fault) and value is not Fault
    }
    assert classes == set(FAULTS.values())
    assert all(kind.name == name for name, kind in FAULTS.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stal:at=1s", "no fault is called 'stal' (did you mean 'stall'?); there are: stall, clog, latency"),
        ("earthquake", "no fault is called 'earthquake'; there are: stall,"),
        ("", "no fault is called ''"),
        ("stall:att=1s", "stall has no 'att' (did you mean 'at'?); it has: reply, at, for"),
        ("stall:for_=1s", "stall has no 'for_' (did you mean 'for'?)"),
        ("stall:at", "at has no value; write at=…"),
        ("stall:at=", "at has no value; write at=…"),
        ("stall:at=soon", "at=soon is no duration; write at=500ms or at=1.5s"),
        ("stall:at=-1s", "at=-1s is no duration"),
        ("stall:at=1m", "at=1m is no duration"),
        ("stall:reply=last", "reply"),
        ("latency:to=nowhere", "to"),
        ('error:at=1s,message="half', "has no closing one"),
        ('error:at=1s,message="a"b', "is no quoted text as JSON has it"),
    ],
)
def test_what_is_misspelt_is_named_with_the_way_out(text: str, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_fault(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(("text", "ms"), [("1500ms", 1500), ("1.5s", 1500), ("0s", 0), ("0.0004s", 0), ("2s", 2000)])
def test_durations(text: str, ms: int) -> None:
    assert parse_fault(f"stall:at={text}") == Stall(at=ms)


@pytest.mark.parametrize("text", ["1500", "5 s", "1m", "-1s"])
def test_a_duration_has_a_unit(text: str) -> None:
    with pytest.raises(PlanError, match="is no duration; write at=500ms"):
        parse_fault(f"stall:at={text}")


def test_a_fault_alone_is_a_plan() -> None:
    assert parse_plan("stall:at=1s") == parse_plan(Stall(at=1000)) == [Stall(at=1000)]


def test_nothing_is_said_twice() -> None:
    with pytest.raises(PlanError, match="reply stands there twice"):
        parse_fault("stall:reply=-1,reply=0")


def test_commas_may_stand_in_quotes() -> None:
    fault = parse_fault('error:at=1s,message="Sorry, try again = later"')
    assert fault.message == "Sorry, try again = later"  # type: ignore[attr-defined]
    assert parse_fault(str(fault)) == fault


def test_a_plan_takes_both_forms() -> None:
    assert parse_plan([Stall(at=5), "clog:at=1s"]) == [Stall(at=5), Clog(at=1000)]


def test_unknown_fields_are_refused_in_python_too() -> None:
    with pytest.raises(TypeError):
        Stall(att=1)  # type: ignore[call-arg]


PROGRAM = """
from simrt import shipped
from simrt.call import run_call
FAULTS = ["latency:add=5ms,jitter=40ms", "stall:at=1s,for=300ms"]
Call = shipped.client_module("clients.call").Call
for seed in (1, 2):
    result = run_call(Call, shipped.cassette("front-desk"), FAULTS, seed=seed)
    print(result.trace_sha256)
"""


def test_the_same_plan_and_seed_in_two_processes_are_one_call() -> None:
    root = Path(__file__).resolve().parents[2]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            cwd=root,
            stdout=subprocess.PIPE,
            text=True,
        )
        for hash_seed in (1, 4321)
    ]
    first, second = (process.communicate()[0].split() for process in running)
    assert first == second
    assert len(set(first)) == 2


def test_a_plan_is_checked_as_a_whole() -> None:
    score = score_of("front-desk")
    check_plan(parse_plan(["speaks-on:turn=1"]), score)
    check_plan(parse_plan(["speaks-on:turn=1", "fail"]), score)
    with pytest.raises(PlanError, match="speaks-on:turn=1 can never fire"):
        check_plan(parse_plan(["fail", "speaks-on:turn=1"]), score)
