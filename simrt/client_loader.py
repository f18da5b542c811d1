"""From `MODULE:CLIENT` to the client: what a user wrote in the current directory, or one that comes with simrt."""

import difflib
import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from simrt.errors import SimrtError

_SHAPE = "write it MODULE:CLIENT, as in clients.call:Call"


def load_client(name: str) -> Any:
    """The client called `module:attribute`. SimrtError says which half is wrong, and where the module broke."""
    module_name, colon, attribute = name.partition(":")
    if not colon or not attribute or not all(part.isidentifier() for part in module_name.split(".")):
        raise SimrtError(f"{name!r} names no client; {_SHAPE}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    module = _module(module_name)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise SimrtError(f"{module_name} has no {attribute!r}{_near(attribute, module)}; {_SHAPE}")
        found = getattr(found, part)
    if not callable(found):
        raise SimrtError(
            f"{name} is a {type(found).__name__} and no client; give an async function that takes a Line, or a class "
            "that is made with one and has run()"
        )
    return found


def cassettes_of(client: Any, name: str) -> list[str]:
    """The cassettes that a client says are its own, in `cassettes` (names or paths). SimrtError: it says nothing."""
    own = getattr(client, "cassettes", ())
    if not own or isinstance(own, str) or not all(isinstance(one, str) for one in own):
        raise SimrtError(
            f'which cassette? {name} names none of its own: give one, or have the client say cassettes = ["…"]'
        )
    return list(own)


def _module(name: str) -> ModuleType:
    from simrt.shipped import client_module

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not _is_part_of(error.name, name):
            raise _broken(name, error) from None
    except (Exception, SystemExit) as error:
        raise _broken(name, error) from None
    if name.partition(".")[0] == "clients":
        try:
            return client_module(name)
        except ModuleNotFoundError:
            pass
    raise SimrtError(
        f"there is no module {name}; it is looked for in the current directory ({Path.cwd()}) and in Python's path"
    )


def _is_part_of(missing: str | None, name: str) -> bool:
    """Whether it is the module itself that is missing, and not something that it imports."""
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def _broken(name: str, error: BaseException) -> SimrtError:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    frames = [frame for frame in frames if frame.filename != __file__]
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):
        place = f" ({error.filename}:{error.lineno})"
        return SimrtError(f"the module {name} cannot be imported: SyntaxError: {error.msg}{place}")
    return SimrtError(f"the module {name} cannot be imported: {type(error).__name__}: {error}{place}")


def _near(attribute: str, module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    near = difflib.get_close_matches(attribute, names, n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""
