"""From values of Python, numpy and pandas to JSON. Pure decisions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

_MIN, _MAX = -(2**63), 2**63 - 1
_AS_TEXT = (Decimal, UUID, PurePath)


Time = str | date
"""A moment: ISO 8601, a date or a datetime; what has no zone is UTC."""


def iso(value: Time | None) -> str | None:
    """The time as a query has it."""
    return value.isoformat() if isinstance(value, date) else value


def exact_number(digits: str) -> float | Decimal:
    """A number of JSON that is not whole: as a ``Decimal`` if a ``float`` would be another number."""
    value = float(digits)
    return value if Decimal(repr(value)) == Decimal(digits) else Decimal(digits)


def json_value(value: Any) -> Any:
    """The value as JSON has it; null for one that is missing. Raises ValueError for one that JSON has not."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Enum):
        return json_value(value.value)
    if isinstance(value, int):
        return _whole(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return {str(key): json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(each) for each in value]
    if is_missing(value):
        return None
    return _foreign(value)


def is_missing(value: object) -> bool:
    """Whether it is the NaT or NA of pandas, which is not imported for this."""
    return type(value).__name__ in ("NaTType", "NAType")


def _whole(value: int) -> int:
    if not _MIN <= value <= _MAX:
        raise ValueError(f"The whole number {value} has more than 64 bits. Send it as text.")
    return int(value)


def _number(value: float) -> float | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        raise ValueError("A number is not finite.")
    return float(value)


def _foreign(value: Any) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, _AS_TEXT):
        return str(value)
    for method in ("tolist", "to_list"):  # an array, a scalar of numpy, a series of polars
        if hasattr(value, method):
            made = getattr(value, method)()
            if type(made) is not type(value):
                return json_value(made)
    raise ValueError(f"A value of the type {type(value).__name__} cannot be sent as JSON.")
