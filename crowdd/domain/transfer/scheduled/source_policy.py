"""When a source of an import is read again after a failure, and when it is switched off: pure decisions."""

from __future__ import annotations

from typing import Final

from crowdd.concurrency.back_off import back_off

HOUR, DAY, WEEK = 3600, 86_400, 604_800
PERIODS: Final = (HOUR, DAY, WEEK)
MAX_SOURCES: Final = 10  # of a project
MAX_FAILURES: Final = 8  # in a row; then it is switched off
_FIRST_PAUSE, _GROWTH = 900.0, 2.0


def pause(failures: int, period: int) -> float:
    """Seconds to the next attempt after so many failures in a row: 15 minutes, 30, an hour … up to its period.

    A source that is read each hour waits longer and longer, too, up to a day.
    """
    return back_off(failures, _FIRST_PAUSE, _GROWTH, max(float(period), float(DAY)))


def is_off(failures: int) -> bool:
    """Whether a source is switched off after so many failures in a row."""
    return failures >= MAX_FAILURES
