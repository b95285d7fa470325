"""What all meanings are made of."""

from __future__ import annotations

from typing import Any

import attrs

Json = dict[str, Any]


@attrs.frozen
class Meaning:
    """What is done, and the answer that must be stored; ``refusable`` where a visible refusal is right as well."""

    acts: list[Json]
    value: Any
    refusable: bool = False


def act(asking: Any, do: str, **more: Any) -> Json:
    """An act on the question that is asked."""
    return {"do": do, "q": asking.name, **more}


def relabelled(asking: Any, acts: list[Json], value: list[Json]) -> None:
    """Now and then somebody chooses a mark once more, and another label for it."""
    labels, random = [each["value"] for each in asking.question.get("labels", [])], asking.random
    if len(labels) < 2 or asking.before or random.random() > 0.15:
        return
    nth = random.randrange(len(value))
    other = random.choice([each for each in labels if each != value[nth]["label"]])
    acts.append(act(asking, "relabel", nth=nth, value=other))
    value[nth] = {**value[nth], "label": other}


WORDS = (
    "Two sails at noon",
    "sehr schöne Grüße",
    "show the sea to Zoe",
    "H. Schulz, Fez",
    "مرحبا بالعالم",
    "naïve café",
    "Nr. 12 – “fine” ﬁne",
    "zigzag SSS",
    "a😀b",
)
"""Among them words full of shortcuts: s, h, z, f, g and digits."""
