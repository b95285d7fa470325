"""The map and the timeline of a project's results, and which keys of ``info`` say where and when a task is. Pure.

The keys are recognised from a few examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

import attrs

from crowdd.database.access import Database
from crowdd.features.projects import statements as project_statements
from crowdd.features.results import statements
from crowdd.features.results.rows import BinnedAnswer, PlaceBin, TimeBin
from crowdd.kernel.values import Values

_LATITUDE = ("latitude", "lat", "decimallatitude", "gps_latitude", "breite", "breitengrad", "latitud")
_LONGITUDE = ("longitude", "lon", "lng", "long", "decimallongitude", "gps_longitude", "länge", "längengrad", "longitud")
_DATE = (
    "date",
    "eventdate",
    "datum",
    "fecha",
    "taken",
    "recorded",
    "observed",
    "timestamp",
    "datetime",
    "year",
    "jahr",
)
_NUMBER = re.compile(r"\s*-?\d{1,3}([.,]\d{1,20})?\s*", re.ASCII)
_DAY = re.compile(r"\s*\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])([T ].*)?)?)?\s*", re.ASCII)
_FULL_DAY = re.compile(r"\s*[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ].*)?\s*", re.ASCII)


@attrs.frozen
class Place:
    """The keys of a latitude and a longitude; ``longitude`` is "" if the first is that of a GeoJSON point."""

    latitude: str
    longitude: str = ""

    @property
    def columns(self) -> list[str]:
        """Its keys."""
        return [key for key in (self.latitude, self.longitude) if key]


@attrs.frozen
class Axes:
    """What results can be drawn by; ``date`` is the key of a date that begins with a year."""

    place: Place | None
    date: str | None


def recognise_axes(infos: Iterable[object], roles: Mapping[str, str] | None = None) -> Axes:
    """The axes of tasks with these examples of ``info``: keys that at least half of them have with fitting values.

    ``roles`` of columns, which their owner has chosen, come before names.
    """
    examples = [info for info in infos if isinstance(info, dict)]
    by_role = {role: name for name, role in reversed([*(roles or {}).items()])}
    return Axes(_placed(examples, by_role) or _place(examples), _dated(examples, by_role) or _date(examples))


def _placed(examples: Sequence[Mapping[str, object]], by_role: Mapping[str, str]) -> Place | None:
    latitude, longitude = by_role.get("latitude", ""), by_role.get("longitude", "")
    if _fits(examples, latitude, lambda value: _within(value, 90)) and _fits(
        examples, longitude, lambda value: _within(value, 180)
    ):
        return Place(latitude, longitude)
    place = by_role.get("place", "")
    return Place(place) if _fits(examples, place, is_point) else None


def _dated(examples: Sequence[Mapping[str, object]], by_role: Mapping[str, str]) -> str | None:
    date = by_role.get("date", "")
    return date if _fits(examples, date, is_date) else None


def _place(examples: Sequence[Mapping[str, object]]) -> Place | None:
    latitude = _named(examples, _LATITUDE, lambda value: _within(value, 90))
    longitude = _named(examples, _LONGITUDE, lambda value: _within(value, 180))
    if latitude and longitude:
        return Place(latitude, longitude)
    return next((Place(key) for key in _keys(examples) if _fits(examples, key, is_point)), None)


def _date(examples: Sequence[Mapping[str, object]]) -> str | None:
    named = _named(examples, _DATE, is_date)
    return named or next((key for key in _keys(examples) if _fits(examples, key, _is_full_date)), None)


def _named(examples: Sequence[Mapping[str, object]], names: Sequence[str], fits: Callable[[Any], bool]) -> str | None:
    """The key with the first of these names, in any case, whose values fit."""
    keys_by_name = {key.lower(): key for key in reversed(_keys(examples))}
    keys = (keys_by_name[name] for name in names if name in keys_by_name)
    return next((key for key in keys if _fits(examples, key, fits)), None)


def _keys(examples: Sequence[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(key for info in examples for key in info))


def _fits(examples: Sequence[Mapping[str, object]], key: str, fits: Callable[[Any], bool]) -> bool:
    return 2 * sum(fits(info.get(key)) for info in examples) >= len(examples) > 0


def _within(value: object, maximum: float) -> bool:
    """Whether a value is a number of degrees, or a text of one."""
    text = str(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    return _NUMBER.fullmatch(text) is not None and abs(float(text.replace(",", "."))) <= maximum


def is_point(value: object) -> bool:
    """Whether a value is a GeoJSON point."""
    at = value.get("coordinates") if isinstance(value, dict) and value.get("type") == "Point" else None
    return isinstance(at, list) and len(at) >= 2 and _within(at[0], 180) and _within(at[1], 90)


def is_date(value: object) -> bool:
    """Whether a value is a year, a month or a day of ISO 8601."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    return _DAY.fullmatch(text) is not None


def _is_full_date(value: object) -> bool:
    return isinstance(value, str) and _FULL_DAY.fullmatch(value) is not None


class ResultMap(TypedDict):
    """``columns`` are the keys of ``info`` that say where a task is."""

    columns: list[str]
    points: list[PlaceBin]


class Timeline(TypedDict):
    """``column`` is the key of ``info`` that says when."""

    column: str
    times: list[TimeBin]


class Charts(TypedDict):
    """Results of every ``step``-th task, ``tasks`` in all, by place and date.

    A ``group`` is the place of an answer in ``answers``. The next number stands for other answers, the one after it for
    tasks without a single most frequent answer.
    """

    step: int
    tasks: int
    answers: list[BinnedAnswer]
    map: ResultMap | None
    timeline: Timeline | None


async def charts_of(
    db: Database, project_id: int, examples: Sequence[Values], roles: Mapping[str, str], *, owns: bool
) -> Charts | None:
    """The charts of a project, None if these tasks of it have neither place nor date: then nothing is read."""
    axes = recognise_axes((task["task_info"] for task in examples), roles)
    if axes.place is None and axes.date is None:
        return None
    ordinals = await project_statements.count_ordinals(db, project_id)
    latitude, longitude = (axes.place.latitude, axes.place.longitude) if axes.place else ("", "")
    bins = await statements.count_bins(db, project_id, ordinals, latitude, longitude, axes.date or "", owns=owns)
    places, times = bins["places"], bins["times"]
    return Charts(
        step=bins["step"],
        tasks=bins["tasks"],
        answers=bins["answers"],
        map=ResultMap(columns=axes.place.columns, points=places) if axes.place and places else None,
        timeline=Timeline(column=axes.date, times=times) if axes.date and times else None,
    )
