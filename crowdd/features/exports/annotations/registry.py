"""All formats of marks: ours, and those that other packages add (``annotation_format.GROUP``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from crowdd.features.exports.annotations.annotation_format import GROUP, Format
from crowdd.features.exports.annotations.documents import LabelStudio, Spacy, WebAnnotation
from crowdd.features.exports.annotations.pictures import Coco, PascalVoc, Yolo
from crowdd.features.exports.annotations.sounds import Audacity, TextGrid

_OURS: Final[tuple[Format, ...]] = (
    Coco(),
    Yolo(),
    PascalVoc(),
    WebAnnotation(),
    Audacity(),
    TextGrid(),
    Spacy(),
    LabelStudio(),
)


@cache
def annotation_formats() -> Mapping[str, Format]:
    """The formats by their names. One of another package cannot take the name of ours."""
    added: list[Format] = [entry.load() for entry in entry_points(group=GROUP)]
    return {each.name: each for each in (*added, *_OURS)}
