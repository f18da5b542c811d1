"""Cassettes on their way to another machine."""

from pathlib import Path

import pytest

from simrt.cassette.store import load
from simrt.errors import CassetteError
from simrt.explore.luggage import pack, unpack
from simrt.shipped import cassette

SHORT = "front-desk-short"


def test_what_is_unpacked_is_the_cassette_under_its_own_name(tmp_path: Path) -> None:
    folder = Path(unpack(pack(SHORT), tmp_path))
    assert folder != cassette(SHORT)
    assert folder.name == SHORT
    assert load(folder).header.digest == load(cassette(SHORT)).header.digest
    assert load(folder).trace == load(cassette(SHORT)).trace


def test_it_is_unpacked_once(tmp_path: Path) -> None:
    by_name, by_path = pack(SHORT), pack(str(cassette(SHORT)))
    assert by_name == by_path
    assert unpack(by_name, tmp_path) == unpack(by_path, tmp_path)


def test_an_other_cassette_of_the_same_name_is_another(tmp_path: Path) -> None:
    (tmp_path / SHORT).mkdir()
    for path in cassette(SHORT).iterdir():
        (tmp_path / SHORT / path.name).write_bytes(path.read_bytes())
    same = pack(str(tmp_path / SHORT))
    assert same == pack(SHORT)
    (tmp_path / SHORT / "note.txt").write_text("mine")
    assert unpack(pack(str(tmp_path / SHORT)), tmp_path) != unpack(same, tmp_path)


def test_one_that_is_not_there_is_told() -> None:
    with pytest.raises(CassetteError, match="cannot be read"):
        pack("here/nonesuch")
