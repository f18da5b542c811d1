"""All exhibits, in the order of the list of reports."""

import importlib
import pkgutil

import tests.zoo
from tests.zoo.exhibit import Exhibit


def _all() -> tuple[Exhibit, ...]:
    found: list[Exhibit] = []
    for module in pkgutil.iter_modules(tests.zoo.__path__):
        if module.name.startswith("clients_"):
            found += importlib.import_module(f"tests.zoo.{module.name}").EXHIBITS
    return tuple(sorted(found, key=lambda exhibit: exhibit.row))


EXHIBITS = _all()
