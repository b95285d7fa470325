"""Formats in JSON: W3C Web Annotation, the JSON Lines of spaCy, and the tasks of Label Studio."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import quoteattr

import orjson

from crowdd.features.exports.annotations.annotation_format import (
    AREAS,
    PICTURES,
    POINTS,
    SEGMENTS,
    SPANS,
    Answer,
    Asked,
    Mark,
)
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json, Values
from crowdd.kinds.questions.options import is_number

_MEDIA_FRAGMENTS: Final = "http://www.w3.org/TR/media-frags/"
_SVG: Final = "http://www.w3.org/2000/svg"
_CONTEXT: Final = "http://www.w3.org/ns/anno.jsonld"


class JsonWriter:
    """Objects in an array between ``first`` and ``last``, or a line each."""

    def __init__(
        self, asked: Sequence[Asked], make: Callable[[Sequence[Asked], Answer], list[Values]], frame: tuple[bytes, ...]
    ) -> None:
        self._asked, self._make = asked, make
        self._first, self._between, self._last = frame
        self._begun = False

    def begin(self) -> bytes:
        return self._first

    def add(self, answer: Answer) -> bytes:
        parts = []
        for one in self._make(self._asked, answer):
            parts.append((self._between if self._begun else b"") + orjson.dumps(one))
            self._begun = True
        return b"".join(parts)

    def end(self) -> Iterator[bytes]:
        yield self._last


class WebAnnotation:
    """W3C Web Annotation: a page of annotations, each with a body (its label) and a target with a selector."""

    name, title, ending = "webannotation", "W3C Web Annotation", "jsonld"
    content_type = "application/ld+json"
    types = PICTURES | SEGMENTS | SPANS
    cannot = (_("Questions about marks are left out."),)

    def writer(self, asked: Sequence[Asked]) -> JsonWriter:
        first = b'{"@context":"' + _CONTEXT.encode() + b'","type":"AnnotationPage","items":[\n'
        return JsonWriter(asked, _annotations, (first, b",\n", b"\n]}\n"))


def _annotations(asked: Sequence[Asked], answer: Answer) -> list[Values]:
    annotations = []
    for one in asked:
        for nth, mark in enumerate(answer.marks(one), 1):
            if (selector := _selector(mark)) is None:
                continue
            body = [{"type": "TextualBody", "purpose": "tagging", "value": mark.label}]
            target = {"source": one.medium(answer.task) or f"urn:crowdd:task:{answer.task_id}", "selector": selector}
            if one.type in SPANS and "url" not in one.source:
                target["source"] = f"urn:crowdd:task:{answer.task_id}"
            about = {"id": f"urn:crowdd:{answer.key}:{one.name}:{nth}", "type": "Annotation", "motivation": "tagging"}
            by = {"creator": {"type": "Person", "nickname": answer.by}} if answer.by else {}
            annotations.append({**about, **by, "body": body, "target": target})
    return annotations


def _selector(mark: Mark) -> Values | None:
    """What the mark selects of its medium; None for what is no mark of its type."""
    try:
        if mark.asked.type in SEGMENTS:
            return _fragment(f"t={mark.number('start'):.10g},{mark.number('end'):.10g}")
        if mark.asked.type in SPANS:
            place = {"start": int(mark.number("start")), "end": int(mark.number("end"))}
            return {"type": "TextPositionSelector", **place}
        if mark.asked.type in POINTS:
            return _fragment(f"xywh=pixel:{mark.number('x'):.10g},{mark.number('y'):.10g},1,1")
        if mark.asked.type == "box":
            return _fragment("xywh=pixel:" + ",".join(f"{number:.10g}" for number in mark.box))
        shape = "polygon" if mark.asked.type in AREAS else "polyline"
        points = quoteattr(" ".join(f"{x:.10g},{y:.10g}" for x, y in mark.points))
        return {"type": "SvgSelector", "value": f'<svg xmlns="{_SVG}"><{shape} points={points}/></svg>'}
    except (KeyError, TypeError, ValueError):
        return None


def _fragment(value: str) -> Values:
    return {"type": "FragmentSelector", "conformsTo": _MEDIA_FRAGMENTS, "value": value}


class Spacy:
    """JSON Lines of spaCy and Prodigy: a text with its spans in each line."""

    name, title, ending, content_type = "spacy", "spaCy (JSONL)", "jsonl", "application/x-ndjson"
    types = SPANS
    cannot = (
        _("Questions about marks are left out."),
        _("Texts behind an address are left out: they are not in the tasks."),
    )

    def writer(self, asked: Sequence[Asked]) -> JsonWriter:
        return JsonWriter(asked, _texts, (b"", b"\n", b"\n"))


def _texts(asked: Sequence[Asked], answer: Answer) -> list[Values]:
    """A line for each text of the task, with the spans of all questions about it."""
    texts: dict[str, list[Values]] = {}
    for one in asked:
        text = one.medium(answer.task)
        if not text or "url" in one.source or text.startswith(("http://", "https://", "/uploads/")):
            continue
        spans = texts.setdefault(text, [])
        for mark in answer.marks(one):
            start, end = mark.value.get("start"), mark.value.get("end")
            if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text):
                spans.append({"start": start, "end": end, "label": mark.label})
    meta = {"task_id": answer.task_id, **({"volunteer": answer.by} if answer.by else {})}
    return [
        {"text": text, "spans": sorted(spans, key=lambda span: (span["start"], span["end"])), "meta": meta}
        for text, spans in texts.items()
    ]


_CHOICES: Final = frozenset({"single_choice", "multiple_choice", "yes_no"})
_TEXTS: Final = frozenset({"short_text", "long_text"})


class LabelStudio:
    """Label Studio: a task with an annotation for each answer."""

    name, title, ending, content_type = "labelstudio", "Label Studio", "json", "application/json"
    types = (PICTURES - {"line"}) | SEGMENTS | SPANS | _CHOICES | _TEXTS | frozenset({"number", "rating"})
    cannot = (
        _("Lines, rankings, tables, dates, maps, and questions about marks are left out."),
        _("Marks in pictures need columns width and height in the tasks, and are left out without."),
        _("Answers of several volunteers to one task are tasks of their own there."),
    )

    def writer(self, asked: Sequence[Asked]) -> JsonWriter:
        return JsonWriter(asked, _tasks, (b"[\n", b",\n", b"\n]\n"))


def _tasks(asked: Sequence[Asked], answer: Answer) -> list[Values]:
    regions = [
        {"id": f"{one.name}-{nth}", "from_name": one.name, "to_name": one.source.get("column", "medium"), **region}
        for one in asked
        for nth, region in enumerate(_regions(one, answer), 1)
    ]
    data = {**answer.task, "crowdd_task": answer.task_id, **({"crowdd_volunteer": answer.by} if answer.by else {})}
    return [{"data": data, "annotations": [{"result": regions}]}]


def _regions(asked: Asked, answer: Answer) -> list[Values]:
    value = answer.said.get(asked.name)
    if asked.type in PICTURES | SEGMENTS | SPANS:
        return [region for mark in answer.marks(asked) if (region := _region(mark, answer)) is not None]
    simple = _simple(asked.type, value)
    return [] if simple is None else [simple]


def _simple(type_: str, said: Json) -> Values | None:
    """The answer to a question without marks."""
    if type_ in _CHOICES and said not in (None, []):
        chosen = said if isinstance(said, list) else [said]
        return {"type": "choices", "value": {"choices": [_choice(one) for one in chosen]}}
    if type_ in _TEXTS and isinstance(said, str):
        return {"type": "textarea", "value": {"text": [said]}}
    if type_ in ("number", "rating") and is_number(said):
        return {"type": type_, "value": {type_: said}}
    return None


def _choice(value: Json) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _region(mark: Mark, answer: Answer) -> Values | None:
    """A mark; those in pictures are in percent of its size."""
    try:
        if mark.asked.type in SEGMENTS | SPANS:
            place: Mapping[str, Json] = {"start": mark.number("start"), "end": mark.number("end")}
            text = {"text": mark.value["text"]} if "text" in mark.value else {}
            return {"type": "labels", "value": {**place, **text, "labels": [mark.label]}}
        width, height = answer.size("width"), answer.size("height")
        if width is None or height is None:
            return None
        size = {"original_width": round(width), "original_height": round(height)}
        across, down = 100 / width, 100 / height
        if mark.asked.type in AREAS:
            points = [[x * across, y * down] for x, y in mark.points]
            return {"type": "polygonlabels", **size, "value": {"points": points, "polygonlabels": [mark.label]}}
        if mark.asked.type in POINTS:
            point = {"x": mark.number("x") * across, "y": mark.number("y") * down, "width": 0.5}
            return {"type": "keypointlabels", **size, "value": {**point, "keypointlabels": [mark.label]}}
        x, y, wide, high = mark.box
        box = {"x": x * across, "y": y * down, "width": wide * across, "height": high * down, "rotation": 0}
        return {"type": "rectanglelabels", **size, "value": {**box, "rectanglelabels": [mark.label]}}
    except (KeyError, TypeError, ValueError):
        return None
