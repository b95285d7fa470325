"""Convert values of PyBossa's columns, and count by table what became of the rows.

Times, texts and JSON become what PostgreSQL and our rules take. The counts add up, and sentences say what differs
and why.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

import attrs
import orjson

from crowdd.features.movein.statements import Fate, Step
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.values import Values
from crowdd.kinds import names
from crowdd.kinds.types import PICTURE_ADDRESS, Timestamp, iso

ADDED: Final = "added"
_SHOWN: Final = 20  # ids of each sentence


class Refused(Exception):  # noqa: N818 - it is no error of the program, and never leaves the package
    """A row that cannot come over; the text says why."""


@attrs.frozen
class Converted:
    """A row as ours, and sentences about what was changed."""

    values: Values
    remarks: list[str]


def new_step(name: str) -> Step:
    """A table that was not begun."""
    return {"name": name, "upto": 0, "read": 0, "added": 0, "refused": 0, "remarks": {}, "ended": False}


def note(step: Step, sentence: str, ids: Iterable[int | str], *, refused: bool = False) -> None:
    """Counts rows that a sentence is about. The first ids are kept."""
    remark = step["remarks"].setdefault(sentence, {"rows": 0, "refused": refused, "first": []})
    for row_id in ids:
        remark["rows"] += 1
        if len(remark["first"]) < _SHOWN:
            remark["first"].append(row_id)


def note_fates(step: Step, fates: Iterable[Fate]) -> None:
    """Counts rows by what became of them."""
    for each in fates:
        if each.fate == ADDED:
            step["added"] += 1
        else:
            refuse(step, each.id, each.fate)


def refuse(step: Step, row_id: int, why: str) -> None:
    """Counts a row that was refused."""
    step["refused"] += 1
    note(step, why, [row_id], refused=True)


NOT_JSON: Final = "`info` is not JSON. Its text was put under the key `value`."
BAD_ROW: Final = "The row cannot be stored: {reason}."
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


def parse_time(value: object) -> datetime | None:
    """A time of PyBossa: a text in UTC without zone. None for anything else."""
    if value is None or value == "":
        return None
    try:
        return _TIME.parse(str(value).strip())
    except InvalidValueError:
        return None


def format_utc(value: datetime) -> str:
    """A time as text for PostgreSQL."""
    return f"{iso(value)}Z"


def json_text(value: str | None) -> tuple[str, list[str]]:
    """JSON as text that ``jsonb`` takes, and what had to be changed for that. None is JSON's null.

    Early versions of PyBossa kept it in columns of text, where something else may stand.
    """
    if value is None or value == "":
        return "null", []
    if not _is_json(value):
        return orjson.dumps({"value": clean_text(value)}).decode(), [NOT_JSON]
    if not _BAD_ESCAPE.search(value):
        return value, []
    mended = _ESCAPE.sub(_mended, value)
    return mended, [REPAIRED] if mended != value else []


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        return _is_unusual_json(text)
    return True


def _is_unusual_json(text: str) -> bool:
    """Whether PostgreSQL may take a text that is nested too deeply, or has larger numbers, than orjson reads."""
    try:
        json.loads(text, parse_constant=int)  # raises ValueError for NaN, which JSON does not have
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def json_object(value: str | None) -> tuple[Values, list[str]]:
    """JSON as an object, and what had to be changed for that."""
    text, remarks = json_text(value)
    document = exact_json.stored(text)
    if document is None or isinstance(document, dict):
        return document or {}, remarks
    return {"value": document}, [*remarks, NO_OBJECT]


def clean_line(value: object, maximum: int) -> str:
    """A text on one line, cut."""
    return _CONTROL.sub(" ", _BAD.sub("\ufffd", str(value or ""))).strip()[:maximum]


def clean_name(value: object, maximum: int, remarks: list[str]) -> str:
    """A name that people read, cut and without invisible characters; the remarks say if it had any."""
    before = clean_line(value, maximum)
    after = names.cleaned(before)
    if after != before:
        remarks.append(CLEANED)
    return after


def clean_text(value: object) -> str:
    """A text of several lines."""
    return _BAD.sub("\ufffd", str(value or ""))


def whole_number(value: object, lowest: int, highest: int, default: int) -> int:
    """A whole number, moved into its range."""
    return default if value is None else min(max(int(str(value)), lowest), highest)


def finite_number(value: object) -> float:
    """A finite number, 0 for anything else."""
    parsed = float(str(value)) if value is not None else 0.0
    return parsed if math.isfinite(parsed) else 0.0


def picture_address(value: object) -> str | None:
    """The address of a picture, or None for one that pages would not show."""
    url = str(value or "")
    return url if len(url) <= 2000 and _PICTURE.fullmatch(url) else None


def raw_json(text_of_json: str) -> orjson.Fragment:
    """JSON that stands in other JSON as it is."""
    return orjson.Fragment(text_of_json)


def current_time() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


def _mended(escape_match: re.Match[str]) -> str:
    """An escape of JSON that ``jsonb`` takes: a pair of surrogates is one character, a lone one is none."""
    escape = escape_match[0]
    return "\\ufffd" if len(escape) == _LONE and _BAD_ESCAPE.match(escape) else escape
