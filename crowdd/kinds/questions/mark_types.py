"""Types of questions that mark a place in a medium. The answer is an array of marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.questions.options import Option, Problem, at, choices, closed, integer, values_of
from crowdd.kinds.questions.question_type import QuestionType
from crowdd.kinds.types import Schema

MAX_MARKS: Final = 1000
"""Marks of an answer, unless the project raises it in ``info.max_marks``."""
MAX_RAISED_MARKS: Final = 10_000
"""How far a project may raise it."""
_MAX_POINTS: Final = 20_000
_MAX_TEXT: Final = 10_000  # characters of a span or a line
_PICTURES: Final = frozenset({"picture", "zoom_picture"})
_HEX: Final = re.compile("#[0-9a-fA-F]{6}")


def _check_colour(value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        yield Problem(path, _("This must be a colour such as #0b3f63."))


_COLOUR: Final = Option(
    _check_colour, {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}, control="colour", label=_("Colour")
)
_MAXIMUM: Final = _(
    "At most this many. Default: 500. All marks of an answer together: 1,000, or what the settings of the project say."
)
_NUMBER_OF: Final = {
    "min": integer(1, MAX_MARKS).called(_("Fewest marks"), _("At least this many are needed, if any.")),
    "max": integer(1, MAX_MARKS).called(_("Most marks"), _MAXIMUM),
}
_LABELS: Final = choices(keys=True, others={"colour": _COLOUR})
_OPTIONS: Final = {"labels": _LABELS.called(_("Labels"), _("Each mark gets one of them.")), **_NUMBER_OF}
_NUMBER: Final[Schema] = {"type": "number"}
_FROM_ZERO: Final[Schema] = {"type": "number", "minimum": 0}
_TEXT: Final[Schema] = {"type": "string", "maxLength": _MAX_TEXT}
_POSITION: Final[Schema] = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 3}
_RING: Final[Schema] = {"type": "array", "items": _POSITION, "minItems": 4, "maxItems": _MAX_POINTS}
_POINTS: Final[Schema] = {
    "type": "array",
    "minItems": 2,
    "maxItems": _MAX_POINTS,
    "items": {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
}


def _selector(*kinds: str) -> Schema:
    return {"type": "object", "properties": {"type": {"enum": list(kinds)}}, "required": ["type"]}


def _marks(parts: dict[str, Schema], *selectors: str, optional: tuple[str, ...] = ()) -> Callable[[Values], Schema]:
    """The schema of an array of marks with these parts, all but ``optional`` ones needed."""
    selector = {"selector": _selector(*selectors)} if selectors else {}
    needs = tuple(name for name in (*parts, *selector) if name not in optional)

    def answer(question: Values) -> Schema:
        labels = values_of(question.get("labels"))
        label: dict[str, Schema] = {"label": {"enum": labels}} if labels else {}
        # The schema of what is said about each mark is put in by who knows all types (schemas.py).
        item = closed({**parts, **label, **selector, "answers": {"type": "object"}}, needs)
        last = question.get("max", MAX_MARKS)
        return {"type": "array", "minItems": question.get("min", 0), "maxItems": last, "items": item}

    return answer


def _geometry(kind: str, coordinates: Schema) -> Callable[[Values], Schema]:
    geometry = closed({"type": {"const": kind}, "coordinates": coordinates}, ("type", "coordinates"))
    return _marks({"geometry": geometry})


def _check_number_of(question: Values, path: str) -> Iterator[Problem]:
    first, last = question.get("min"), question.get("max")
    if type(first) is int and type(last) is int and first > last:
        yield Problem(at(path, "max"), _("The maximum is less than the minimum."))


_mark_type = partial(
    QuestionType, options=_OPTIONS, check=_check_number_of, choices="labels", needs_medium=True, each=True
)
_BOX: Final = dict.fromkeys(("x", "y", "width", "height"), _NUMBER)
_point = _marks({"x": _NUMBER, "y": _NUMBER}, "FragmentSelector", "SvgSelector")
_path = _marks({"points": _POINTS}, "SvgSelector")
_time = _marks({"start": _FROM_ZERO, "end": _FROM_ZERO}, "FragmentSelector")
_lines = _marks({"text": _TEXT, **_BOX}, "FragmentSelector", optional=(*_BOX, "selector"))
_span: Final = {"start": {"type": "integer", "minimum": 0}, "end": {"type": "integer", "minimum": 1}, "text": _TEXT}

MARK_TYPES: Final = (
    _mark_type(
        "box",
        "Rectangles.",
        answer=_marks(_BOX, "FragmentSelector"),
        media=_PICTURES,
        answer_type="boxes",
        module="box",
        group="picture",
        label=_("Boxes"),
        sentence=_("Volunteers draw rectangles around things."),
    ),
    _mark_type(
        "point",
        "Points.",
        answer=_point,
        media=_PICTURES,
        answer_type="points",
        module="points",
        group="picture",
        label=_("Points"),
        sentence=_("Volunteers place points on things."),
    ),
    _mark_type(
        "count",
        "Points that are counted.",
        answer=_point,
        media=_PICTURES,
        answer_type="points",
        module="points",
        group="picture",
        label=_("Counting"),
        sentence=_("Volunteers click on each thing, and the clicks are counted."),
    ),
    _mark_type(
        "line",
        "Lines with any number of corners.",
        answer=_path,
        media=_PICTURES,
        answer_type="lines",
        module="lines",
        group="picture",
        label=_("Lines"),
        sentence=_("Volunteers draw lines from point to point."),
    ),
    _mark_type(
        "polygon",
        "Areas with straight edges.",
        answer=_path,
        media=_PICTURES,
        answer_type="areas",
        single=("polygon", "points"),
        module="lines",
        group="picture",
        label=_("Areas"),
        sentence=_("Volunteers draw areas from corner to corner."),
    ),
    _mark_type(
        "freehand",
        "Areas that are drawn.",
        answer=_path,
        media=_PICTURES,
        answer_type="areas",
        single=("polygon", "points"),
        module="lines",
        group="picture",
        label=_("Freehand areas"),
        sentence=_("Volunteers draw around things with the pointer held down."),
    ),
    _mark_type(
        "text_spans",
        "Parts of a text.",
        answer=_marks(_span, "TextPositionSelector"),
        media=frozenset({"text"}),
        answer_type="spans",
        module="text_spans",
        group="text",
        label=_("Parts of a text"),
        sentence=_("Volunteers select words and give them a label."),
    ),
    QuestionType(
        "transcription",
        "The lines of a picture or a recording as text.",
        {
            "min": _NUMBER_OF["min"].called(_("Fewest lines"), _("At least this many are needed, if any.")),
            "max": _NUMBER_OF["max"].called(_("Most lines"), _MAXIMUM),
        },
        _lines,
        check=_check_number_of,
        media=_PICTURES | {"sound", "video"},
        answer_type="transcript",
        single=("text", "text"),
        module="transcription",
        group="write",
        label=_("Transcription"),
        sentence=_("Volunteers write down what they read or hear, line by line."),
    ),
    _mark_type(
        "sound_segments",
        "Parts of a sound.",
        answer=_time,
        media=frozenset({"sound"}),
        answer_type="spans",
        module="segments",
        group="recording",
        label=_("Parts of a sound"),
        sentence=_("Volunteers mark the start and the end of what they hear."),
    ),
    _mark_type(
        "video_segments",
        "Parts of a video.",
        answer=_time,
        media=frozenset({"video"}),
        answer_type="spans",
        module="segments",
        group="recording",
        label=_("Parts of a video"),
        sentence=_("Volunteers mark the start and the end of what they see."),
    ),
    _mark_type(
        "map_place",
        "Places.",
        answer=_geometry("Point", _POSITION),
        media=frozenset({"map"}),
        answer_type="places",
        module="geometries",
        group="map",
        label=_("Places"),
        sentence=_("Volunteers mark places on a map."),
    ),
    _mark_type(
        "map_area",
        "Areas.",
        answer=_geometry("Polygon", {"type": "array", "items": _RING, "minItems": 1, "maxItems": 1}),
        media=frozenset({"map"}),
        answer_type="areas",
        module="geometries",
        group="map",
        label=_("Areas on a map"),
        sentence=_("Volunteers draw areas on a map."),
    ),
)
