"""How long volunteers need for the answers of a project, before there are enough days to tell from."""

from __future__ import annotations

import math
from typing import Final, Literal

import attrs

ASSUMED_SECONDS: Final = 30
"""An answer takes so long as long as nobody gave one."""
MINUTES_A_DAY: Final = 10
"""So long a volunteer is assumed to stay on a day."""
USUAL_VOLUNTEERS: Final = 20
MAX_VOLUNTEERS: Final = 100_000
MIN_DAYS: Final = 5
"""Days of single volunteers from which their pace is taken; with fewer, it is that of the first one or two."""
_MIN_SECONDS, _MAX_SECONDS = 1.0, 3600.0  # seconds of an answer

Source = Literal["days", "answers", "trials", "assumed"]
Unit = Literal["hours", "days", "weeks", "months", "years"]
# Each with its length, and up to what it is used, both in days.
_UNITS: Final[tuple[tuple[Unit, float, float], ...]] = (
    ("hours", 1 / 24, 1.0),
    ("days", 1.0, 14.0),
    ("weeks", 7.0, 63.0),
    ("months", 365.25 / 12, 730.5),
    ("years", 365.25, math.inf),
)


@attrs.frozen
class Seen:
    """What was seen of a project.

    Volunteers gave ``answers`` on ``days``, a day for each of them. An answer took ``seconds``, the median of ``timed``
    answers. ``trial``: these were trials.
    """

    days: int
    answers: int
    timed: int
    seconds: float | None
    trial: bool


@attrs.frozen
class Pace:
    """How many answers a volunteer gives on a day, and from what that was taken: ``n`` days or answers."""

    per_day: float
    source: Source
    n: int = 0
    seconds: float = ASSUMED_SECONDS


@attrs.frozen
class Duration:
    """A rounded time. ``count`` is 0 for less than one hour."""

    count: int
    unit: Unit


def pace(seen: Seen) -> Pace:
    """The pace of a volunteer: that of the last days, else from how long answers took, else an assumption."""
    if not seen.trial and seen.days >= MIN_DAYS and seen.answers > 0:
        return Pace(seen.answers / seen.days, "days", seen.days)
    if seen.seconds is None or not seen.timed:
        return Pace(MINUTES_A_DAY * 60 / ASSUMED_SECONDS, "assumed")
    seconds = min(max(seen.seconds, _MIN_SECONDS), _MAX_SECONDS)
    return Pace(MINUTES_A_DAY * 60 / seconds, "trials" if seen.trial else "answers", seen.timed, seconds)


def days_needed(answers: int, tasks: int, per_day: float, volunteers: int) -> float:
    """Days until ``answers`` have come for ``tasks`` from so many volunteers a day, each giving ``per_day``.

    A volunteer answers a task once, so nobody gives more answers than there are tasks.
    """
    if answers <= 0 or tasks <= 0:
        return 0.0
    return answers / (volunteers * min(per_day, tasks))


def rounded(days: float) -> Duration:
    """A time in the unit that people would use, rounded up: a promise that is broken is worse than none."""
    if days * 24 < 1:
        return Duration(0, "hours")
    unit, length = next((unit, length) for unit, length, until in _UNITS if days < until)
    return Duration(math.ceil(days / length), unit)
