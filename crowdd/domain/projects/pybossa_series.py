"""Figures of two weeks as series, in PyBossa's shapes (interface: projectstats-full)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta

from crowdd.storage.projects.figure_rows import Hour
from crowdd.values import JsonObject

DAYS = 14
_ALL, _ANONYMOUS, _AUTHENTICATED = "Anon + Auth", "Anonymous", "Authenticated"
Series = dict[str, object]


def days(since: date) -> list[date]:
    """The days of the two weeks that begin with ``since``."""
    return [since + timedelta(days=n) for n in range(DAYS)]


def per_day(hours: Iterable[Hour], since: date, of: Callable[[Hour], int]) -> list[int]:
    """A figure of each day, in order."""
    sums = dict.fromkeys(days(since), 0)
    for hour in hours:
        day = moment(hour["hour"]).date()
        if day in sums:
            sums[day] += of(hour)
    return list(sums.values())


def dates_stats(hours: Sequence[Hour], since: date, n_completed: int) -> list[Series]:
    """Answers of each day: all, anonymous, authenticated; then tasks completed by the end of each day.

    A value is a pair of the day's first millisecond since 1970 in UTC and the figure.
    """
    done = per_day(hours, since, lambda hour: hour["completed"])
    total, sums = n_completed - sum(done), []
    for count in done:
        total += count
        sums.append(total)
    return [
        {"label": _ALL, "values": _dated(since, per_day(hours, since, _runs))},
        {"label": _ANONYMOUS, "values": _dated(since, per_day(hours, since, _anonymous))},
        {"label": _AUTHENTICATED, "values": _dated(since, per_day(hours, since, _authenticated))},
        {"label": "Completed Tasks", "disabled": "True", "values": _dated(since, sums)},
    ]


def hours_stats(hours: Sequence[Hour]) -> list[Series]:
    """Answers by hour of the day: all, anonymous, authenticated. A value: hour, figure, and this as 0 to 5."""
    whole = _of_day(_ALL, hours, _runs)
    return [
        {**whole, "disabled": "True"},
        _of_day(_ANONYMOUS, hours, _anonymous),
        _of_day(_AUTHENTICATED, hours, _authenticated),
    ]


def users_stats(
    n_anonymous: int, n_authenticated: int, anonymous: list[JsonObject], authenticated: list[JsonObject]
) -> Series:
    """People who answered, and of each sort the five who did most: ``ip`` or ``name`` and ``tasks``."""
    counts = ((_ANONYMOUS, n_anonymous), (_AUTHENTICATED, n_authenticated))
    return {
        "users": {"label": "User Statistics", "values": [{"label": label, "value": [0, n]} for label, n in counts]},
        "anon": {
            "label": "Anonymous Users",
            "values": [{"label": one["volunteer"], "value": [one["tasks"]]} for one in anonymous],
            "top5": anonymous,
            "locs": [],
        },
        "auth": {
            "label": "Authenticated Users",
            "values": [{"label": one["name"], "value": [one["tasks"]]} for one in authenticated],
            "top5": authenticated,
        },
        "n_anon": n_anonymous,
        "n_auth": n_authenticated,
    }


def moment(value: str | datetime) -> datetime:
    """A time of PostgreSQL, as JSON or not, in UTC."""
    return (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)


def _of_day(label: str, hours: Iterable[Hour], of: Callable[[Hour], int]) -> Series:
    counts = [0] * 24
    for hour in hours:
        counts[moment(hour["hour"]).hour] += of(hour)
    maximum = max(counts)
    return {
        "label": label,
        "values": [[hour, count, count * 5 / maximum if maximum else 0] for hour, count in enumerate(counts)],
        "max": maximum,
    }


def _dated(since: date, counts: Sequence[int]) -> list[list[int]]:
    return [
        [int(datetime.combine(day, time(), UTC).timestamp() * 1000), count]
        for day, count in zip(days(since), counts, strict=True)
    ]


def _runs(hour: Hour) -> int:
    return _anonymous(hour) + _authenticated(hour)


def _anonymous(hour: Hour) -> int:
    return int(hour["runs_anonymous"])


def _authenticated(hour: Hour) -> int:
    return int(hour["runs_authenticated"])
