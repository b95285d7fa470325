"""What a format of marks is, and the answers that it is written from.

Others add formats as entry points of the group ``crowdd.formats``: an object with the attributes of ``Format``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol, TypedDict

import attrs

from crowdd.kernel.values import Json, JsonObject, Values
from crowdd.kinds.questions.options import is_number, values_of

GROUP: Final = "crowdd.formats"
PICTURES: Final = frozenset({"box", "point", "count", "line", "polygon", "freehand"})
POINTS: Final = frozenset({"point", "count"})
AREAS: Final = frozenset({"polygon", "freehand"})
SEGMENTS: Final = frozenset({"sound_segments", "video_segments"})
SPANS: Final = frozenset({"text_spans"})
_SIZES: Final = ("width", "height", "duration")


class Line(TypedDict):
    """A line of the table that files are made of: ``said`` are answers by question, ``task`` what volunteers see of it.

    ``by`` is the code of the volunteer, "" for a result.
    """

    task_id: int
    by: str
    said: JsonObject
    task: JsonObject


@attrs.frozen
class Asked:
    """A question: its labels, and the source of the medium that is marked."""

    name: str
    type: str
    labels: Sequence[str]
    source: Values

    @classmethod
    def of(cls, document: object) -> list[Asked]:
        """The questions of a valid list."""
        asked = []
        for step in document["steps"] if isinstance(document, dict) else []:
            media = {medium["name"]: medium for medium in step.get("media", [])}
            shown: Values = next(iter(media.values()), {})
            for question in step.get("questions", []):
                medium = media.get(question.get("on", ""), shown)
                source = medium.get("source", {})
                entries = question.get("labels") or question.get("choices")
                labels = [value for value in values_of(entries) if value]
                asked.append(
                    cls(question["name"], question["type"], labels, source if isinstance(source, dict) else {})
                )
        return asked

    def medium(self, task: JsonObject) -> str:
        """The address or the text of its medium in a task; "" where there is none."""
        value = task.get(self.source["column"]) if "column" in self.source else self.source.get("url")
        return value if isinstance(value, str) else ""


@attrs.frozen
class Mark:
    """A mark of an answer, in pixels, seconds or characters; ``label`` is the name of the question without labels."""

    asked: Asked
    label: str
    value: Mapping[str, Json]

    def number(self, name: str) -> float:
        """A number of the mark. Raises KeyError, TypeError."""
        value = self.value[name]
        if not is_number(value):
            raise TypeError(name)
        return value

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Its left and upper edge, width and height. Raises KeyError, TypeError for what is no box."""
        x, y, width, height = (self.number(name) for name in ("x", "y", "width", "height"))
        return x, y, width, height

    @property
    def points(self) -> list[tuple[float, float]]:
        """Its corners. Raises KeyError, TypeError, ValueError for what has none."""
        points = self.value["points"]
        if not isinstance(points, list):
            raise TypeError("points")
        return [_pair(point) for point in points]


def _pair(point: Json) -> tuple[float, float]:
    """A corner. Raises TypeError, ValueError."""
    if not isinstance(point, list):
        raise TypeError("points")
    x, y = point
    if not is_number(x) or not is_number(y):
        raise TypeError("points")
    return x, y


@attrs.frozen
class Answer:
    """What one volunteer, or all together, said to a task."""

    task_id: int
    by: str
    said: JsonObject
    task: JsonObject

    @classmethod
    def of(cls, line: Line) -> Answer:
        answers, task = (value if isinstance(value, dict) else {} for value in (line["said"], line["task"]))
        return cls(line["task_id"], line["by"] or "", answers, task)

    @property
    def key(self) -> str:
        """A name for files."""
        return f"{self.task_id}_{self.by}" if self.by else str(self.task_id)

    def marks(self, asked: Asked) -> list[Mark]:
        """The marks of a question."""
        value = self.said.get(asked.name)
        if isinstance(value, list) and asked.type in AREAS and value and not isinstance(value[0], dict):
            value = [{"points": value}]  # the consensus of a single area
        marks = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
        return [Mark(asked, str(one.get("label") or asked.name), one) for one in marks]

    def size(self, name: str) -> float | None:
        """The width, height or duration that a column of the task has."""
        value = self.task.get(name) if name in _SIZES else None
        try:
            number = float(value) if isinstance(value, str | int | float) else 0.0
        except ValueError:
            return None
        return number if 0 < number < 1e9 else None


class Writer(Protocol):
    """Writes a file answer by answer; its functions are called in a thread, one at a time."""

    def begin(self) -> bytes:
        """The first bytes."""

    def add(self, answer: Answer) -> bytes:
        """Takes an answer; what can be written now."""

    def end(self) -> Iterator[bytes]:
        """The last bytes, in parts."""


class Format(Protocol):
    """A format: its ``name`` in addresses, its ``title`` for people, and the ``types`` of questions that it can hold.

    ``cannot`` are sentences about what it cannot hold, which people read before they download a file.
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def ending(self) -> str: ...
    @property
    def content_type(self) -> str: ...
    @property
    def types(self) -> frozenset[str]: ...
    @property
    def cannot(self) -> Sequence[str]: ...

    def writer(self, asked: Sequence[Asked]) -> Writer:
        """Begins a file of the answers to these questions, all of ``types``."""
