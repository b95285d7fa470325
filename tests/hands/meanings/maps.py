"""Places and areas, as parts of what a map shows at first: right of its left edge, below its top."""

from __future__ import annotations

import math
from typing import Any

from hands.meanings.kit import Json, Meaning, act


def place(asking: Any) -> Meaning:
    """One place, or several; a second click moves the only one that is allowed."""
    random, limit = asking.random, asking.question.get("max", 3)
    labels = [each["value"] for each in asking.question.get("labels", [])]
    spots = [_spot(random) for _ in range(random.randint(1, 2))]
    acts = _turned(asking)
    acts += [act(asking, "draw", kind="map_place", shape={"place": spot}) for spot in spots]
    last = spots[-limit:]
    return Meaning(acts, [{"shape": {"place": spot}, **({"label": labels[0]} if labels else {})} for spot in last])


def _turned(asking: Any) -> list[Json]:
    """People look closer, or beside, before they mark."""
    looks = [act(asking, "zoom")] if asking.random.random() < 0.25 else []
    return looks + ([act(asking, "pan")] if not asking.world.finger and asking.random.random() < 0.25 else [])


def _spot(random: Any) -> list[float]:
    return [random.uniform(0.2, 0.8), random.uniform(0.2, 0.8)]


def area(asking: Any) -> Meaning:
    """An area, from corner to corner."""
    random = asking.random
    labels = [each["value"] for each in asking.question.get("labels", [])]
    count, begin, radius = random.randint(3, 5), random.uniform(0, 6.28), random.uniform(0.18, 0.3)
    x, y = random.uniform(0.4, 0.6), random.uniform(0.4, 0.6)
    corners = [
        [x + radius * math.cos(begin + 6.28 * n / count), y + radius * math.sin(begin + 6.28 * n / count)]
        for n in range(count)
    ]
    shape = {"corners": corners}
    return Meaning(
        [*_turned(asking), act(asking, "draw", kind="map_area", shape=shape)],
        [{"shape": shape, **({"label": labels[0]} if labels else {})}],
    )


MEANINGS = {"map_place": place, "map_area": area}
