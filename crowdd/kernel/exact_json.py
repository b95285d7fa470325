"""JSON without rounding: the one way in which JSON that is stored, or comes from the database, becomes values.

orjson reads a whole number of more than 64 bits, and a decimal with more digits than a double has, as the next
double. Here such a number stays what was written: an ``orjson.Fragment``, which orjson writes as it is, and which no
check takes for a number. Other numbers are ``int`` and ``float``, as orjson has them. A number whose plain form has
more than MAX_DIGITS digits is refused, because a few bytes would become a long text in the database.

Scripts round whatever a double does not have: ``for_scripts`` makes texts of such numbers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal, DecimalException
from typing import Any, Final

import orjson

from crowdd.kernel.languages import _

MAX_DIGITS: Final = 400
_TOO_LONG: Final = ("number with too many digits", "number is infinity when parsed as double")  # ours and orjson's
_TOO_DEEP: Final = "nested too deeply"
_SHAPE: Final = bytes.maketrans(b"123456789.E+", b"0000000000e-")
_LONG: Final = b"0" * 16
"""How the shortest number looks that a double may not have, with _SHAPE: any 15 digits come back from a double."""
_FAR: Final = (b"0e000", b"0e-000")  # exponents at which doubles end
_NOT_FINITE: Final = re.compile(r"NaN|Infinity")
_NUMBER: Final = re.compile(rb"[0-9.]++(?:[eE][-+]?[0-9]++)?")
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|-?[0-9][0-9.eE+-]*+', re.DOTALL)
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1  # whole numbers that orjson reads and writes exactly


def loads(text: str | bytes) -> Any:
    """The value of a JSON text from outside. Raises orjson.JSONDecodeError, also for a number that is too long."""
    value = orjson.loads(text)
    return value if _is_safe(text, _is_read) else _parsed(text, MAX_DIGITS)


def stored(text: str | bytes) -> Any:
    """The value of a JSON text that was stored, whose numbers may be of any length."""
    return orjson.loads(text) if _is_safe(text, _is_read) else _parsed(text, None)


def for_scripts(text: str) -> str:
    """A JSON text in which each number that a script would round is a text of the same digits."""
    return text if _is_safe(text, is_double) else _TOKEN.sub(_quoted, text)


def reason(error: orjson.JSONDecodeError) -> str:
    """Why a text is not JSON: what stands where, without a full stop.

    NaN and Infinity are named: JSON has no such numbers, but Python's json module and pandas write them.
    """
    if error.msg in _TOO_LONG:
        return _(
            "the number in line %(line)s, column %(column)s has too many digits to be stored exactly. Send it as text",
            line=error.lineno,
            column=error.colno,
        )
    word = non_finite(error)
    if not word:
        return str(error)
    where = {"word": word, "line": error.lineno, "column": error.colno}
    if word == "NaN":
        return _(
            "JSON has no %(word)s (line %(line)s, column %(column)s). Python and pandas write it for missing values:"
            " send null instead",
            **where,
        )
    return _("JSON has no %(word)s (line %(line)s, column %(column)s). Send null or a finite number instead", **where)


def non_finite(error: orjson.JSONDecodeError) -> str:
    """NaN or Infinity, if that is what the parser could not read; otherwise an empty text."""
    word = _NOT_FINITE.match(error.doc, error.pos)
    return word[0] if word else ""


def is_double(digits: str) -> bool:
    """Whether a double has this number: the shortest form of the double has the same value."""
    try:
        shortest = repr(float(digits))
        return shortest == digits or Decimal(shortest) == Decimal(digits)
    except (ValueError, DecimalException):  # no number, but digits and points in a text; an exponent beyond all bounds
        return False


def _is_read(digits: str) -> bool:
    """Whether orjson reads exactly this number."""
    return is_double(digits) or (digits.lstrip("-").isdigit() and _LOWEST <= int(digits[:21]) <= _HIGHEST)


def _is_safe(text: str | bytes, is_safe: Callable[[str], bool]) -> bool:
    """Whether the rule holds for all numbers. It may say no because of digits inside a text, which costs only time."""
    text = text.encode() if isinstance(text, str) else text
    shape = text.translate(_SHAPE)
    return not any(far in shape for far in _FAR) and (
        _LONG not in shape or all(map(is_safe, _long_numbers(text, shape)))
    )


def _long_numbers(text: bytes, shape: bytes) -> Iterator[str]:
    """What may be a number that a double does not have."""
    at = shape.find(_LONG)
    while at >= 0:
        number = _NUMBER.match(text, at)
        end = number.end() if number else at + 1
        yield text[at - (text[at - 1 : at] == b"-") : end].decode()
        at = shape.find(_LONG, end)


def _parsed(text: str | bytes, max_digits: int | None) -> object:
    """The value of a text that is JSON, number by number."""

    def number(digits: str) -> object:
        if _is_read(digits):
            return orjson.loads(digits)
        if max_digits is not None and _plain_digits(digits) > max_digits:
            raise _refusal(_TOO_LONG[0], text, digits)
        return orjson.Fragment(digits)

    try:
        return json.loads(text, parse_int=number, parse_float=number)
    except RecursionError:
        raise _refusal(_TOO_DEEP, text) from None


def _plain_digits(digits: str) -> float:
    """How many digits a number has when it is written without an exponent."""
    try:
        _sign, figures, exponent = Decimal(digits).as_tuple()
    except DecimalException:
        return math.inf
    return max(len(figures) + max(int(exponent), 0), -int(exponent))


def _refusal(reason: str, text: str | bytes, digits: str = "") -> orjson.JSONDecodeError:
    document = text if isinstance(text, str) else text.decode()
    return orjson.JSONDecodeError(reason, document, max(document.find(digits), 0))


def _quoted(token: re.Match[str]) -> str:
    return token[0] if token[0].startswith('"') or is_double(token[0]) else f'"{token[0]}"'
