"""Canonical JSON (RFC 8785): equal values have equal bytes on every machine.

One thing differs from the standard: numbers that a double does not have keep all their digits, where the standard
would round them to double precision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import orjson

from crowdd.kernel import exact_json
from crowdd.kernel.lazy import lazy
from crowdd.kernel.values import Json

rfc8785 = lazy("rfc8785")

_FAST: Final = orjson.OPT_SORT_KEYS
_BEYOND: Final = "\ue000"  # from here on, UTF-16 has another order than code points
_ESCAPED: Final = re.compile(r"\\u[d-f]", re.IGNORECASE)  # the same, or a surrogate


def dumps(value: object) -> bytes:
    """The value as canonical JSON. Raises ValueError for what JSON does not have."""
    return "".join(_parts(value)).encode()


def canonical(text: str | bytes) -> bytes:
    """The value of a JSON text as canonical JSON."""
    return encode_line(*parsed(text))


def parsed(text: str | bytes) -> tuple[Json, bool]:
    """The value of a JSON text, and whether ``encode_line`` must write it slowly: for numbers or names of keys."""
    text = text if isinstance(text, str) else text.decode()
    slow = _ESCAPED.search(text) is not None or (not text.isascii() and max(text) >= _BEYOND)

    def number(digits: str) -> float | Decimal:
        nonlocal slow
        slow = True
        return float(digits) if exact_json.is_double(digits) else Decimal(digits)

    return json.loads(text, parse_float=number), slow


def encode_line(value: object, slow: bool) -> bytes:
    """A value that ``parsed`` gave, as canonical JSON."""
    if not slow:
        try:
            return orjson.dumps(value, option=_FAST)
        except TypeError:
            pass  # whole numbers of more than 64 bits, and lone surrogates
    return dumps(value)


def _parts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for nth, key in enumerate(sorted(value, key=_utf16)):
            yield f"{',' if nth else ''}{_scalar(key)}:"
            yield from _parts(value[key])
        yield "}"
    elif isinstance(value, list | tuple):
        yield "["
        for nth, each in enumerate(value):
            if nth:
                yield ","
            yield from _parts(each)
        yield "]"
    else:
        yield _scalar(value)


def _scalar(value: object) -> str:
    if type(value) is int:
        return str(value)
    if isinstance(value, Decimal):
        return format(value, "f").rstrip("0") if "." in f"{value:f}" else f"{value:f}"
    encoded: bytes = rfc8785.dumps(value)
    return encoded.decode()


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")
