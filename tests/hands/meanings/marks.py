"""Marks on pictures, in pixels of the picture, and lines of writing."""

from __future__ import annotations

import math
from typing import Any

from hands.asked import PICTURES
from hands.meanings.kit import WORDS, Json, Meaning, act, relabelled

# Within these parts of a picture things are marked: not at its very edge.
LOW, HIGH = 0.06, 0.94


def _box(random: Any) -> Json:
    x, y = random.uniform(LOW, 0.6), random.uniform(LOW, 0.6)
    return {"x": x, "y": y, "width": random.uniform(0.12, HIGH - 0.6), "height": random.uniform(0.12, HIGH - 0.6)}


def _point(random: Any) -> Json:
    return {"x": random.uniform(LOW, HIGH), "y": random.uniform(LOW, HIGH)}


def _path(random: Any, fewest: int) -> Json:
    """Corners that are well apart: around the middle, in order."""

    count, (x, y) = random.randint(fewest, fewest + 2), (random.uniform(0.35, 0.65), random.uniform(0.35, 0.65))
    begin, radius = random.uniform(0, 6.28), random.uniform(0.18, 0.28)
    angles = [begin + 6.28 * n / count for n in range(count)]
    return {"points": [[x + radius * math.cos(each), y + radius * math.sin(each)] for each in angles]}


SHAPES = {
    "box": _box,
    "point": _point,
    "count": _point,
    "line": lambda r: _path(r, 2),
    "polygon": lambda r: _path(r, 3),
    "freehand": lambda r: _path(r, 6),
}


def _apart(one: Json, other: Json) -> bool:
    """Whether two marks are far enough from each other for a hand."""
    (x, y), (right, down) = _middle(one), _middle(other)
    return abs(x - right) > 0.12 or abs(y - down) > 0.14


def _middle(shape: Json) -> tuple[float, float]:
    if "points" in shape:
        xs, ys = zip(*shape["points"], strict=True)
        return sum(xs) / len(xs), sum(ys) / len(ys)
    return shape["x"] + shape.get("width", 0) / 2, shape["y"] + shape.get("height", 0) / 2


def marks(asking: Any) -> Meaning:
    """Some marks with labels: with changes of mind, one beginning on the edge of another, or nothing at all."""
    question, random, kind = asking.question, asking.random, asking.question["type"]
    if not asking.before and not question.get("min") and random.random() < 0.08:
        return Meaning([act(asking, "nothing")], [])
    labels = [each["value"] for each in question.get("labels", [])]
    limit = min(question.get("max", 3), 3 if kind in ("box", "point", "count") else 2)
    value = [*(asking.before or [])]
    acts: list[Json] = []
    drawn = [mark["shape"] for mark in value]
    label = labels[0] if labels else None
    for _ in range(1 if value else random.randint(1, limit)):
        shape = _free(kind, drawn, random)
        if shape is None:
            break
        drawn.append(shape)
        meant = random.choice(labels) if labels else None
        if meant != label or (value and asking.before):
            acts.append(
                act(
                    asking,
                    "label",
                    value=meant,
                    by="key" if not asking.world.finger and random.random() < 0.4 else "press",
                )
            )
        label = meant
        acts.append(act(asking, "draw", kind=kind, shape=shape))
        mark: Json = {"shape": shape, **({"label": label} if label else {})}
        for each in question.get("each", []):
            if each["type"] == "yes_no" and random.random() < 0.4:
                chosen = random.random() < 0.5
                acts.append(act(asking, "each", nth=len(value), name=each["name"], value=chosen))
                mark["answers"] = {each["name"]: chosen}
        value.append(mark)
        if random.random() < 0.1:
            value.pop()
            acts.append(
                act(asking, "undo" if "answers" not in mark and random.random() < 0.5 else "delete", nth=len(value))
            )
    if not value:
        shape = _free(kind, [], random)
        acts.append(act(asking, "draw", kind=kind, shape=shape))
        value.append({"shape": shape, **({"label": label} if label else {})})
    relabelled(asking, acts, value)
    if kind in ("box", "point") and not asking.before and random.random() < 0.3:
        nth = random.randrange(len(value))
        shape = value[nth]["shape"]
        do = random.choice(["shift", "stretch"]) if kind == "box" else "shift"
        moved = _moved(do, shape, random)
        if all(_apart(moved, mark["shape"]) for mark in value[:nth] + value[nth + 1 :]):
            acts.append(act(asking, do, nth=nth, shape=shape, to=moved))
            value[nth] = {**value[nth], "shape": moved}
    return Meaning(acts, value)


def _moved(do: str, shape: Json, random: Any) -> Json:
    """Where a mark is once it was dragged away, or at the corner that is drawn last."""
    right, down = random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1)
    if do == "stretch":
        return {**shape, "width": max(0.1, shape["width"] + right), "height": max(0.1, shape["height"] + down)}
    width, height = shape.get("width", 0), shape.get("height", 0)
    x, y = (
        min(max(shape[name] + by, LOW), HIGH - size) for name, by, size in (("x", right, width), ("y", down, height))
    )
    return {**shape, "x": x, "y": y}


def _free(kind: str, drawn: list[Json], random: Any) -> Json | None:
    """A shape that is apart from others, or for boxes one that begins on the edge of the last one."""
    if kind == "box" and drawn and random.random() < 0.35:
        last = drawn[-1]
        below = {
            "x": last["x"],
            "y": last["y"] + last["height"],
            "width": last["width"],
            "height": min(0.2, 0.97 - last["y"] - last["height"]),
        }
        if below["height"] > 0.08:
            return below
    for _ in range(30):
        shape: Json = SHAPES[kind](random)
        if all(_apart(shape, other) for other in drawn):
            return shape
    return None


def transcription(asking: Any) -> Meaning:
    """Lines: with or without a box around each, going on with Enter or by drawing the next."""
    random, pictured = asking.random, asking.question["medium"] in PICTURES
    value, acts = [], list[Json]()
    boxed = pictured and random.random() < 0.7
    for nth in range(random.randint(1, 3)):
        box = {"x": 0.1, "y": 0.08 + 0.2 * nth, "width": random.uniform(0.5, 0.8), "height": 0.12}
        text = random.choice([each for each in WORDS if "\n" not in each])
        go_on = random.choice(["enter", "draw"]) if nth else "draw"
        acts.append(act(asking, "line", nth=nth, box=box if boxed else None, text=text, go_on=go_on))
        value.append({"text": text, **({"shape": box} if boxed else {})})
    return Meaning(acts, value)


MEANINGS = {**dict.fromkeys(SHAPES, marks), "transcription": transcription}
