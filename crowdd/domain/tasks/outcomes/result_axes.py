"""Where tasks have a place and a date: which keys of their ``info`` say so. Pure functions of a few examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

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
_NUMBER = re.compile(r"\s*-?\d{1,3}(\.\d{1,20})?\s*", re.ASCII)
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


def recognise(infos: Iterable[object], roles: Mapping[str, str] | None = None) -> Axes:
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
    return _NUMBER.fullmatch(text) is not None and abs(float(text)) <= maximum


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
