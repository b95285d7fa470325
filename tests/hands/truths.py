"""What is right of each task, and what hands make of it: everybody who looks carefully means the same."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any, Final

from support.questions.marked_lists import SECONDS, SIZE

from hands.asked import CENTRE, Asked, everything
from hands.intents import Intent, answered
from hands.judge import differences
from hands.surfaces import part_of_text
from hands.worlds import World

Json = dict[str, Any]
SLIP: Final = 1.5  # pixels of the screen by which a hand is off
SCALES: Final = (1.0, 1.6, 0.5)  # pixels of a medium of 800 by 600 for one of the screen: desktop, phone, enlarged
COARSE: Final = 2.5  # pixels of the medium by two of which a consensus may be off: lines are agreed on in 32 points
DEGREES: Final = 0.0002  # of a map for a pixel
FINGER: Final = World("390x844")
"""Acts of a finger can be done by a mouse as well."""


def each_type() -> list[Asked]:
    """Each type of question once, and a date in parts."""
    by_type = {asked.every[0]["type"]: asked for name, asked in everything().items() if name.startswith("type ")}
    return [*by_type.values(), everything()["date in parts"]]


def intent_of(asked: Asked, nth: int) -> Intent:
    """What is right of a task, and acts that say so."""
    acts, answer, refusable = answered(asked, FINGER, Random(f"truth {asked.name} {nth}"))
    return Intent(nth, nth + 1, asked.name, acts, answer, refusable=refusable)


def truth_of(asked: Asked, nth: int) -> Json:
    """The same in the terms of the medium."""
    return {
        name: [_seen(each, asked) for each in value] if _is_marks(value) else value
        for name, value in intent_of(asked, nth).answer.items()
    }


def by_hand(truth: Json, hand: Random) -> Json:
    """What is stored where a hand means that: marks are off by less than two pixels of its screen."""
    off = SLIP * hand.choice(SCALES)

    def slipped(value: Any, by: float) -> Any:
        return round(value + hand.uniform(-by, by), 7 if by < 0.1 else 1)

    def made(mark: Json) -> Json:
        mark = {**mark}
        for name in {"x", "y", "width", "height"} & mark.keys():
            mark[name] = slipped(mark[name], off)
        if "points" in mark:
            mark["points"] = [[slipped(each, off) for each in place] for place in mark["points"]]
        if "geometry" in mark:
            mark["geometry"] = _moved(mark["geometry"], lambda degree: slipped(degree, SLIP * DEGREES))
        if {"x", "points"} & mark.keys():
            mark["selector"] = {"type": "SvgSelector" if "points" in mark else "FragmentSelector"}
        if "start" in mark and "text" not in mark:
            mark |= {name: round(mark[name] + hand.uniform(-0.02, 0.02), 2) for name in ("start", "end")}
        return mark

    marks = {name: [made(mark) for mark in value] for name, value in truth.items() if _is_marks(value)}
    for each in marks.values():
        if "text" not in each[0] or "start" in each[0]:  # lines of writing have an order
            hand.shuffle(each)
    return {**truth, **marks}


def disagreements(truth: Json, consensus: Json) -> list[str]:
    """Where the consensus of answers is not the truth. Marks have no order; what was left out has no consensus."""
    flat: Json = {}
    for name, value in truth.items():
        flat |= {f"{name}: {row}": one for row, one in value.items()} if isinstance(value, dict) else {name: value}
    agreed = {name: about["value"] for name, about in consensus.items() if name in flat or about["answers"]}
    return [words for name in sorted({*flat, *agreed}) for words in _apart(name, flat.get(name), agreed.get(name))]


def _apart(name: str, meant: Any, agreed: Any) -> list[str]:
    if not _is_marks(meant):
        return differences({name: meant}, {name: agreed}, {})
    on_map, in_time = {"geometry", "place", "ring"} & meant[0].keys(), "start" in meant[0]
    grain = {name: COARSE * (DEGREES if on_map else 0.02 if in_time else 1.0)}
    marks = [_drawn(mark, "outline") for mark in meant]
    ways = permutations([_drawn(mark, "points") for mark in agreed or []])
    return min((differences({name: marks}, {name: [*way]}, grain) for way in ways), key=len)


def _drawn(mark: Json, corners: str) -> Json:
    """A mark as the judge compares it: outlines by their lines, parts of texts by their ends."""
    drawn = {
        key: value
        for key, value in mark.items()
        if key not in ("answers", "points", "ring", *(["text"] if "start" in mark else []))
    }
    if line := mark.get("points") or mark.get("ring"):
        return {**drawn, corners: line}
    if mark.get("geometry", {}).get("type") == "Polygon":
        return {**drawn, corners: mark["geometry"]["coordinates"][0][:-1]}
    return {**drawn, "place": mark["geometry"]["coordinates"]} if "geometry" in mark else drawn


def _is_marks(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _seen(mark: Json, asked: Asked) -> Json:
    """A mark whose shape was parts of its medium."""
    shape = mark.get("shape", {})
    rest = {key: value for key, value in mark.items() if key != "shape"}
    (wide, high), (east, north) = SIZE, CENTRE
    if "points" in shape:
        rest["points"] = [[round(x * wide, 1), round(y * high, 1)] for x, y in shape["points"]]
    elif "x" in shape:
        sizes = {"x": wide, "y": high, "width": wide, "height": high}
        rest |= {name: round(value * sizes[name], 1) for name, value in shape.items()}
    elif "words" in shape:
        rest |= part_of_text(asked.tasks[0]["medium"], *shape["words"])
    elif "start" in shape:
        rest |= {name: round(value * SECONDS, 2) for name, value in shape.items()}
    elif "place" in shape or "corners" in shape:
        at = [
            [east + DEGREES * wide * x, north - DEGREES * high * y]
            for x, y in shape.get("corners", [shape.get("place")])
        ]
        rest["geometry"] = (
            {"type": "Polygon", "coordinates": [[*at, at[0]]]}
            if "corners" in shape
            else {"type": "Point", "coordinates": at[0]}
        )
    return rest


def _moved(geometry: Json, slipped: Any) -> Json:
    if geometry["type"] == "Point":
        return {**geometry, "coordinates": [*map(slipped, geometry["coordinates"])]}
    corners = [[*map(slipped, place)] for place in geometry["coordinates"][0][:-1]]
    return {**geometry, "coordinates": [[*corners, corners[0]]]}
