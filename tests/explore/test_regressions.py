"""Failures as files: written, read, and made again."""

from pathlib import Path

import msgspec
import pytest

from simrt.errors import SimrtError
from simrt.explore.explore import Failure
from simrt.explore.regressions import Regression, command, load, play, save
from simrt.shipped import cassette

STALL = ("stall:at=1000ms",)
FOUND = Failure(
    code="END401",
    name="hung-up-mid-reply",
    message="18.62 s: hung up",
    client="clients.call:DrainCall",
    cassette="front-desk-short",
    plan=STALL,
    seed=0,
    trace_sha256="0" * 64,
    harm="legal",
    found_in=2,
    runs=6,
    calls=10,
)


def changed(**fields: object) -> Failure:
    return msgspec.structs.replace(FOUND, **fields)


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    path = save(FOUND, tmp_path / "deep" / "down", {"goodbye_ms": 500})
    kept = load(path)
    assert path.name == "clients.call.DrainCall-END401.simrt.json"
    assert kept == Regression(
        FOUND.client, FOUND.cassette, STALL, 0, "END401", FOUND.name, FOUND.message, "0" * 64, {"goodbye_ms": 500}
    )
    assert path.read_text().endswith("}\n")


def test_one_of_the_same_rule_and_client_is_replaced(tmp_path: Path) -> None:
    first = save(FOUND, tmp_path)
    again = save(changed(plan=("stall:at=500ms",)), tmp_path)
    other = save(changed(code="AGT201"), tmp_path)
    assert first == again != other
    assert load(first).plan == ("stall:at=500ms",)


def test_a_cassette_by_path_counts_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tapes").symlink_to(cassette("front-desk").parent)
    path = save(changed(cassette="tapes/front-desk"), tmp_path / "found")
    assert load(path).cassette == "../tapes/front-desk"
    monkeypatch.chdir("/")
    assert Path(load(path).job(path.parent).cassette).is_dir()


def test_it_fails_while_the_client_does_what_it_did(tmp_path: Path) -> None:
    message = play(load(save(FOUND, tmp_path)), tmp_path)
    assert message is not None
    assert "hung up" in message
    right = changed(client="clients.call:Call")
    assert play(load(save(right, tmp_path)), tmp_path) is None


def test_limits_are_kept_to(tmp_path: Path) -> None:
    lenient = load(save(FOUND, tmp_path, {"unheard_ms": 10_000}))
    assert play(lenient, tmp_path) is None


def test_a_client_that_hangs_is_not_let_into_this_process(home: Path) -> None:
    (home / "looping.py").write_text("async def client(line):\n    raise SystemError('in a process of its own')\n")
    kept = load(save(changed(client="looping:client", code="hung", plan=()), home))
    assert play(kept, home) is None


def test_a_plan_that_does_not_fit_any_more_is_an_error(tmp_path: Path) -> None:
    kept = load(save(changed(plan=("stall:at=3600s",)), tmp_path))
    with pytest.raises(SimrtError, match=r"can never fire.*search again"):
        play(kept, tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "holds no regression"),
        ("[]", "holds no regression"),
        ('{"client": "a:b"}', "holds no regression"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.simrt.json"
    path.write_text(text)
    with pytest.raises(SimrtError, match=f"{path.name} {said}"):
        load(path)


def test_another_format_and_no_file(tmp_path: Path) -> None:
    path = save(FOUND, tmp_path)
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(SimrtError, match="has format 2, this simrt reads 1"):
        load(path)
    with pytest.raises(SimrtError, match="cannot be read"):
        load(tmp_path / "none")
    with pytest.raises(SimrtError, match="nothing can be written"):
        save(FOUND, path / "below-a-file")


def test_the_command_can_be_pasted_into_a_shell() -> None:
    plain = command("clients.call:Call", "front-desk", ("stall:at=1000ms,for=300ms",))
    assert plain == "simrt call clients.call:Call front-desk --fault stall:at=1000ms,for=300ms"
    odd = command("a:b", "my tape", ('error:at=1ms,message="no, $HOME"',), 7)
    assert odd == """simrt call a:b 'my tape' --fault 'error:at=1ms,message="no, $HOME"' --seed 7"""
