"""Snapshots of calls with syrupy: one readable file a scenario. What is in it, see simrt.describe.

    def test_goodbye(simrt_call, simrt_snapshot):
        result = simrt_call(client, "front-desk")
        assert result == simrt_snapshot
        assert (result, {"ledger": desk.ledger}) == simrt_snapshot(name="with ledger")

The fixture `simrt_snapshot` is syrupy's `snapshot` with this extension.
"""

from typing import Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from simrt.describe import call_text, plain_text
from simrt.result import CallResult

__all__ = ["CallSnapshotExtension", "call_text", "plain_text"]


class CallSnapshotExtension(SingleFileSnapshotExtension):
    """One `.txt` file a snapshot: of a CallResult, of a pair of it and a dict of more sections, or of plain values.

    Plain values are str (kept as it is), and dict, list, numbers, msgspec structs and dataclasses (as YAML). `exclude`
    and `include` of syrupy are for object trees, not for text: they raise TypeError.
    """

    _write_mode = WriteMode.TEXT
    file_extension = "txt"
    _file_extension = "txt"  # its name in syrupy 4

    def serialize(self, data: Any, *, exclude: Any = None, include: Any = None, matcher: Any = None) -> str:
        """The text of a value."""
        if exclude is not None or include is not None:
            raise TypeError("a call snapshot is text: take out what shall not be in it, exclude and include cannot")
        if isinstance(data, CallResult):
            return call_text(data)
        if isinstance(data, tuple) and len(data) == 2 and isinstance(data[0], CallResult):
            return call_text(data[0], data[1])
        return plain_text(data)
