"""Formats for detectors: COCO, YOLO and Pascal VOC."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

import orjson

from crowdd.features.exports.annotations.annotation_format import AREAS, PICTURES, POINTS, Answer, Asked, Mark
from crowdd.features.exports.annotations.zip_files import ZipFiles
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json, JsonObject, Values
from crowdd.kinds.questions.options import is_number

_IN_MEMORY: Final = 1_000_000
_PIECE: Final = 65_536
BOXES: Final = frozenset({"box"})
LEFT_OUT: Final = "left_out.txt"
"""The file with what was left out, beside the others."""


def categories_of(asked: Sequence[Asked]) -> dict[tuple[str, str], int]:
    """The numbers of classes from 0, by question and label; the question alone where it has no labels."""
    pairs = [(one.name, label) for one in asked for label in one.labels or [one.name]]
    return {pair: nth for nth, pair in enumerate(pairs)}


def shoelace(points: Sequence[tuple[float, float]]) -> float:
    """The area within corners."""
    following = [*points[1:], points[0]]
    return abs(sum(x * b - a * y for (x, y), (a, b) in zip(points, following, strict=True))) / 2


class Coco:
    """COCO: boxes, areas (``segmentation``) and points (``keypoints``), with the volunteer of each answer."""

    name, title, ending, content_type = "coco", "COCO", "json", "application/json"
    types = PICTURES - {"line"}
    cannot = (
        _("Lines, and questions about marks, are left out."),
        _("Width and height of a picture are 0 unless the tasks have columns of these names."),
    )

    def writer(self, asked: Sequence[Asked]) -> CocoWriter:
        return CocoWriter(asked)

    def read(self, document: JsonObject) -> Iterator[Values]:
        """A row for each picture of a file: url, width and height, and its ``boxes``, ``areas`` and ``points``."""
        names = {one.get("id"): str(one.get("name", "")) for one in _entries(document, "categories")}
        marks: dict[Json, Values] = {}
        for annotation in _entries(document, "annotations"):
            image = annotation.get("image_id")
            if isinstance(image, int | str) and (mark := _mark(annotation)) is not None:
                column, value = mark
                label = names.get(annotation.get("category_id"))
                of_image = marks.setdefault(image, {}).setdefault(column, [])
                of_image.append({**value, **({"label": label} if label else {})})
        for image in _entries(document, "images"):
            address = image.get("coco_url") or image.get("file_name")
            about = {name: image[name] for name in ("width", "height") if is_number(image.get(name))}
            yield {"url": address, **about, **marks.get(image.get("id"), {})}


class CocoWriter:
    """``annotations`` come first, ``images`` wait in a file of their own."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked, self._categories = asked, categories_of(asked)
        self._images = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._pictures: tuple[int, dict[str, int]] = (0, {})  # of the task before, which may come again
        self._marks = self._n_images = 0

    def begin(self) -> bytes:
        return b'{"annotations":[\n'

    def add(self, answer: Answer) -> bytes:
        lines = []
        for asked in self._asked:
            image = self._image(answer, asked)
            for mark in answer.marks(asked):
                category = self._categories.get((asked.name, mark.label))
                shape = _shape(mark) if category is not None else None
                if category is None or shape is None:
                    continue
                self._marks += 1
                by = {"volunteer": answer.by} if answer.by else {}
                about = {"id": self._marks, "image_id": image, "category_id": category + 1, "iscrowd": 0}
                lines.append((b"" if self._marks == 1 else b",\n") + orjson.dumps({**about, **shape, **by}))
        return b"".join(lines)

    def _image(self, answer: Answer, asked: Asked) -> int:
        """The number of a picture; answers to one task that follow each other share it."""
        if self._pictures[0] != answer.task_id:
            self._pictures = answer.task_id, {}
        known, name = self._pictures[1], asked.medium(answer.task)
        if name not in known:
            self._n_images += 1
            known[name] = self._n_images
            width, height = (round(answer.size(each) or 0) for each in ("width", "height"))
            image = {"id": self._n_images, "file_name": name, "width": width, "height": height}
            line = orjson.dumps({**image, "task_id": answer.task_id})
            self._images.write((b"" if self._n_images == 1 else b",\n") + line)
        return known[name]

    def end(self) -> Iterator[bytes]:
        yield b'\n],"images":[\n'
        self._images.seek(0)
        while piece := self._images.read(_PIECE):
            yield piece
        self._images.close()
        types = {one.name: one.type for one in self._asked}
        categories = [
            {"id": nth + 1, "name": label, "supercategory": name, **_keypoint(types[name])}
            for (name, label), nth in self._categories.items()
        ]
        yield b'\n],"categories":' + orjson.dumps(categories) + b"}\n"


def _entries(document: JsonObject, name: str) -> Iterator[JsonObject]:
    """The objects of a list; ids of others than numbers and texts are none."""
    entries = document.get(name)
    for one in entries if isinstance(entries, list) else []:
        if isinstance(one, dict) and isinstance(one.get("id"), int | str | None):
            yield one


def _mark(annotation: JsonObject) -> tuple[str, Values] | None:
    """The column and the mark of an annotation; None for what has no form that can be read, such as masks."""
    flat, corners, box = (annotation.get(name) for name in ("keypoints", "segmentation", "bbox"))
    if isinstance(flat, list) and len(flat) >= 2 and all(map(is_number, flat)):
        return "points", {"x": flat[0], "y": flat[1]}
    outline = corners[0] if isinstance(corners, list) and corners else None
    if isinstance(outline, list) and len(outline) >= 6 and all(map(is_number, outline)):
        return "areas", {"points": [list(pair) for pair in zip(outline[::2], outline[1::2], strict=False)]}
    if isinstance(box, list) and len(box) == 4 and all(map(is_number, box)):
        return "boxes", dict(zip(("x", "y", "width", "height"), box, strict=True))
    return None


def _keypoint(type_: str) -> Values:
    return {"keypoints": ["point"], "skeleton": []} if type_ in POINTS else {}


def _shape(mark: Mark) -> Values | None:
    """The geometry of a mark; None for what is not one of its type."""
    try:
        if mark.asked.type in POINTS:
            x, y = mark.number("x"), mark.number("y")
            return {"keypoints": [x, y, 2], "num_keypoints": 1, "bbox": [x, y, 0, 0], "area": 0}
        if mark.asked.type in AREAS:
            points = mark.points
            xs, ys = zip(*points, strict=True)
            box = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
            flat = [number for point in points for number in point]
            return {"segmentation": [flat], "bbox": box, "area": shoelace(points)}
        x, y, width, height = mark.box
        return {"bbox": [x, y, width, height], "area": width * height, "segmentation": []}
    except (KeyError, TypeError, ValueError):
        return None


class Yolo:
    """YOLO: a text file of boxes for each answer, in shares of the size of the picture."""

    name, title, ending, content_type = "yolo", "YOLO", "zip", "application/zip"
    types = BOXES
    cannot = (
        _("Only boxes are kept."),
        _("Tasks need columns width and height with the size of the picture. Others are listed in left_out.txt."),
    )

    def writer(self, asked: Sequence[Asked]) -> YoloWriter:
        return YoloWriter(asked)


class YoloWriter:
    """``labels/<task>.txt``, ``classes.txt``, and the pictures in ``pictures.txt``."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked, self._categories, self._archive = asked, categories_of(asked), ZipFiles()
        self._left_out = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115

    def begin(self) -> bytes:
        names = "\n".join(label for _name, label in self._categories)
        return self._archive.add("classes.txt", (names + "\n").encode())

    def add(self, answer: Answer) -> bytes:
        width, height = answer.size("width"), answer.size("height")
        if width is None or height is None:
            self._left_out.write(f"{answer.key}\n".encode())
            return b""
        lines = []
        for asked in self._asked:
            for mark in answer.marks(asked):
                category = self._categories.get((asked.name, mark.label))
                if category is not None and (box := box_of(mark)):
                    x, y, wide, high = box
                    shares = ((x + wide / 2) / width, (y + high / 2) / height, wide / width, high / height)
                    lines.append(" ".join([str(category), *(f"{min(max(one, 0), 1):.6f}" for one in shares)]) + "\n")
        return self._archive.add(f"labels/{answer.key}.txt", "".join(lines).encode())

    def end(self) -> Iterator[bytes]:
        self._left_out.seek(0)
        left_out = self._left_out.read()
        self._left_out.close()
        if left_out:
            yield self._archive.add(LEFT_OUT, left_out)
        yield from self._archive.end()


def box_of(mark: Mark) -> tuple[float, float, float, float] | None:
    """The box of a mark; None for what is none."""
    try:
        return mark.box
    except (KeyError, TypeError):
        return None


class PascalVoc:
    """Pascal VOC: an XML file of boxes for each answer."""

    name, title, ending, content_type = "voc", "Pascal VOC", "zip", "application/zip"
    types = BOXES
    cannot = (
        _("Only boxes are kept."),
        _("Width and height of a picture are 0 unless the tasks have columns of these names."),
    )

    def writer(self, asked: Sequence[Asked]) -> VocWriter:
        return VocWriter(asked)


class VocWriter:
    """``Annotations/<task>.xml``."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked, self._archive = asked, ZipFiles()

    def begin(self) -> bytes:
        return b""

    def add(self, answer: Answer) -> bytes:
        name = next((medium for one in self._asked if (medium := one.medium(answer.task))), "")
        width, height = (round(answer.size(each) or 0) for each in ("width", "height"))
        objects = [_object(mark) for asked in self._asked for mark in answer.marks(asked)]
        text = (
            f"<annotation>\n<filename>{_text(name)}</filename>\n"
            f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>\n"
            f"<segmented>0</segmented>\n{''.join(objects)}</annotation>\n"
        )
        return self._archive.add(f"Annotations/{answer.key}.xml", text.encode())

    def end(self) -> Iterator[bytes]:
        yield from self._archive.end()


def _object(mark: Mark) -> str:
    box = box_of(mark)
    if box is None:
        return ""
    x, y, width, height = box
    edges = (("xmin", x), ("ymin", y), ("xmax", x + width), ("ymax", y + height))
    inside = "".join(f"<{name}>{value:.10g}</{name}>" for name, value in edges)
    return (
        f"<object><name>{_text(mark.label)}</name><pose>Unspecified</pose><truncated>0</truncated>"
        f"<difficult>0</difficult><bndbox>{inside}</bndbox></object>\n"
    )


def _text(text: str) -> str:
    """A text in XML, without the characters that XML cannot have."""
    return escape("".join(one for one in text if one >= " " or one in "\t\n"))
