"""Where a part of a medium is on the screen now, and what it is in the terms of the task: pixels, degrees, seconds, characters."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable
from typing import Any, Final, Protocol

import attrs
from PIL import Image
from support.questions.marked_lists import SECONDS

from hands.asked import file
from hands.eyes import Eyes, LostError
from hands.hand import Spot

Pair = tuple[float, float]
TILE: Final = 256  # pixels of a tile of a map
# The size of a map, and one of its tiles on it: address, place, width. Nothing while there is none.
_TILE: Final = """map => {
    const {x, y, width, height} = map.getBoundingClientRect(), tile = map.querySelector("img.leaflet-tile-loaded");
    if (!tile) return null;
    const at = tile.getBoundingClientRect();
    return {size: [width, height], address: tile.src, place: [at.x - x, at.y - y], wide: at.width}; }"""
# The size of a map, and the widest outline on it: place, width.
_OUTLINE: Final = """map => {
    const {x, y, width, height} = map.getBoundingClientRect();
    const all = [...map.querySelectorAll(".leaflet-overlay-pane path[stroke-dasharray]")].map((path) => {
        const box = path.getBBox(), m = path.getScreenCTM();
        return {place: [box.x + m.e - x, box.y + m.f - y], wide: box.width}; });
    return all.length ? {size: [width, height], ...all.sort((one, other) => other.wide - one.wide)[0]} : null; }"""
# Where a part of a text begins and ends, a pixel inside of its first and last letter, and its middle. Carets would not do:
# those at both ends of a word that runs the other way are at the same place.
_RANGE: Final = """(words, [start, end]) => {
    const range = document.createRange(), text = words.firstChild, edge = (place, first) => {
        range.setStart(text, place); range.setEnd(text, place + 1);
        const {left, right, top, bottom} = range.getClientRects()[0], leftwards = /[\\u0590-\\u08ff]/.test(text.data[place]);
        return [first === leftwards ? right - 1 : left + 1, (top + bottom) / 2]; };
    const ends = [edge(start, true), edge(end - 1, false)];
    range.setStart(text, start); range.setEnd(text, end);
    const {x, y, width, height} = range.getClientRects()[0];
    return [...ends, [x + width / 2, y + height / 2]]; }"""


class Surface(Protocol):
    """A medium that is seen. ``target`` is what is pressed, ``part`` where on it."""

    target: Any

    def part(self, place: Any) -> Spot:
        """Where on the target a place is now, as parts of its width and height."""

    def means(self, place: Any) -> Any:
        """The place in the terms of the medium."""

    def grain(self) -> float:
        """How much of the medium a pixel of the screen is."""


@attrs.define
class Picture:
    """A picture, also in a viewer. Places are parts of it; meant are its own pixels."""

    eyes: Eyes
    target: Any
    size: Pair

    def part(self, place: Pair) -> Spot:
        return place

    def means(self, place: Pair) -> Pair:
        return place[0] * self.size[0], place[1] * self.size[1]

    def grain(self) -> float:
        return float(self.size[0] / self.target.bounding_box()["width"])


@attrs.define
class Recording:
    """The line of time of a sound or video; places are parts of its length."""

    target: Any
    seconds: float

    def part(self, place: float) -> Spot:
        return place, 0.7

    def means(self, place: float) -> float:
        return place * self.seconds

    def grain(self) -> float:
        return float(self.seconds / self.target.bounding_box()["width"])


def mercator(longitude: float, latitude: float) -> Pair:
    """A place on a world of 1 by 1, as maps in tiles have it."""
    return (longitude + 180) / 360, (1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2


def degrees(x: float, y: float) -> Pair:
    """Longitude and latitude of a place on that world."""
    return x * 360 - 180, math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y))))


@attrs.frozen
class View:
    """Where the whole world would be, from the corner of a map, and how large the map is: in pixels of the screen."""

    left: float
    top: float
    width: float
    size: Pair


@attrs.define
class Map:
    """A map: what is where is read off its tiles, or off an outline whose degrees are known. Places are degrees."""

    target: Any
    view: Callable[[], View]
    off: float = 0.0  # pixels by which what is read off may be wrong

    def part(self, place: Pair) -> Spot:
        view, (x, y) = self.view(), mercator(*place)
        wide, high = view.size
        return (view.left + x * view.width) / wide, (view.top + y * view.width) / high

    def means(self, place: Pair) -> Pair:
        return place

    def seen(self, part: Pair) -> Pair:
        """The degrees of a part of what is shown now."""
        view = self.view()
        wide, high = view.size
        return degrees((part[0] * wide - view.left) / view.width, (part[1] * high - view.top) / view.width)

    def grain(self) -> float:
        return 360 / self.view().width * (1 + self.off / 2)


def picture(eyes: Eyes, frame: Any, path: str) -> Picture:
    """The picture that is shown in a frame."""
    target = frame.locator(".sheet:visible").first
    eyes.until(target.is_visible, "no picture is shown")
    content = file(path)
    if not content:
        raise LostError(f"no picture {path}")
    return Picture(eyes, target, Image.open(io.BytesIO(content[1])).size)


def recording(eyes: Eyes, frame: Any) -> Recording:
    """The line of time that is shown in a frame."""
    target = frame.locator(".waves:visible").first
    eyes.until(target.is_visible, "no line of time is shown")
    # How long it is can be read beside the player; a film of the tests is a sound.
    seconds = frame.locator(":is(.audio, .video):visible > :is(audio, video)").first.evaluate(
        "player => player.duration"
    )
    return Recording(target, float(seconds or SECONDS))


def map_of(eyes: Eyes, frame: Any, source: str) -> Map:
    """The map that is shown in a frame; ``source`` is the GeoJSON that its task brings, if any."""
    target = frame.locator(".map:visible").first
    eyes.until(target.is_visible, "no map is shown")
    outline = json.loads(source) if source.startswith("{") else None
    if outline is None:
        return Map(target, lambda: _by_tiles(eyes, target))
    return Map(target, lambda: _by_outline(eyes, target, outline), 1.5)


def _by_tiles(eyes: Eyes, target: Any) -> View:
    seen = eyes.until(lambda: target.evaluate(_TILE), "the map has no tiles")
    zoom, x, y = map(int, re.findall(r"tiles/(\d+)/(\d+)/(\d+)", seen["address"])[0])
    (left, top), wide = seen["place"], seen["wide"]
    return View(left - x * wide, top - y * wide, wide * 2**zoom, seen["size"])


def _by_outline(eyes: Eyes, target: Any, outline: Any) -> View:
    """The widest of its polygons is the widest path."""
    rings = [
        ring
        for each in outline["features"]
        if each["geometry"]["type"] == "Polygon"
        for ring in each["geometry"]["coordinates"]
    ]
    spans = [[mercator(*place[:2]) for place in ring] for ring in rings]
    boxes = [
        (min(x for x, _ in ring), min(y for _, y in ring), max(x for x, _ in ring), max(y for _, y in ring))
        for ring in spans
    ]
    largest = max(boxes, key=lambda box: box[2] - box[0])
    seen = eyes.until(lambda: target.evaluate(_OUTLINE), "the map has no outline")
    (left, top), width = seen["place"], seen["wide"] / (largest[2] - largest[0])
    return View(left - largest[0] * width, top - largest[1] * width, width, seen["size"])


def words_at(eyes: Eyes, frame: Any, first: int, last: int) -> tuple[dict[str, Any], Callable[[], list[Spot]]]:
    """A part of the text that is shown, from word to word: what is meant, and where its ends and its middle are."""
    place = frame.locator(".words:visible").first
    eyes.until(place.is_visible, "no text is shown")
    meant = part_of_text(place.text_content(), first, last)
    units = [len(place.text_content()[:at].encode("utf-16-le")) // 2 for at in (meant["start"], meant["end"])]

    def spots() -> list[Spot]:
        around = eyes.page.query_selector("#presenter iframe").bounding_box()
        return [(around["x"] + x, around["y"] + y) for x, y in place.evaluate(_RANGE, units)]

    return meant, spots


def part_of_text(text: str, first: int, last: int) -> dict[str, Any]:
    """The part of a text from word to word, counted from 0, round and round."""
    words = [*re.finditer(r"[^\W\d_]+", text)]
    start, end = words[first % len(words)].start(), words[min(last % len(words), len(words) - 1)].end()
    start, end = min(start, end), max(start, end)
    return {"start": start, "end": end, "text": text[start:end]}
