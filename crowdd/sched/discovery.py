"""Find what each file of a folder declares, so that a new job or handler takes one new file."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def declared(package: ModuleType, name: str, kind: type[T]) -> Iterator[T]:
    """The value of ``name`` in every module of the package and its folders, in the order of the modules' names.

    Raises AttributeError where it is missing, and TypeError where it is not of this kind.
    """
    modules = walk_packages(package.__path__, f"{package.__name__}.")
    for module in sorted((each for each in modules if not each.ispkg), key=lambda each: each.name.rpartition(".")[2]):
        value = getattr(import_module(module.name), name)
        if not isinstance(value, kind):
            raise TypeError(f"{module.name}.{name} must be a {kind.__name__} (got {value!r}).")
        yield value
