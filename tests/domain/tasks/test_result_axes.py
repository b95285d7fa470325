"""Which keys of tasks say where and when."""

from __future__ import annotations

import pytest

from crowdd.features.results.charts import Axes, Place, recognise_axes

POINT = {"type": "Point", "coordinates": [8.5, 47.3]}


@pytest.mark.parametrize(
    ("info", "axes"),
    [
        ({"lat": 47.3, "lon": 8.5}, Axes(Place("lat", "lon"), None)),
        ({"Latitude": "47.3", "Longitude": " -8.5 "}, Axes(Place("Latitude", "Longitude"), None)),
        ({"decimalLatitude": 47, "decimalLongitude": 8, "eventDate": "1903-05"}, Axes(Place("decimalLatitude", "decimalLongitude"), "eventDate")),
        ({"lat": 47.3, "lng": 8.5, "lon": "?"}, Axes(Place("lat", "lng"), None)),
        ({"where": POINT, "year": 1903}, Axes(Place("where"), "year")),
        ({"shot": "2024-02-28T10:00:00Z", "url": "https://example.org/2024-02-28"}, Axes(None, "shot")),
        ({"date": "yesterday", "made": "2024-02-28"}, Axes(None, "made")),
        ({"lat": 91, "lon": 8.5}, Axes(None, None)),
        ({"lat": 47.3}, Axes(None, None)),
        ({"lat": True, "lon": True, "date": True}, Axes(None, None)),
        ({"lat": float("nan"), "lon": 1e300, "year": 12345}, Axes(None, None)),
        ({"where": {"type": "Point", "coordinates": [8.5]}}, Axes(None, None)),
        ({"where": {"type": "Point", "coordinates": [8.5, 147.3]}}, Axes(None, None)),
        ({"where": {"type": "Polygon", "coordinates": [[8, 9], [8, 9]]}}, Axes(None, None)),
        ({"number": "2024-13-01", "serial": "1234-56-78"}, Axes(None, None)),
        ({}, Axes(None, None)),
    ],
)  # fmt: skip
def test_places_and_dates_are_recognised_by_key_and_value(info, axes):
    assert recognise_axes([info]) == axes


def test_half_of_the_examples_must_fit():
    good, bad = {"lat": 1, "lon": 2, "date": "2024"}, {"lat": None, "lon": "", "date": "?"}
    assert recognise_axes([good, bad]) == Axes(Place("lat", "lon"), "date")
    assert recognise_axes([good, bad, bad]) == Axes(None, None)
    assert recognise_axes([]) == recognise_axes([None, "text", [1]]) == Axes(None, None)
