"""Roles that an owner gave to columns decide where results are drawn, before names do."""

from __future__ import annotations

from crowdd.features.results.charts import Axes, Place, recognise_axes

INFO = {
    "lat": "1",
    "lon": "2",
    "n": 48.5,
    "e": 11.5,
    "date": "2024",
    "begun": "1932-05",
    "at": {"type": "Point", "coordinates": [1, 2]},
}


def test_roles_come_before_names_where_their_values_fit():
    assert recognise_axes([INFO]) == Axes(Place("lat", "lon"), "date")
    roles = {"n": "latitude", "e": "longitude", "begun": "date", "gone": "place"}
    assert recognise_axes([INFO], roles) == Axes(Place("n", "e"), "begun")
    assert recognise_axes([INFO], {"at": "place"}) == Axes(Place("at"), "date")
    # A column with the role that has other values, or that tasks do not have, leaves it to the names.
    assert recognise_axes([INFO], {"n": "latitude", "date": "longitude", "lat": "date"}) == Axes(
        Place("lat", "lon"), "date"
    )
    assert recognise_axes([INFO], {"x": "latitude", "y": "longitude", "z": "date"}) == Axes(Place("lat", "lon"), "date")
