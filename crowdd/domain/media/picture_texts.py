"""What a picture says of itself, made fit for a task: anybody can have written it."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

MAX_DESCRIPTION: Final = 2000  # characters
_JOINERS: Final = "\u200c\u200d"  # words of some languages need them
_DATE: Final = re.compile(r"(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.\d+)?\s*([+-]\d\d:\d\d|Z)?")


def clean_description(description: object) -> str:
    """One line without control characters and marks of direction, cut at ``MAX_DESCRIPTION`` characters."""
    if not isinstance(description, str):
        return ""
    shown = (c if c.isprintable() or c in _JOINERS else " " if c.isspace() else "" for c in description)
    words = " ".join("".join(shown).split())
    return words if len(words) <= MAX_DESCRIPTION else f"{words[: MAX_DESCRIPTION - 1]}…"


def clean_date(raw_date: object) -> str:
    """ISO 8601, ``2024-05-01T12:34:56`` or with an offset; "" for what is no date (cameras write 0000:00:00)."""
    match = _DATE.fullmatch(raw_date.strip()) if isinstance(raw_date, str) else None
    if match is None:
        return ""
    year, month, day, hour, minute, second, offset = match.groups()
    text = f"{year}-{month}-{day}T{hour}:{minute}:{second}{(offset or '').replace('Z', '+00:00')}"
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return ""
    return text
