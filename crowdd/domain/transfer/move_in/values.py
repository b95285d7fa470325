"""Values of PyBossa's columns as ours: times, texts and JSON that PostgreSQL and our rules take."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Final

import orjson

from crowdd import exact_json
from crowdd.errors import InvalidValueError
from crowdd.kinds import names
from crowdd.kinds.types import PICTURE_ADDRESS, Timestamp, iso
from crowdd.values import Values

REPAIRED: Final = "NUL or a lone surrogate in `info` became U+FFFD."
NO_OBJECT: Final = "`info` is not an object. It was put under the key `value`."
CLEANED: Final = "A name had invisible characters, or spaces that names do not have. They were removed."
NO_TIME: Final = "A time is missing or not valid. It became that of another column, or of the move."
_TIME: Final = Timestamp()
_BAD_ESCAPE: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_LONE: Final = 6  # characters of an escape by number
_BAD: Final = re.compile("[\x00\ud800-\udfff]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PICTURE: Final = re.compile(PICTURE_ADDRESS)


def moment(value: object) -> datetime | None:
    """A time of PyBossa: a text in UTC without zone. None for anything else."""
    if value is None or value == "":
        return None
    try:
        return _TIME.parse(str(value).strip())
    except InvalidValueError:
        return None


def utc(value: datetime) -> str:
    """A time as text for PostgreSQL."""
    return f"{iso(value)}Z"


def json_text(value: str | None) -> tuple[str, bool]:
    """JSON as text that ``jsonb`` takes, and whether it had to be repaired. None is JSON's null."""
    if value is None or value == "":
        return "null", False
    if not _BAD_ESCAPE.search(value):
        return value, False
    mended = _ESCAPE.sub(_mended, value)
    return mended, mended != value


def json_object(value: str | None) -> tuple[Values, list[str]]:
    """JSON as an object, and what had to be changed for that."""
    text, repaired = json_text(value)
    document = exact_json.stored(text)
    remarks = [REPAIRED] if repaired else []
    if document is None or isinstance(document, dict):
        return document or {}, remarks
    return {"value": document}, [*remarks, NO_OBJECT]


def line(value: object, maximum: int) -> str:
    """A text on one line, cut."""
    return _CONTROL.sub(" ", _BAD.sub("\ufffd", str(value or ""))).strip()[:maximum]


def name(value: object, maximum: int, remarks: list[str]) -> str:
    """A name that people read, cut and without invisible characters; the remarks say if it had any."""
    before = line(value, maximum)
    after = names.cleaned(before)
    if after != before:
        remarks.append(CLEANED)
    return after


def text(value: object) -> str:
    """A text of several lines."""
    return _BAD.sub("\ufffd", str(value or ""))


def whole(value: object, lowest: int, highest: int, default: int) -> int:
    """A whole number, moved into its range."""
    return default if value is None else min(max(int(str(value)), lowest), highest)


def number(value: object) -> float:
    """A finite number, 0 for anything else."""
    parsed = float(str(value)) if value is not None else 0.0
    return parsed if math.isfinite(parsed) else 0.0


def picture(value: object) -> str | None:
    """The address of a picture, or None for one that pages would not show."""
    url = str(value or "")
    return url if len(url) <= 2000 and _PICTURE.fullmatch(url) else None


def raw(text_of_json: str) -> orjson.Fragment:
    """JSON that stands in other JSON as it is."""
    return orjson.Fragment(text_of_json)


def now() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


def _mended(escape_match: re.Match[str]) -> str:
    """An escape of JSON that ``jsonb`` takes: a pair of surrogates is one character, a lone one is none."""
    escape = escape_match[0]
    return "\\ufffd" if len(escape) == _LONE and _BAD_ESCAPE.match(escape) else escape
