"""Types of questions that mark a place in a medium. The answer is an array of marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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


def _type(
    name: str,
    doc: str,
    answer: Callable[[Values], Schema],
    media: set[str],
    module: str,
    words: tuple[str, str],
    group: str = "picture",
    answer_type: str = "",
    single: tuple[str, str] | None = None,
) -> QuestionType:
    label, sentence = words
    return QuestionType(
        name,
        doc,
        _OPTIONS,
        answer,
        check=_check_number_of,
        choices="labels",
        media=frozenset(media),
        needs_medium=True,
        each=True,
        module=module,
        group=group,
        answer_type=answer_type,
        single=single,
        label=label,
        sentence=sentence,
    )


_BOX: Final = dict.fromkeys(("x", "y", "width", "height"), _NUMBER)
_point = _marks({"x": _NUMBER, "y": _NUMBER}, "FragmentSelector", "SvgSelector")
_path = _marks({"points": _POINTS}, "SvgSelector")
_time = _marks({"start": _FROM_ZERO, "end": _FROM_ZERO}, "FragmentSelector")
_lines = _marks({"text": _TEXT, **_BOX}, "FragmentSelector", optional=(*_BOX, "selector"))
_span: Final = {"start": {"type": "integer", "minimum": 0}, "end": {"type": "integer", "minimum": 1}, "text": _TEXT}

MARK_TYPES: Final = (
    _type(
        "box",
        "Rectangles.",
        _marks(_BOX, "FragmentSelector"),
        {*_PICTURES},
        "box",
        (_("Boxes"), _("Volunteers draw rectangles around things.")),
        answer_type="boxes",
    ),
    _type(
        "point",
        "Points.",
        _point,
        {*_PICTURES},
        "points",
        (_("Points"), _("Volunteers place points on things.")),
        answer_type="points",
    ),
    _type(
        "count",
        "Points that are counted.",
        _point,
        {*_PICTURES},
        "points",
        (_("Counting"), _("Volunteers click on each thing, and the clicks are counted.")),
        answer_type="points",
    ),
    _type(
        "line",
        "Lines with any number of corners.",
        _path,
        {*_PICTURES},
        "lines",
        (_("Lines"), _("Volunteers draw lines from point to point.")),
        answer_type="lines",
    ),
    _type(
        "polygon",
        "Areas with straight edges.",
        _path,
        {*_PICTURES},
        "lines",
        (_("Areas"), _("Volunteers draw areas from corner to corner.")),
        answer_type="areas",
        single=("polygon", "points"),
    ),
    _type(
        "freehand",
        "Areas that are drawn.",
        _path,
        {*_PICTURES},
        "lines",
        (_("Freehand areas"), _("Volunteers draw around things with the pointer held down.")),
        answer_type="areas",
        single=("polygon", "points"),
    ),
    _type(
        "text_spans",
        "Parts of a text.",
        _marks(_span, "TextPositionSelector"),
        {"text"},
        "text_spans",
        (_("Parts of a text"), _("Volunteers select words and give them a label.")),
        "text",
        answer_type="spans",
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
    _type(
        "sound_segments",
        "Parts of a sound.",
        _time,
        {"sound"},
        "segments",
        (_("Parts of a sound"), _("Volunteers mark the start and the end of what they hear.")),
        "recording",
        answer_type="spans",
    ),
    _type(
        "video_segments",
        "Parts of a video.",
        _time,
        {"video"},
        "segments",
        (_("Parts of a video"), _("Volunteers mark the start and the end of what they see.")),
        "recording",
        answer_type="spans",
    ),
    _type(
        "map_place",
        "Places.",
        _geometry("Point", _POSITION),
        {"map"},
        "geometries",
        (_("Places"), _("Volunteers mark places on a map.")),
        "map",
        answer_type="places",
    ),
    _type(
        "map_area",
        "Areas.",
        _geometry("Polygon", {"type": "array", "items": _RING, "minItems": 1, "maxItems": 1}),
        {"map"},
        "geometries",
        (_("Areas on a map"), _("Volunteers draw areas on a map.")),
        "map",
        answer_type="areas",
    ),
)
