"""Land under the maps of results: the shapes that cross 180 degrees of longitude, and the one around the south pole."""

from __future__ import annotations

import itertools

from crowdd.features.results.base_map import draw_land

EDGES = (-180.0, -85.0, 180.0, 85.0)
LAND = {"Chukotka, west": (177, 66), "Chukotka, east": (-176, 66.5), "Antarctica": (30, -80), "Bern": (7.4, 46.9)}
SEA = {"Bering Sea": (-170, 57), "Atlantic": (-30, 66.5), "Pacific": (-150, -16.5), "Biscay": (-6, 45.5)}


def rings(path: str) -> list[list[tuple[float, float]]]:
    drawn = (part.split("L") for part in path.removesuffix("Z").lstrip("M").split("ZM"))
    return [[(float(x) / 10, float(y) / 10) for x, y in (place.split() for place in part)] for part in drawn]


def is_in(ring: list[tuple[float, float]], x: float, y: float) -> bool:
    crossed = (
        (down > y) != (up > y) and x < left + (right - left) * (y - down) / (up - down)
        for (left, down), (right, up) in itertools.pairwise([*ring, ring[0]])
    )
    return sum(crossed) % 2 == 1


def test_no_line_runs_across_the_map_and_land_is_where_land_is():
    land, borders = draw_land(EDGES, lambda at: (at[0] * 10, at[1] * 10))
    for ring in rings(land):
        for (left, down), (right, up) in itertools.pairwise([*ring, ring[0]]):
            along = down == up and abs(down) >= 85 - 0.1
            assert along or abs(right - left) < 90, (left, down, right, up)
    lines = [part.split("L") for part in borders.lstrip("M").split("M")]
    for line in lines:
        xs = [float(place.split()[0]) / 10 for place in line]
        assert all(abs(two - one) < 90 for one, two in itertools.pairwise(xs))
    shown = {name for name, at in {**LAND, **SEA}.items() if any(is_in(ring, *at) for ring in rings(land))}
    assert shown == {*LAND}
