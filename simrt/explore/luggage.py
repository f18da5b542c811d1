"""A cassette on its way to another machine: its files, unpacked there once."""

import hashlib
import os
import threading
from pathlib import Path

import msgspec

from simrt.errors import CassetteError
from simrt.shipped import cassette as shipped_cassette


class Luggage(msgspec.Struct, frozen=True):
    """A cassette's files by name, and the digest of them all. `name`: its folder's."""

    name: str
    digest: str
    files: dict[str, bytes]


def pack(cassette: str) -> Luggage:
    """Pack the cassette in a folder, or the shipped one of that name. CassetteError: it cannot be read."""
    folder = Path(cassette)
    if not folder.exists() and folder.name == cassette:
        folder = shipped_cassette(cassette)
    try:
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    except OSError as error:
        raise CassetteError(f"the cassette {cassette} cannot be read: {error.strerror}; check the path") from None
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return Luggage(folder.resolve().name, digest.hexdigest(), files)


_unpacking = threading.Lock()
_unpacked: dict[tuple[str, str, Path], str] = {}


def unpack(luggage: Luggage, place: Path) -> str:
    """The folder with the cassette, written under `place` when this process sees it for the first time."""
    key = luggage.name, luggage.digest, place
    with _unpacking:
        if key not in _unpacked:
            folder = place / luggage.digest[:16] / luggage.name
            folder.mkdir(parents=True)
            for name, content in luggage.files.items():
                (folder / os.path.basename(name)).write_bytes(content)
            _unpacked[key] = str(folder)
        return _unpacked[key]
