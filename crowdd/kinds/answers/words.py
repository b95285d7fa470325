"""The words of questions in place of the names and values that are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from crowdd.kernel.values import Json, Values
from crowdd.kinds.questions.format import QUESTIONS
from crowdd.kinds.questions.text_languages import text_in
from crowdd.kinds.questions.types import TYPES


@attrs.frozen
class Words:
    """What people read of a question: its ``text``, and the labels of the values and rows that its answers have."""

    text: str
    labels: Mapping[str, str] = attrs.field(factory=dict)
    rows: Mapping[str, str] = attrs.field(factory=dict)

    def said(self, value: Json) -> Json:
        """A value with labels in place of what they stand for: a choice, a list of them, marks with one each, rows."""
        if isinstance(value, list):
            return [self.said(each) for each in value]
        if isinstance(value, dict) and self.rows:
            return {self.rows.get(row, row): self.said(one) for row, one in value.items()}
        if isinstance(value, dict):
            return {**value, "label": self.said(value["label"])} if "label" in value else value
        return self.labels.get(value, value) if isinstance(value, str) else value


def worded_answer(info: Json, words: Mapping[str, Words]) -> Json:
    """An answer with labels in place of values. Its keys stay, by which tables find their columns."""
    if not isinstance(info, dict):
        return info
    return {name: words[name].said(value) if name in words else value for name, value in info.items()}


def titles_of(words: Mapping[str, Words]) -> dict[str, str]:
    """The texts of questions by their names."""
    return {name: each.text for name, each in words.items()}


def words_of(info: Values, language: str) -> dict[str, Words]:
    """The words of each question of a project by its name, and of each row of a table by its answer field."""
    return dict(_words(info.get(QUESTIONS), language))


def _words(document: Values | None, language: str) -> Iterator[tuple[str, Words]]:
    for question in (each for step in (document or {"steps": []})["steps"] for each in step.get("questions", [])):
        name, text = question["name"], text_in(question["text"], language)
        choices = TYPES[question["type"]].choices
        labels = _labels(question.get(choices) if choices else None, language)
        rows = _labels(question.get("rows"), language)
        yield name, Words(text, labels, rows)
        for row, words in rows.items():
            yield f"{name}: {row}"[:100], Words(f"{text} – {words}", labels)


def _labels(entries: list[Values] | None, language: str) -> dict[str, str]:
    return {entry["value"]: text_in(entry["text"], language) for entry in entries or []}
