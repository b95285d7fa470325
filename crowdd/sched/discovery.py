"""Find what the listed modules declare."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


def declared(modules: Iterable[str], kind: type[T]) -> list[T]:
    """Every value of this kind that the modules of these names have, each once. Raises TypeError where one has none."""
    values: list[T] = []
    for name in dict.fromkeys(modules):
        own = [value for value in vars(import_module(name)).values() if isinstance(value, kind)]
        if not own:
            raise TypeError(f"{name} must declare a {kind.__name__}.")
        values += own
    return values
