"""Find what features declare, by their names alone."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from typing import Final, TypeVar

from crowdd import PACKAGE
from crowdd.features import FEATURES

T = TypeVar("T")
OF_SCHEDULER: Final = ("assignment", "job_runner", "statistics", "feature")


def _values(file: str) -> Iterator[object]:
    """What the modules of this name in the folders of features declare, in the order of the features."""
    for name in FEATURES:
        if (PACKAGE / "features" / name / f"{file}.py").is_file():
            yield from _declared_in(f"crowdd.features.{name}.{file}")


def _declared_in(module: str) -> Iterator[object]:
    for value in vars(import_module(module)).values():
        if not isinstance(value, type) or value.__module__ == module:
            yield value


def declared(kind: type[T]) -> list[T]:
    """Every job or handler that the scheduler and the features declare."""
    of_scheduler = chain.from_iterable(_declared_in(f"crowdd.sched.{name}") for name in OF_SCHEDULER)
    return [value for value in chain(of_scheduler, _values("feature")) if isinstance(value, kind)]


def declared_classes(base: type[T], file: str) -> list[type[T]]:
    """The classes of the features that are a ``base``, in their order, from their modules of this name."""
    return [value for value in _values(file) if isinstance(value, type) and issubclass(value, base)]
