"""What the page of results shows: the filters of its address, the finished tasks, and the drawing of the timeline.

Where bars are drawn follows from bins alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final, TypedDict
from urllib.parse import urlencode

import attrs
import orjson

from crowdd.features.projects import starters
from crowdd.features.projects.starters import Asked
from crowdd.features.results.charts import Charts
from crowdd.features.results.consensus import FieldConsensus
from crowdd.features.results.maps import WIDTH, MapDrawing, draw_map
from crowdd.features.results.results import read_choice
from crowdd.features.results.rows import Outcome, TimeBin
from crowdd.features.results.statements import Chosen
from crowdd.http import queries
from crowdd.kernel import exact_json
from crowdd.kernel.values import Values
from crowdd.kinds.answers.words import Words

_HIGH = 160  # of bars


class Piece(TypedDict):
    group: int
    n: int
    y: float
    height: float


class Bar(TypedDict):
    """``label`` is the time in figures; ``counts`` are its tasks by group."""

    label: str
    x: float
    width: float
    n: int
    pieces: list[Piece]
    counts: list[int]


class TimelineDrawing(TypedDict):
    """``highest`` is what the full height stands for, even so that half of it is whole.

    Every ``named``-th bar has its label drawn.
    """

    highest: int
    named: int
    bars: list[Bar]


class Drawings(TypedDict):
    map: MapDrawing | None
    timeline: TimelineDrawing | None


def drawings(charts: Charts) -> Drawings:
    """Both charts, as far as there are any."""
    map_, timeline, groups = charts["map"], charts["timeline"], len(charts["answers"]) + 2
    return Drawings(
        map=draw_map(map_["points"]) if map_ else None,
        timeline=draw_timeline(timeline["times"], groups) if timeline else None,
    )


def draw_timeline(times: Sequence[TimeBin], groups: int) -> TimelineDrawing:
    """Stacked bars from the first time to the last; times without tasks have empty ones."""
    counts = {label: [0] * groups for label in _times(sorted({bin_["time"] for bin_ in times}))}
    for bin_ in times:
        counts[bin_["time"]][min(bin_["group"], groups - 1)] += bin_["n"]
    highest = max(sum(row) for row in counts.values())
    highest += highest % 2 if highest > 1 else 0
    wide = WIDTH / len(counts)
    bars = [
        Bar(
            label=_label(label),
            x=round(nth * wide + wide * 0.1, 1),
            width=round(wide * 0.8, 1),
            n=sum(row),
            pieces=_pieces(row, highest),
            counts=row,
        )
        for nth, (label, row) in enumerate(counts.items())
    ]
    return TimelineDrawing(highest=highest, named=-(-len(bars) // 6), bars=bars)


def _pieces(row: Sequence[int], highest: int) -> list[Piece]:
    pieces, below = [], 0
    for group, n in enumerate(row):
        if n:
            top = round(_HIGH - _HIGH * (below + n) / highest, 1)
            pieces.append(Piece(group=group, n=n, y=top, height=round(_HIGH * n / highest, 1)))
        below += n
    return pieces


def _times(times: Sequence[str]) -> list[str]:
    """All times from the first to the last, by what they are: 2 to 4 characters of a year, a month or a day."""
    first, last = times[0], times[-1]
    if len(first) <= 4:
        return [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    if len(first) == 7:
        months = range(_months(first), _months(last) + 1)
        return [f"{number // 12:04}-{number % 12 + 1:02}" for number in months]
    # A date that no calendar has stands where it would be.
    begin = date(int(first[:4]), int(first[5:7]), 1)
    days = (str(begin + timedelta(days=number)) for number in range(31))
    return sorted({*times, *(day for day in days if first <= day <= last)})


def _months(text: str) -> int:
    return int(text[:4]) * 12 + int(text[5:7]) - 1


def _label(time: str) -> str:
    return f"{time}00–{time}99" if len(time) == 2 else f"{time}0–{time}9" if len(time) == 3 else time


_AROUND: Final = 60  # characters that are shown before and after a marked part
_MAX_PARTS: Final = 3  # of a recording whose times are shown
_OF_PAGES: Final = ("passages", "seconds")  # what only templates need
FILTERS = ("answer", "min_agreement", "max_agreement", "orderby")


class Filters(TypedDict):
    """What the address says, as it says it; ``query`` is the same for links, without a place.

    ``value`` is the answer that it means.
    """

    answer: str
    value: object
    min_agreement: str
    max_agreement: str
    orderby: str
    query: str


class ShownOutcome(TypedDict):
    """An answer that won ``n`` tasks. ``filter`` chooses them in an address; "" for a long one."""

    answer: object
    filter: str
    n: int


def choose_results(query: Mapping[str, str]) -> Chosen:
    """The results that an address chooses. Raises InvalidValueError."""
    before = query.get("before", "")
    return read_choice(
        answer=query.get("answer", ""),
        min_agreement=_percent(query, "min_agreement"),
        max_agreement=_percent(query, "max_agreement"),
        order=query.get("orderby", ""),
        before=queries.parse_number(before, "before", 0) if before else None,
    )


def is_whole_list(wanted: Chosen) -> bool:
    """Whether these are all results from the first, in any order."""
    return attrs.evolve(wanted, order=Chosen().order) == Chosen()


def read_filters(query: Mapping[str, str]) -> Filters:
    """What the address says of filters and order."""
    parameters = {name: query.get(name, "").strip() for name in FILTERS}
    return Filters(
        answer=parameters["answer"],
        value=_value(parameters["answer"]),
        min_agreement=parameters["min_agreement"],
        max_agreement=parameters["max_agreement"],
        orderby=parameters["orderby"],
        query=urlencode({name: value for name, value in parameters.items() if value}),
    )


def _value(answer: str) -> object:
    """The value of JSON; other text stays as it is."""
    try:
        return exact_json.loads(answer)
    except orjson.JSONDecodeError:
        return answer


def show_outcome(row: Outcome, words: Words | None = None) -> ShownOutcome:
    """An answer, in the words of its question, with what chooses it."""
    return ShownOutcome(
        answer=words.said(row["answer"]) if words else row["answer"],
        filter=orjson.dumps(row["answer"]).decode() if row["short"] else "",
        n=row["n"],
    )


def show_task(task: Values, asked: Asked) -> Values:
    """A task of ``FinishedTasks.page`` with its ``title`` and the ``pictures`` that it may have.

    They come from columns that volunteers see too. Other columns may be private to the owner.
    """
    info = task["task_info"] if isinstance(task["task_info"], dict) else {}
    text = text_of(info, asked)
    title = _text(info, asked.get("caption", "")) or _text(info, "title") or _text(info, "filename")
    if not any(field["type"] == "spans" for field in task["fields"]):  # which show the text with what is marked
        title = title or text
    pictures = pictures_of(info, asked)
    rest = {name: value for name, value in task.items() if name != "task_info"}
    fields = [_marked(field, text) for field in task["fields"]]
    return {**rest, "fields": fields, "title": title, "pictures": pictures}


def text_of(task_info: object, asked: Asked) -> str:
    """The text of a task that volunteers read; "" without."""
    info = task_info if isinstance(task_info, dict) else {}
    return _text(info, asked.get("text", "")) or _text(info, "text")


def pictures_of(task_info: object, asked: Asked) -> list[str]:
    """The texts of a task among which its picture is: those that volunteers see."""
    info = task_info if isinstance(task_info, dict) else {}
    picture = _text(info, asked.get("picture", ""))
    return [picture] if picture else [value for value in info.values() if isinstance(value, str)]


Passage = tuple[str, bool]
"""A piece of a text, and whether it is marked."""


def _marked(field: FieldConsensus, text: str) -> Values:
    """A field of marked parts with the ``passages`` of the text; of a recording with when the first ones are."""
    if field["type"] != "spans" or not isinstance(field["value"], list):
        return {**field}
    if text:
        return {**field, "passages": passages_of(field["value"], text)}
    return {**field, "seconds": [(span["start"], span["end"]) for span in field["value"][:_MAX_PARTS]]}


def passages_of(spans: Sequence[Values], text: str) -> list[Passage]:
    """A text cut where parts of it are marked; what lies between them is shortened."""
    passages, at = list[Passage](), 0
    for span in sorted(spans, key=lambda span: span["start"]):
        start, end = (min(len(text), max(at, int(span[edge]))) for edge in ("start", "end"))
        passages += [(text[at:start], False), (text[start:end], True)]
        at = end
    passages.append((text[at:], False))
    return [passage for passage in _cut(passages) if passage[0]]


def _cut(passages: list[Passage]) -> list[Passage]:
    """The passages, of which those without marks are shortened."""
    return [(text if marked else _middle(text), marked) for text, marked in passages]


def _middle(text: str) -> str:
    return text if len(text) <= 2 * _AROUND else f"{text[:_AROUND]} … {text[-_AROUND:]}"


def worded(task: Values, words: Mapping[str, Words]) -> Values:
    """A shown task with the words of its questions in place of the names and values that are stored."""
    fields = [worded_field(field, words) for field in task["fields"]]
    first = words.get(task["fields"][0]["name"]) if task["fields"] else None
    if first is None:
        return {**task, "fields": fields}
    return {
        **task,
        "fields": fields,
        "votes": [{**vote, "answer": first.said(vote["answer"])} for vote in task["votes"]],
    }


def worded_field(field: Values, words: Mapping[str, Words]) -> Values:
    """A field of a task with the words of its question."""
    own = words.get(field["name"])
    return field if own is None else {**field, "name": own.text, "value": own.said(field["value"])}


def public_task(task: Values) -> Values:
    """A shown task for programs: without the values among which its picture is looked for, and without its text."""
    fields = [{name: value for name, value in field.items() if name not in _OF_PAGES} for field in task["fields"]]
    return {name: value for name, value in task.items() if name != "pictures"} | {"fields": fields}


def read_asked(info: Values) -> Asked:
    """What the presenter in a project's ``info`` asks and shows; empty if the document does not declare it."""
    document = info.get("task_presenter")
    if not document and info.get("questions") is not None:
        return _columns(info["questions"])
    return (starters.asked(starters.current(document)) if isinstance(document, str) else None) or {}


def _columns(questions: Values) -> Asked:
    """The columns with the picture and the caption of the first picture that questions show."""
    media = (medium for step in questions["steps"] for medium in step.get("media", []))
    of_type: dict[str, Values] = {}
    for medium in media:
        of_type.setdefault(medium["type"], medium)
    first, text = of_type.get("picture") or of_type.get("zoom_picture") or {}, of_type.get("text") or {}
    columns = {"picture": first.get("source"), "caption": first.get("description"), "text": text.get("source")}
    return {name: each["column"] for name, each in columns.items() if isinstance(each, dict) and "column" in each}


def _text(info: Values, name: str) -> str:
    value = info.get(name) if name else None
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _percent(query: Mapping[str, str], name: str) -> int | None:
    text = query.get(name, "").strip()
    return queries.parse_number(text, name, 0, 100) if text else None
