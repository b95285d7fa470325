"""Times in words."""

from __future__ import annotations

from datetime import UTC, datetime

_STEPS = (
    (60, "second", 1),
    (3600, "minute", 60),
    (86400, "hour", 3600),
    (604800, "day", 86400),
    (2592000, "week", 604800),
)


def ago(moment: datetime | None, now: datetime | None = None) -> str | None:
    """ "2 hours ago" for a moment; None for none."""
    if moment is None:
        return None
    seconds = max(0, int(((now or datetime.now(UTC)) - moment).total_seconds()))
    for below, unit, size in _STEPS:
        if seconds < below:
            return _count(seconds // size, unit)
    if seconds < 31536000:
        return _count(seconds // 2592000, "month")
    return _count(seconds // 31536000, "year")


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"
