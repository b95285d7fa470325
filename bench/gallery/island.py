"""An invented island as GeoJSON, which maps show without pictures of any server."""

from __future__ import annotations

import math
import random

import orjson

from bench.gallery.canvas import blob

MIDDLE = (-28.4, 40.2)  # longitude and latitude of a piece of empty ocean
NOTES = (
    "Nest of a storm petrel on the northern cape, ten steps from the cliff.",
    "Orchids in flower on the south shore of the lake, below the road.",
    "Old mill at the mouth of the river, on its western bank.",
    "Two seals on the rocks at the eastern tip of the island.",
    "Ruin of a chapel where the road meets the river.",
    "Colony of bats in a cave on the north shore of the lake.",
    "Lighthouse at the end of the road in the west.",
    "Peat bog between the lake and the southern coast.",
    "Beach with many shells, in the bay east of the river’s mouth.",
    "Lone pine tree half way between the lake and the northern cape.",
    "Wild goats above the road, between the river and the eastern tip.",
    "Spring where the river begins, on the lake.",
)
AREAS = (
    "The forest covers everything between the lake and the northern cape.",
    "Sheep graze from the river to the eastern tip, south of the road.",
    "The bog fills the ground between the lake and the southern coast.",
)


def geojson() -> str:
    """Coast, lake, river and road."""
    chance = random.Random(7)
    coast = [at(x, y) for x, y in blob(0, 0, 0.105, chance, corners=20, flat=0.62)]
    lake = [at(x, y) for x, y in blob(-0.02, 0.006, 0.021, chance, corners=10, flat=0.6)]
    river = [at(-0.02 + 0.005 * math.sin(step), -0.006 - step * 0.0066) for step in range(10)]
    road = [at(-0.095 + step * 0.019, -0.021 + 0.006 * math.sin(step * 1.1)) for step in range(11)]
    shapes = [
        ("Polygon", [[*coast, coast[0]]]), ("Polygon", [[*lake, lake[0]]]), ("LineString", river), ("LineString", road),
    ]  # fmt: skip
    features = [
        {"type": "Feature", "properties": {}, "geometry": {"type": kind, "coordinates": places}}
        for kind, places in shapes
    ]
    return orjson.dumps({"type": "FeatureCollection", "features": features}).decode()


def at(x: float, y: float) -> list[float]:
    """Longitude and latitude of a place on the island."""
    return [round(MIDDLE[0] + 1.6 * x, 5), round(MIDDLE[1] + 1.6 * y, 5)]
