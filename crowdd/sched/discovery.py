"""Finds what each file of a folder declares, so that a new file is all that a new job or work takes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


def declared(package: ModuleType, name: str) -> Iterator[Any]:
    """The value of ``name`` in every module of the package, by their names. AttributeError where it is missing."""
    for module in sorted(iter_modules(package.__path__), key=lambda each: each.name):
        yield getattr(import_module(f"{package.__name__}.{module.name}"), name)
