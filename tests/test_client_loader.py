"""From a name to a client."""

import sys
from pathlib import Path

import pytest

from simrt.client_loader import load_client
from simrt.errors import SimrtError
from simrt.shipped import client_module


def test_the_shipped_clients_are_there_from_anywhere(home: Path) -> None:
    assert load_client("clients.call:NaiveCall") is client_module("clients.call").NaiveCall


def test_a_clients_package_of_ones_own_does_not_hide_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "clients"]:
        monkeypatch.delitem(sys.modules, name)
    (home / "clients").mkdir()
    (home / "clients" / "__init__.py").write_text("")
    (home / "clients" / "mine.py").write_text("async def client(line): ...\n")
    assert load_client("clients.mine:client").__module__ == "clients.mine"


def test_the_current_directory_comes_first(home: Path) -> None:
    (home / "ours.py").write_text("class Desk:\n    class Night:\n        def __init__(self, line): ...\n")
    assert load_client("ours:Desk.Night").__qualname__ == "Desk.Night"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ours", "names no client; write it MODULE:CLIENT"),
        ("ours:", "names no client"),
        ("a/b.py:client", "names no client"),
        ("nonesuch:client", "there is no module nonesuch"),
        ("clients.nonesuch:client", "there is no module clients.nonesuch"),
        ("ours:clinet", r"has no 'clinet' \(did you mean 'client'\?\)"),
        ("ours:NUMBER", "is a int and no client"),
        ("needy:client", "cannot be imported: ModuleNotFoundError: No module named 'something_else'.*needy.py:1"),
        ("broken:client", "cannot be imported: ZeroDivisionError.*broken.py:2"),
        ("torn:client", "cannot be imported: SyntaxError.*torn.py:1"),
        ("leaving:client", "cannot be imported: SystemExit"),
    ],
)
def test_what_is_no_client_is_told(home: Path, name: str, told: str) -> None:
    (home / "ours.py").write_text("NUMBER = 1\nasync def client(line): ...\n")
    (home / "needy.py").write_text("import something_else\n")
    (home / "broken.py").write_text("\n1 / 0\n")
    (home / "torn.py").write_text("def client(:\n")
    (home / "leaving.py").write_text("import sys\nsys.exit(1)\n")
    with pytest.raises(SimrtError, match=told):
        load_client(name)
