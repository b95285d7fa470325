"""How large a JSON value may be, and the sentence for one that is larger. 1 kB is 1,000 bytes."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from crowdd.kernel.errors import TooLargeError


def json_bytes(value: object) -> int:
    """The length of the value as compact JSON in UTF-8; 0 for what JSON cannot hold, which is refused elsewhere."""
    try:
        return len(orjson.dumps(value))
    except TypeError:
        return 0


def kilobytes(size: int) -> str:
    """A size in whole kB, rounded up: 8999001 is "9,000 kB"."""
    return f"{-(-size // 1000):,} kB"


def too_large(name: str, limit: int, size: int) -> TooLargeError:
    """The error for an attribute that may hold ``limit`` bytes and got ``size``."""
    return TooLargeError(
        f"`{name}` may hold {kilobytes(limit)} (got {kilobytes(size)}).",
        code="attribute_too_large",
        hint="Shorten it, or upload a file and store its address.",
    )


def require_size(name: str, value: object, limit: int, key_limits: Mapping[str, int]) -> None:
    """Raises TooLargeError for a value beyond ``limit``; first-level keys of ``key_limits`` have their own limits."""
    rest = value
    if key_limits and isinstance(value, Mapping):
        for key in key_limits.keys() & value.keys():
            _require(f"{name}.{key}", value[key], key_limits[key])
        rest = {key: part for key, part in value.items() if key not in key_limits}
    _require(name, rest, limit)


def _require(name: str, value: object, limit: int) -> None:
    size = json_bytes(value)
    if size > limit:
        raise too_large(name, limit, size)
