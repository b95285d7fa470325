"""From records of the API to DataFrames: a column for each attribute and for each key of ``info``, of one type."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from crowdd_client.optional import optional

TIMES = frozenset({"created", "finish_time", "updated", "retired_at"})
_MIN, _MAX = -(2**63), 2**63 - 1
Column = tuple[str, list[Any]]
"""The type of a column (boolean, integer, number, text, time, null) and its values, None where one is missing."""


def columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, Column]:
    """The columns of these rows in the order in which they are found, keys of ``info`` last."""
    own: dict[str, list[Any]] = {}
    keys: dict[str, list[Any]] = {}
    count = 0
    for row in rows:
        for name, value in row.items():
            if name == "info" and isinstance(value, dict):
                for key, inner in value.items():
                    _put(keys, f"info_{key}", inner, count)
            else:
                _put(own, name, value, count)
        count += 1
    by_name = own | {name: values for name, values in keys.items() if name not in own}
    for values in by_name.values():
        values += [None] * (count - len(values))
    return {name: _typed(name, values) for name, values in by_name.items()}


def _put(by_name: dict[str, list[Any]], name: str, value: Any, row: int) -> None:
    values = by_name.setdefault(name, [])
    values += [None] * (row - len(values))
    values.append(value)


def _typed(name: str, values: list[Any]) -> Column:
    kinds = {_kind(value) for value in values if value is not None}
    if not kinds:
        return "null", values
    if kinds == {"integer", "number"}:
        return "number", [None if value is None else float(value) for value in values]
    if kinds == {"text"}:
        return ("time" if name in TIMES else "text"), values
    if len(kinds) == 1 and kinds < {"boolean", "integer", "number"}:
        return kinds.pop(), values
    return "text", [None if value is None else _text(value) for value in values]


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if _MIN <= value <= _MAX else "large"
    if isinstance(value, float):
        return "number"
    return "text" if isinstance(value, str) else "json"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def to_pandas(rows: Iterable[Mapping[str, Any]]) -> Any:
    """A DataFrame of pandas. Whole numbers and truth values have types that know missing values."""
    pandas = optional("pandas", "pandas")
    types = {"boolean": "boolean", "integer": "Int64", "number": "Float64", "text": "string", "null": "object"}
    made = {
        name: pandas.to_datetime(pandas.Series(values, dtype="object"), utc=True, format="ISO8601")
        if kind == "time"
        else pandas.Series(values, dtype=types[kind])
        for name, (kind, values) in columns(rows).items()
    }
    return pandas.DataFrame(made)


def to_polars(rows: Iterable[Mapping[str, Any]]) -> Any:
    """A DataFrame of polars."""
    polars = optional("polars", "polars")
    types = {
        "boolean": polars.Boolean,
        "integer": polars.Int64,
        "number": polars.Float64,
        "text": polars.String,
        "time": polars.String,
        "null": polars.Null,
    }
    made = []
    for name, (kind, values) in columns(rows).items():
        series = polars.Series(name, values, dtype=types[kind])
        made.append(series.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_zone="UTC") if kind == "time" else series)
    return polars.DataFrame(made)
