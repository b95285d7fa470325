"""Finished tasks for the page of results: what an address chooses, and what is shown of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict
from urllib.parse import urlencode

import attrs
import orjson

from crowdd import exact_json
from crowdd.domain.tasks.finished_tasks import chosen
from crowdd.domain.tasks.outcomes.field_consensus import FieldConsensus
from crowdd.http import queries, starters
from crowdd.http.starters import Asked
from crowdd.storage.tasks.finished_tasks import Chosen
from crowdd.storage.tasks.outcomes.rows import Outcome
from crowdd.values import Values

_AROUND: Final = 60  # characters that are shown before and after a marked part
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


def wanted(query: Mapping[str, str]) -> Chosen:
    """The results that an address chooses. Raises InvalidValueError."""
    before = query.get("before", "")
    return chosen(
        answer=query.get("answer", ""),
        min_agreement=_percent(query, "min_agreement"),
        max_agreement=_percent(query, "max_agreement"),
        order=query.get("orderby", ""),
        before=queries.number(before, "before", 0) if before else None,
    )


def is_whole(wanted: Chosen) -> bool:
    """Whether these are all results from the first, in any order."""
    return attrs.evolve(wanted, order=Chosen().order) == Chosen()


def filters(query: Mapping[str, str]) -> Filters:
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


def outcome(row: Outcome) -> ShownOutcome:
    """An answer with what chooses it."""
    return ShownOutcome(
        answer=row["answer"], filter=orjson.dumps(row["answer"]).decode() if row["short"] else "", n=row["n"]
    )


def shown(task: Values, asked: Asked) -> Values:
    """A task of ``FinishedTasks.page`` with its ``title`` and the ``pictures`` that it may have.

    They come from columns that volunteers see too. Other columns may be private to the owner.
    """
    info = task["task_info"] if isinstance(task["task_info"], dict) else {}
    title = _text(info, asked.get("caption", "")) or _text(info, "title")
    picture = _text(info, asked.get("picture", ""))
    pictures = [picture] if picture else [value for value in info.values() if isinstance(value, str)]
    rest = {name: value for name, value in task.items() if name != "task_info"}
    fields = [_marked(field, _text(info, asked.get("text", "")) or _text(info, "text")) for field in task["fields"]]
    return {**rest, "fields": fields, "title": title, "pictures": pictures}


def _marked(field: FieldConsensus, text: str) -> Values:
    """A field of marked parts with the ``passages`` of the text: pairs of a text and whether it is marked."""
    if field["type"] != "spans" or not text or not isinstance(field["value"], list):
        return {**field}
    passages, at = list[tuple[str, bool]](), 0
    for span in sorted(field["value"], key=lambda span: span["start"]):
        start, end = (min(len(text), max(at, int(span[edge]))) for edge in ("start", "end"))
        passages += [(text[at:start], False), (text[start:end], True)]
        at = end
    passages.append((text[at:], False))
    return {**field, "passages": [passage for passage in _cut(passages) if passage[0]]}


def _cut(passages: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """The passages, of which those without marks are shortened."""
    return [(text if marked else _middle(text), marked) for text, marked in passages]


def _middle(text: str) -> str:
    return text if len(text) <= 2 * _AROUND else f"{text[:_AROUND]} … {text[-_AROUND:]}"


def public(task: Values) -> Values:
    """A shown task for programs: without the values among which its picture is looked for, and without its text."""
    fields = [{name: value for name, value in field.items() if name != "passages"} for field in task["fields"]]
    return {name: value for name, value in task.items() if name != "pictures"} | {"fields": fields}


def asked_by(info: Values) -> Asked:
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
    return queries.number(text, name, 0, 100) if text else None
