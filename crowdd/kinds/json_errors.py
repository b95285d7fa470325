"""Why a text is not JSON, for the person who wrote it or whose program did."""

from __future__ import annotations

import re

import orjson

from crowdd.languages import _

_NOT_FINITE = re.compile(r"NaN|Infinity")


def reason(error: orjson.JSONDecodeError) -> str:
    """What stands where, without a full stop.

    NaN and Infinity are named: JSON has no such numbers, but Python's json module and pandas write them.
    """
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
