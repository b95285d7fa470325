"""What people have marked in the medium of a task, each person by themselves, and what they say together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypedDict

from crowdd.features.results.consensus import FieldConsensus
from crowdd.features.results.maps import Frame, MapDrawing
from crowdd.features.results.result_display import Passage, passages_of
from crowdd.features.tasks.map_outlines import Path
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField, fits
from crowdd.kinds.answers.reading import value_at
from crowdd.kinds.answers.words import Words

Medium = Literal["picture", "map", "text", "time"]
_OF_PICTURES: Final = ("boxes", "points", "polygon", "areas", "lines", "transcript")
_MARKED: Final = (*_OF_PICTURES, "places", "spans")


class Marks(TypedDict):
    """What an answer (``run``) marks, or all together (None), as ``value`` of a type that can be drawn.

    ``n``: how many marks. ``passages`` are those of a text, ``parts`` the beginning and the width of those of a
    recording, in thousandths of what is drawn.
    """

    run: int | None
    type: str
    value: list[Values]
    n: int
    passages: list[Passage]
    parts: list[tuple[float, float]]


class MarkedMedium(TypedDict):
    """A question with its marks. ``drawn`` is its map, with the ``outline`` that the task brings as lines; ``seconds``
    is how long the line of time is.
    """

    name: str
    text: str
    medium: Medium
    people: list[Marks]
    together: Marks | None
    drawn: MapDrawing | None
    outline: list[Values]
    seconds: float


def marked_media(
    fields: Sequence[AnswerField],
    runs: Sequence[Values],
    said: Sequence[FieldConsensus],
    words: Mapping[str, Words],
    text: str,
    outlines: Mapping[str, Sequence[Path]],
) -> list[MarkedMedium]:
    """Each question that somebody has answered by marks. ``text``: the text of the task that is read, if any.

    ``outlines``: what the map of a question shows, by its name (``outlines_of``).
    """
    media = []
    for nth, field in enumerate(fields):
        if field.type not in _MARKED:
            continue
        marked = [_marks(field, value_at(run["info"], field.path), run["id"]) for run in runs]
        people = [marks for marks in marked if marks is not None]
        if any(marks["value"] for marks in people):
            one = said[nth] if nth < len(said) else None
            together = _marks(field, one["value"], None) if one is not None and one["won"] else None
            own, outline = words.get(field.name, Words(field.name)), outlines.get(field.path[0], ())
            media.append(_medium(own, field, people, together, text, outline))
    return media


def _marks(field: AnswerField, value: object, run: int | None) -> Marks | None:
    """The marks of a value; None for one that is no list of marks."""
    bare = AnswerField(name=field.name, path=(), type=field.type, choices=field.choices)
    if not isinstance(value, list) or (value and not fits(bare, value)):
        return None
    shape, marks = field.type, value
    if field.type == "polygon":
        corners = [[each["x"], each["y"]] if isinstance(each, dict) else each for each in value]
        shape, marks = "areas", [{"points": corners}] if corners else []
    elif field.type == "transcript":
        shape, marks = "boxes", [line for line in value if "x" in line]
    return Marks(run=run, type=shape, value=marks, n=len(marks), passages=[], parts=[])


def _medium(
    own: Words, field: AnswerField, people: list[Marks], together: Marks | None, text: str, outline: Sequence[Path]
) -> MarkedMedium:
    every = [*people, *([] if together is None else [together])]
    marks = [mark for each in every for mark in each["value"]]
    medium: Medium = "picture"
    drawn, seconds, around = None, 0.0, list[Values]()
    if any("geometry" in mark for mark in marks):
        medium, (drawn, around) = "map", _on_map(every, marks, outline)
    elif field.type == "spans" and text and any("text" in mark for mark in marks):
        medium = "text"
        for each in every:
            each["passages"] = passages_of(each["value"], text)
    elif field.type == "spans":
        medium, seconds = "time", max(mark["end"] for mark in marks) * 1.02
        for each in every:
            each["parts"] = [_part(mark, seconds) for mark in each["value"]]
            each["value"] = [{**mark, **_labelled(mark, own)} for mark in each["value"]]
    return MarkedMedium(
        name=field.name,
        text=own.text,
        medium=medium,
        people=people,
        together=together,
        drawn=drawn,
        outline=around,
        seconds=seconds,
    )


def _labelled(mark: Values, own: Words) -> Values:
    """The label of a mark in the words of its question."""
    return {"label": own.said(mark["label"])} if "label" in mark else {}


def _part(mark: Values, seconds: float) -> tuple[float, float]:
    return round(1000 * mark["start"] / seconds, 1), round(max(1000 * (mark["end"] - mark["start"]) / seconds, 2), 1)


def _on_map(
    every: Iterable[Marks], marks: Sequence[Values], outline: Sequence[Path]
) -> tuple[MapDrawing, list[Values]]:
    """The map on which all marks lie, and what the task shows there. They become parts of a drawing."""
    shown = [place for path in outline for place in path]
    frame = Frame.around([*(place for mark in marks for place in _places(mark)), *shown])
    for each in every:
        each["type"] = "areas" if each["type"] == "areas" else "points"
        each["value"] = [_drawn(mark, frame) for mark in each["value"]]
    return frame.drawn(), [{"points": [*map(frame.place, path)]} for path in outline]


def _places(mark: Values) -> list[tuple[float, float]]:
    at = mark["geometry"]["coordinates"]
    return [(x, y) for x, y, *_ in (at[0] if mark["geometry"]["type"] == "Polygon" else [at])]


def _drawn(mark: Values, frame: Frame) -> Values:
    places = [frame.place(place) for place in _places(mark)]
    return {"points": places} if len(places) > 1 else {"x": places[0][0], "y": places[0][1]}
