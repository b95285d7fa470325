"""What a complete task becomes in the next step: its parts, each of which is a task there, and their names.

All are pure functions: the same source and the same rule give the same parts under the same names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs
import orjson

from crowdd.kernel.values import Json, JsonObject, Values
from crowdd.kinds.answers.fields import key
from crowdd.kinds.chains import AGREEMENT_BELOW, IS, ITEM_COLUMNS, ChainRule, Condition
from crowdd.kinds.questions.options import is_number

MAX_BYTES: Final = 8_000_000
WHOLE: Final = ""
"""The name of the part that is all of a task."""
Place = tuple[float, float, float, float]
"""Left, top, width, height; of a part of a text its beginning and length."""
_PIXELS, _DEGREES = 10.0, 0.0001  # so far a mark may have moved and still be the same
_IIIF: Final = re.compile(
    r"(?P<base>https?://[^\s?#]+?)/(?:info\.json|(?:full|square|[0-9.,]+|pct:[0-9.,]+)/(?P<size>[^/\s]+)/!?[0-9.]+/"
    r"(?P<quality>[a-z]+)\.(?P<format>[a-z0-9]+))"
)


@attrs.frozen
class Source:
    """A complete task: its ``info``, and what its answers say at each answer field (interface: result-consensus).

    An element of ``said`` has ``value`` (missing where there is no consensus, or a long one), ``hash`` (None without
    consensus), ``answers`` and ``agreement``; it is None while the answers are still to be compared.
    """

    info: Json
    said: Mapping[str, Values | None]


@attrs.frozen
class Part:
    """A task that there is to be. ``place`` is None for what has none; ``reach``: how far it may move."""

    info: JsonObject
    place: Place | None = None
    reach: float = 0.0


def wanted_parts(rule: ChainRule, source: Source) -> list[Part] | None:
    """The parts of a source, in the order of the consensus; None: that cannot be said now.

    It can not while answers are compared, where a consensus is too long to be kept, where all parts together would show
    more than MAX_BYTES of the source, and where the project has no such answer field. Without a consensus there are no
    items, ``is`` is not met, ``is_not`` is met, and a column is null.
    """
    for field in rule.fields():
        consensus = source.said.get(field)
        if consensus is None or (_is_long(consensus) and _needs_value(rule, field)):
            return None
    if not all(_is_met(one, source) for one in rule.when):
        return []
    shown = _shown(rule, source)
    if rule.each is None:
        return [Part(shown)]
    items = _value(source, rule.each.field)
    items = items if isinstance(items, list) else []
    if len(items) * len(orjson.dumps(shown)) > MAX_BYTES:
        return None
    parts = []
    for nth, item in enumerate(items):
        if isinstance(item, dict) and rule.each.label in (None, item.get("label")):
            parts.append(_part(rule, source, shown, item, nth))
    return parts


def _is_long(said: Values) -> bool:
    return "value" not in said and said.get("hash") is not None


def _needs_value(rule: ChainRule, field: str) -> bool:
    """Whether the rule looks at more than the agreement."""
    named = {*rule.answers} | {one.field for one in rule.when if one.test != AGREEMENT_BELOW}
    return field in named or (rule.each is not None and rule.each.field == field)


def _value(source: Source, field: str) -> Json:
    value: Json = (source.said.get(field) or {}).get("value")
    return value


def _is_met(one: Condition, source: Source) -> bool:
    consensus = source.said[one.field] or {}
    if one.test == AGREEMENT_BELOW:
        agreement = consensus.get("agreement")
        return consensus.get("answers", 0) > 1 and is_number(agreement) and agreement < one.below
    value = consensus.get("value")
    values = value if isinstance(value, list) else [value]  # of several choices one is enough
    is_there = "value" in consensus and any(key(each) == key(wanted) for each in values for wanted in one.values)
    return is_there if one.test == IS else not is_there


def _shown(rule: ChainRule, source: Source) -> JsonObject:
    info = source.info if isinstance(source.info, dict) else {}
    shown: JsonObject = {to: info[column] for column, to in rule.columns.items() if column in info}
    return shown | {to: _value(source, field) for field, to in rule.answers.items()}


def _part(rule: ChainRule, source: Source, shown: JsonObject, item: JsonObject, nth: int) -> Part:
    place = _place(item)
    info = shown | {name: item[name] for name in ITEM_COLUMNS if name in item}
    if place is None:
        return Part(info, (float(nth), 0.0, 0.0, 0.0))  # a line without a place is known by its number
    reach = max(place[2], place[3]) / 2
    if "start" in item:
        return Part(info, place, reach)
    if "x" not in item:
        info |= dict(
            zip(("x", "y", "width", "height"), map(_short, place if max(place[2:]) else place[:2]), strict=False)
        )
    if rule.crop is not None and isinstance(source.info, dict):
        address = source.info.get(rule.crop.column)
        if isinstance(address, str):
            info[rule.crop.to] = crop_address(address, place)
    return Part(info, place, max(reach, _DEGREES if "geometry" in item else _PIXELS))


def _short(number: float) -> Json:
    """A coordinate without needless decimals."""
    return int(number) if number.is_integer() else number


def _place(item: JsonObject) -> Place | None:
    """Where an item is: the box around all its points."""
    start, end = item.get("start"), item.get("end")
    if is_number(start) and is_number(end):
        return float(start), 0.0, float(end - start), 0.0
    points = [*_points(item)]
    if not points:
        return None
    left, top = (min(point[axis] for point in points) for axis in (0, 1))
    return left, top, max(x for x, _y in points) - left, max(y for _x, y in points) - top


def _points(item: JsonObject) -> Iterator[tuple[float, float]]:
    x, y = item.get("x"), item.get("y")
    if is_number(x) and is_number(y):
        yield float(x), float(y)
        width, height = item.get("width"), item.get("height")
        if is_number(width) and is_number(height):
            yield float(x) + float(width), float(y) + float(height)
    geometry = item.get("geometry")
    yield from _nested(geometry.get("coordinates") if isinstance(geometry, dict) else item.get("points"))


def _nested(value: Json) -> Iterator[tuple[float, float]]:
    """The points in lists of lists: objects with x and y, or arrays that begin with both."""
    if isinstance(value, dict):
        x, y = value.get("x"), value.get("y")
        if is_number(x) and is_number(y):
            yield float(x), float(y)
    elif isinstance(value, list):
        if len(value) > 1 and is_number(value[0]) and is_number(value[1]):
            yield float(value[0]), float(value[1])
            return
        for each in value:
            yield from _nested(each)


def crop_address(address: str, place: Place) -> str:
    """The address of a part of a picture, in pixels; of a picture without an image service the picture itself.

    A IIIF image that is asked for at a size of its own is taken as it is: nobody knows how large it is in full.
    """
    image = _IIIF.fullmatch(address)
    if image is None or image["size"] not in (None, "full", "max"):
        return address
    left, top = max(0, math.floor(place[0])), max(0, math.floor(place[1]))
    width, height = max(1, math.ceil(place[0] + place[2]) - left), max(1, math.ceil(place[1] + place[3]) - top)
    region, size = f"{left},{top},{width},{height}", image["size"] or "max"
    return f"{image['base']}/{region}/{size}/0/{image['quality'] or 'default'}.{image['format'] or 'jpg'}"


def named(parts: Sequence[Part], earlier: Mapping[str, Place | None]) -> dict[str, Part]:
    """The parts by their names: an item has the name of the earlier one at about its place, else the next number.

    ``earlier``: the places of all parts that were ever made of the task, by their names.
    """
    if len(parts) == 1 and parts[0].place is None:
        return {WHOLE: parts[0]}
    names = _found_again(parts, earlier)
    free = max((int(name) for name in earlier if name.isdecimal()), default=0)
    parts_by_name = {}
    for nth, part in enumerate(parts):
        if nth not in names:
            free += 1
        parts_by_name[names.get(nth, str(free))] = part
    return parts_by_name


def _found_again(parts: Sequence[Part], earlier: Mapping[str, Place | None]) -> dict[int, str]:
    """The names of parts that were there before, the nearest first, each name once."""
    pairs = [
        (math.dist(_middle(part.place), _middle(place)), nth, int(name))
        for nth, part in enumerate(parts)
        for name, place in earlier.items()
        if part.place is not None and place is not None
    ]
    names: dict[int, str] = {}
    taken = set[int]()
    for apart, nth, number in sorted(pairs):
        if apart <= parts[nth].reach and nth not in names and number not in taken:
            names[nth] = str(number)
            taken.add(number)
    return names


def _middle(place: Place) -> tuple[float, float]:
    return place[0] + place[2] / 2, place[1] + place[3] / 2
