"""Columns of a wide table: one for each row of a matrix, each choice, each coordinate, so that no cell has JSON."""

from __future__ import annotations

from typing import Final

import orjson

from crowdd.features.exports.column_statements import Column, literal, of_info
from crowdd.kernel.values import Values
from crowdd.kinds.questions.options import values_of
from crowdd.kinds.questions.types import TYPES

MAX_CHOICES: Final = 100  # that have a column each


def of_question(question: Values) -> list[Column]:
    """The columns of the answers to a question; [] where one is enough."""
    kind, name = TYPES.get(question.get("type", "")), question["name"]
    if kind is None:
        return []
    value = f"(i.info->{literal(name)})"
    choices = values_of(question.get(kind.choices)) if kind.choices else []
    if "rows" in kind.options:
        return [member(name, row) for row in values_of(question["rows"])]
    if kind.media:
        return _of_marks(question, value)
    if kind.name == "file":
        return [_of_files(name, value, fact) for fact in ("file", "type", "bytes", "sha256")]
    if kind.name == "ranking" and len(choices) <= MAX_CHOICES:
        return [
            Column(
                f"info_{name}_{choice}",
                "integer",
                "(SELECT e.nth FROM jsonb_array_elements_text(CASE WHEN jsonb_typeof"
                f"({value}) = 'array' THEN {value} END) WITH ORDINALITY e(value, nth) WHERE e.value = {literal(choice)} LIMIT 1)",
                about=f"Place of “{choice}”, from 1.",
                origin="declared",
            )
            for choice in choices
        ]
    if kind.answer_type == "labels" and len(choices) <= MAX_CHOICES:
        return [
            Column(
                f"info_{name}_{choice}",
                "boolean",
                f"(CASE WHEN jsonb_typeof({value}) = 'array' THEN {value} @> {literal(orjson.dumps([choice]).decode())} END)",
                about=f"Whether “{choice}” was chosen.",
                origin="declared",
            )
            for choice in choices
        ]
    return []


def _of_files(name: str, value: str, fact: str) -> Column:
    """What is known of the files that an answer names, with a space between them."""
    return Column(
        f"info_{name}_{fact}",
        "text",
        f"(SELECT string_agg(e.value->>'{fact}', ' ' ORDER BY e.nth) FROM jsonb_array_elements(CASE WHEN jsonb_typeof({value}) = 'array'"
        f" THEN {value} END) WITH ORDINALITY e(value, nth))",
        about=f"{_FILE_FACTS[fact]} of each file of the answer.",
        origin="declared",
    )


_FILE_FACTS: Final = {"file": "Address on this site", "type": "Type", "bytes": "Bytes", "sha256": "SHA-256"}


def member(key: str, name: str) -> Column:
    """The column of a member of the object at a key of ``info``."""
    path = f"{literal(key)}->{literal(name)}"
    whole = of_info(f"info_{key}_{name}", key, "json", f"“{name}” of “{key}”.")
    sql = f"(i.info->{path})"
    return Column(whole.name, "json", sql, True, whole.about, "values", f"({sql} #>> '{{}}')")


def coordinate(name: str, nth: int, mark: str = "t.mark") -> Column:
    """The nth coordinate of a mark that is a place on a map."""
    point = f"{mark}->'geometry'"
    sql = f"(CASE WHEN {point}->>'type' = 'Point' THEN {point}->'coordinates'->{nth} END)"
    return Column(name, "number", sql, True, "Of a place on a map, in degrees.")


def _of_marks(question: Values, value: str) -> list[Column]:
    """How many marks there are, and where the only one is if there can be no other."""
    name = question["name"]
    marks = f"(CASE WHEN jsonb_typeof({value}) = 'array' THEN {value} END)"
    number = Column(
        f"info_{name}_marks", "integer", f"jsonb_array_length({marks})", about="Number of marks.", origin="declared"
    )
    if question.get("max") != 1:
        return [number]
    mark = f"({marks}->0)"
    if question["type"] == "map_place":
        places = (coordinate(f"info_{name}_{each}", nth, mark) for nth, each in enumerate(("longitude", "latitude")))
        return [number, *places]
    return [
        number,
        *(_part(name, mark, part) for part in ("x", "y", "width", "height", "start", "end", "label", "text")),
    ]


def _part(name: str, mark: str, part: str) -> Column:
    sql = f"({mark}->{literal(part)})"
    type_ = "text" if part in ("label", "text") else "number"
    return Column(f"info_{name}_{part}", type_, sql, True, "Of the only mark.", "declared")
