"""Whether rows have the columns, and the types of values, that their row type declares."""

from __future__ import annotations

import functools
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired, TypeVar, Union

import attrs

from crowdd.database import access

R = TypeVar("R")


def converted(row: type[R], rows: Sequence[access.Row]) -> list[R]:
    """As ``crowdd.database.access`` converts them, but refuse rows that are not what the type says."""
    for each in rows:
        for complaint in complaints(row, each):
            raise AssertionError(f"{row.__module__}.{row.__name__}: {complaint}")
    return _converted(row, rows)


_converted = access._converted


def complaints(row: type, values: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a row, in a sentence each."""
    declared = columns(row)
    for name in values.keys() - declared.keys():
        yield f"the statement gives {name}, which the type does not have."
    for name, declaration in declared.items():
        if name in values and not _fits(values[name], declaration):
            yield f"{name} is {values[name]!r:.100} ({type(values[name]).__name__}), not {declaration}."
        elif name not in values and typing.get_origin(declaration) is not NotRequired:
            yield f"the statement does not give {name}."


@functools.cache
def columns(row: type) -> dict[str, Any]:
    """The columns that a row type declares, each with its type."""
    if attrs.has(row):
        return {field.name: _evaluated(str(field.type), row.__module__) for field in attrs.fields(row)}
    return {
        name: _evaluated(hint.__forward_arg__, hint.__forward_module__ or row.__module__)
        for name, hint in row.__annotations__.items()
    }


def _evaluated(text: str, module: str) -> Any:
    return eval(text, {**vars(sys.modules[module]), "bytes": bytes})


def _fits(value: Any, declared: Any) -> bool:
    origin = typing.get_origin(declared)
    if origin is NotRequired:
        return _fits(value, typing.get_args(declared)[0])
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in typing.get_args(declared))
    if isinstance(declared, str):  # Json, which refers to itself
        return True
    if declared is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if declared is bytes:  # a converter of an attrs class makes them
        return isinstance(value, bytes | memoryview)
    return value is None if declared in (None, types.NoneType) else isinstance(value, origin or declared)
