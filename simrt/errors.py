"""The errors that simrt raises on purpose. Each names the thing, the place and the way out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simrt.result import CallResult


class SimrtError(Exception):
    """Base of all errors that are meant for the user: the command line prints them without a traceback."""


class CassetteError(SimrtError):
    """A cassette that cannot be read or written: broken line, missing audio, wrong digest, newer format."""


class ImportFormatError(SimrtError):
    """A foreign recording that no importer understands, or that is damaged."""


class PlanError(SimrtError):
    """A fault that is misspelt, or that can never fire on the cassette it is meant for."""


class WorldError(SimrtError):
    """Something that cannot happen inside a World: a deadlock, a connection to an unserved host."""


class CallError(SimrtError):
    """The client under test raised, never connected, or never closed. `result` is the call as far as it went."""

    result: "CallResult | None" = None
