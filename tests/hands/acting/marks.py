"""Drawing on pictures, texts, recordings and maps, and what is done with marks afterwards."""

from __future__ import annotations

from typing import Any

from hands.acting.actor import Actor, Json, LostError, act
from hands.acting.forms import write_into
from hands.surfaces import Map, Pair, map_of, picture, recording, words_at


def items(actor: Actor, name: str) -> Any:
    """The list of marks of a question. On a phone all but one are behind their number."""
    return actor.scope(name).locator(".marks-list > li")


def _item(actor: Actor, name: str, nth: int) -> Any:
    """One of them, where it can be seen."""
    fold = actor.scope(name).locator(".marks-fold[aria-expanded=false]:visible")
    if fold.count() and not items(actor, name).nth(nth).is_visible():
        actor.press(fold.first)
    return items(actor, name).nth(nth)


def _medium(actor: Actor, name: str) -> Json:
    on = actor.question(name)["on"]
    return next(each for step in actor.asked.questions["steps"] for each in step.get("media", []) if each["name"] == on)


def _source(actor: Actor, name: str) -> str:
    """What the tasks have for the medium of a question: that of the task before us, by its place in the row."""
    source = _medium(actor, name).get("source", {})
    value = actor.info.get(source.get("column", ""), source.get("url", "")) if source else ""
    return str(value)


def surface(actor: Actor, name: str) -> Any:
    """The medium that a question is on."""
    source = _source(actor, name)
    kind = _medium(actor, name)["type"]
    if kind == "map":
        return map_of(actor.eyes, actor.frame, source)
    if kind in ("sound", "video"):
        return recording(actor.eyes, actor.frame)
    return picture(actor.eyes, actor.frame, source.partition("SITE/")[2])


def _ready(actor: Actor, name: str) -> None:
    """Waits until one can draw, and turns drawing on where it is off."""
    tools = actor.scope(name).locator(".marks-tools button:enabled")
    actor.eyes.until(lambda: tools.count() > 1, "one cannot draw")
    draw = actor.button(actor.scope(name), "Draw")
    if draw.count() and draw.first.is_visible() and draw.first.get_attribute("aria-pressed") == "false":
        actor.press(draw.first)
        actor.sees(lambda: draw.first.get_attribute("aria-pressed") == "true", "“Draw”")


def _stroke(actor: Actor, seen: Any, places: list[Any]) -> None:
    """Presses at the first place, goes on to the others, releases at the last."""
    actor.eyes.bring(seen.target, lambda: seen.part(places[-1]))
    actor.hand.down(actor.reach(seen.target, lambda: seen.part(places[0])))
    actor.hand.wait()
    for place in places[1:]:
        actor.hand.drag(actor.eyes.spot(seen.target, seen.part(place)))
    actor.hand.wait()
    actor.hand.up()


def _presses(actor: Actor, seen: Any, places: list[Any]) -> None:
    for place in places:
        actor.hand.press(actor.reach(seen.target, lambda place=place: seen.part(place)))
        actor.page.wait_for_timeout(60)


def _finish(actor: Actor, seen: Any, name: str, first: Any) -> None:
    """Ends an outline with the button, where there is one, otherwise at its first corner."""
    button = actor.button(actor.scope(name), "Finish")
    if button.count() and button.first.is_visible():
        actor.press(button.first)
    else:
        _presses(actor, seen, [first])


def _corners(box: Json) -> list[tuple[float, float]]:
    return [(box["x"], box["y"]), (box["x"] + box["width"], box["y"] + box["height"])]


def _draw_box(actor: Actor, name: str, shape: Json) -> Any:
    seen = surface(actor, name)
    places = _corners(shape)
    _stroke(actor, seen, places)
    (x, y), (right, down) = (seen.means(place) for place in places)
    return seen, {"x": x, "y": y, "width": right - x, "height": down - y}


def _draw_point(actor: Actor, name: str, shape: Json) -> Any:
    seen = surface(actor, name)
    place = (shape["x"], shape["y"])
    _presses(actor, seen, [place])
    x, y = seen.means(place)
    return seen, {"x": x, "y": y}


def _draw_path(actor: Actor, name: str, shape: Json) -> Any:
    seen = surface(actor, name)
    places = [tuple(each) for each in shape["points"]]
    _presses(actor, seen, places)
    _finish(actor, seen, name, places[-1] if actor.question(name)["type"] == "line" else places[0])
    return seen, {"points": [list(seen.means(place)) for place in places]}


def _draw_stroke(actor: Actor, name: str, shape: Json) -> Any:
    seen = surface(actor, name)
    places = [tuple(each) for each in shape["points"]]
    _stroke(actor, seen, [*places, places[0]])
    return seen, {"outline": [list(seen.means(place)) for place in places]}


def _draw_segment(actor: Actor, name: str, shape: Json) -> Any:
    seen = surface(actor, name)
    _stroke(actor, seen, [shape["start"], shape["end"]])
    return seen, {"start": seen.means(shape["start"]), "end": seen.means(shape["end"])}


def _draw_span(actor: Actor, name: str, shape: Json) -> Any:
    meant, spots = words_at(actor.eyes, actor.frame, *shape["words"])
    size = actor.page.viewport_size
    for _ in range(12):
        middle = actor.eyes.still(lambda: spots()[2])
        if 0.2 * size["height"] < middle[1] < 0.75 * size["height"]:
            break
        actor.eyes.scroll(middle[1] - size["height"] / 2)
        actor.page.wait_for_timeout(60)
    begin, _, middle = spots()
    if actor.hand.finger:
        actor.hand.press(middle)
    else:
        actor.hand.move(begin)
        actor.hand.down(spots()[0])
        actor.hand.wait()
        actor.hand.drag(spots()[1])
        actor.hand.wait()
        actor.hand.up()
    return None, meant


def _draw_place(actor: Actor, name: str, shape: Json) -> Any:
    seen = surface(actor, name)
    place = _degrees(actor, name, seen, tuple(shape["place"]))
    _presses(actor, seen, [place])
    return seen, {"place": list(place)}


def _draw_area(actor: Actor, name: str, shape: Json) -> Any:
    seen = surface(actor, name)
    places = [_degrees(actor, name, seen, tuple(each)) for each in shape["corners"]]
    _presses(actor, seen, places)
    _finish(actor, seen, name, places[0])
    return seen, {"ring": [list(place) for place in places]}


def _degrees(actor: Actor, name: str, seen: Map, part: tuple[float, float]) -> tuple[float, float]:
    """What a part of the map meant when it was seen first: from then on the place counts, wherever the map is moved to."""
    actor.eyes.still(lambda: (seen.view().left, seen.view().top))
    if (name, "view") not in actor.meant:
        actor.meant[name, "view"] = {}
    known = actor.meant[name, "view"]
    return known.setdefault(part, seen.seen(part))


DRAWN = {
    "box": _draw_box, "point": _draw_point, "count": _draw_point, "line": _draw_path, "polygon": _draw_path, "freehand": _draw_stroke,
    "segment": _draw_segment, "span": _draw_span, "map_place": _draw_place, "map_area": _draw_area,
}  # fmt: skip


@act
def draw(actor: Actor, about: Json) -> None:
    """Draws a mark."""
    name = about["q"]
    _ready(actor, name)
    before = items(actor, name).count()
    alone = before and actor.question(name).get("max") == 1
    seen, meant = DRAWN[about["kind"]](actor, name, about["shape"])
    actor.meant[name, str(about["shape"])] = meant
    if seen:
        actor.grain[name] = max(seen.grain(), actor.grain.get(name, 0))
    if not alone:
        actor.sees(lambda: items(actor, name).count() != before, f"drawing mark {before + 1} of {name}")
        if (now := items(actor, name).count()) != before + 1:
            raise LostError(f"drawing one mark of {name} made {now - before}")


@act
def label(actor: Actor, about: Json) -> None:
    """Chooses the label of the next mark."""
    target = _label(actor, about["q"], about["value"])
    box = target.locator("input")
    _ready(actor, about["q"])
    if about["by"] == "key" and (cap := target.locator("kbd:visible")).count():
        actor.hand.look()
        actor.hand.key(cap.first.inner_text().strip().lower())
    else:
        actor.press(target)
    actor.sees(lambda: box.is_checked(), f"{about['by']} on label {about['value']} of {about['q']}")


def _label(actor: Actor, name: str, value: str) -> Any:
    nth = [each["value"] for each in actor.question(name)["labels"]].index(value)
    return actor.scope(name).locator(".marks-labels label").nth(nth)


@act
def relabel(actor: Actor, about: Json) -> None:
    """Chooses a mark by its row, then another label for it."""
    row = _item(actor, about["q"], about["nth"])
    if not _chosen(row):
        actor.press(row.locator("button").first)
        actor.sees(lambda: _chosen(row), f"press on mark {about['nth'] + 1}")
    target = _label(actor, about["q"], about["value"])
    words = actor.text(
        next(each for each in actor.question(about["q"])["labels"] if each["value"] == about["value"])["text"]
    )
    actor.press(target)
    actor.sees(lambda: words in row.inner_text(), f"another label for mark {about['nth'] + 1}")


def _chosen(row: Any) -> bool:
    return "selected" in (row.get_attribute("class") or "").split()


@act
def shift(actor: Actor, about: Json) -> None:
    """Drags a mark to where it belongs."""
    _drag(actor, about, _middle(about["shape"]), _middle(about["to"]))


@act
def stretch(actor: Actor, about: Json) -> None:
    """Drags the last corner of a box to where it belongs."""
    _drag(actor, about, _corners(about["shape"])[1], _corners(about["to"])[1])


def _drag(actor: Actor, about: Json, begin: Pair, end: Pair) -> None:
    """Turns drawing off, chooses the mark by a press on it, and drags it by one of its places."""
    name, seen = about["q"], surface(actor, about["q"])
    draw = actor.button(actor.scope(name), "Draw").first
    if draw.get_attribute("aria-pressed") == "true":
        actor.press(draw)
        actor.sees(lambda: draw.get_attribute("aria-pressed") == "false", "“Draw”")
    row = _item(actor, name, about["nth"])
    if not _chosen(row):
        _presses(actor, seen, [_middle(about["shape"])])
        actor.sees(lambda: _chosen(row), f"press on mark {about['nth'] + 1}")
    _stroke(actor, seen, [begin, end])
    (x, y), moved = seen.means((about["to"]["x"], about["to"]["y"])), about["to"]
    meant = {"x": x, "y": y}
    if "width" in moved:
        meant["width"], meant["height"] = seen.means((moved["width"], moved["height"]))
    actor.meant[name, str(moved)] = meant


def _middle(shape: Json) -> Pair:
    return shape["x"] + shape.get("width", 0) / 2, shape["y"] + shape.get("height", 0) / 2


@act
def zoom(actor: Actor, about: Json) -> None:
    """Looks closer at a map with tiles: of an outline, only what is shown is drawn, and its size says nothing."""
    if _source(actor, about["q"]):
        return
    seen = surface(actor, about["q"])
    before = seen.view().width
    actor.press(actor.frame.locator(".leaflet-control-zoom-in:visible").first)
    actor.sees(lambda: seen.view().width > 1.5 * before, "“Zoom in”")


@act
def pan(actor: Actor, about: Json) -> None:
    """Looks beside what a map with tiles shows: a pointer that moves while it presses marks nothing."""
    if _source(actor, about["q"]):
        return
    seen = surface(actor, about["q"])
    before, marks = seen.view().left, items(actor, about["q"]).count()
    actor.hand.down(actor.reach(seen.target, lambda: (0.6, 0.5)))
    actor.hand.wait()
    actor.hand.drag(actor.eyes.spot(seen.target, (0.45, 0.4)))
    actor.hand.wait(200, 300)
    actor.hand.up()
    actor.sees(lambda: abs(seen.view().left - before) > 10, "a drag of the map")
    if items(actor, about["q"]).count() != marks:
        raise LostError("a drag of the map made a mark")


@act
def delete(actor: Actor, about: Json) -> None:
    """Deletes a mark by its row."""
    before = items(actor, about["q"]).count()
    actor.press(_item(actor, about["q"], about["nth"]).locator(".mark-head button").last)
    actor.sees(lambda: items(actor, about["q"]).count() == before - 1, f"“Delete” of mark {about['nth'] + 1}")


@act
def undo(actor: Actor, about: Json) -> None:
    """Takes the last mark back."""
    before = items(actor, about["q"]).count()
    actor.press(actor.button(actor.scope(about["q"]), "Undo").first)
    actor.sees(lambda: items(actor, about["q"]).count() == before - 1, "“Undo”")


@act
def nothing(actor: Actor, about: Json) -> None:
    """Says that there is nothing to mark."""
    target = actor.scope(about["q"]).locator(".marks > label.un")
    _ready(actor, about["q"])
    actor.press(target)
    actor.sees(lambda: target.locator("input").is_checked(), "“There is nothing to mark”")


@act
def each(actor: Actor, about: Json) -> None:
    """Answers a question about a mark."""
    row = _item(actor, about["q"], about["nth"])
    target = row.locator(f'[data-question="{about["name"]}"] label.choice').nth(0 if about["value"] else 1)
    if not target.is_visible():
        actor.press(row.locator("button").first)
    actor.press(target)
    actor.sees(
        lambda: target.locator("input").is_checked(),
        f"press on {about['value']} of {about['name']} of mark {about['nth'] + 1}",
    )


@act
def line(actor: Actor, about: Json) -> None:
    """Writes a line: draws its box first where it has one; without one it goes on with Enter or the button."""
    name, rows = about["q"], items(actor, about["q"])
    _ready_row(actor, name)
    before = rows.count()
    if about["go_on"] == "enter":
        actor.hand.key("Enter")
        actor.sees(lambda: rows.count() == before + 1, "Enter for the next line")
    if about["box"]:
        seen, meant = _draw_box(actor, name, about["box"])
        actor.meant[name, str(about["box"])] = meant
        actor.grain[name] = max(seen.grain(), actor.grain.get(name, 0))
        actor.sees(lambda: rows.count() == about["nth"] + 1, f"drawing the box of line {about['nth'] + 1}")
    elif about["go_on"] != "enter":
        actor.press(actor.button(actor.scope(name), "Add a line").first)
        actor.sees(lambda: rows.count() == before + 1, "“Add a line”")
    # The field that the page put the caret into is where people type, without looking.
    actor.hand.wait(200, 400)
    actor.hand.type(about["text"])


def _ready_row(actor: Actor, name: str) -> None:
    add = actor.button(actor.scope(name), "Add a line")
    actor.eyes.until(lambda: add.count() and add.first.is_enabled(), "one cannot add a line")


__all__ = ["DRAWN", "write_into"]
