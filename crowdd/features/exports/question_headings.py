"""Headings of columns in the words of the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs

from crowdd.features.exports.column_statements import Column
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answers.words import Words

_TASK, _INFO, _SAID = "task_info_", "info_", "consensus_"


def in_words(columns: Sequence[Column], words: Mapping[str, Words]) -> list[Column]:
    """The columns with the texts of questions and the labels of choices as their titles; no two have the same one."""
    titles = [_title(column.name, words) for column in columns]
    often = Counter(title or column.name for title, column in zip(titles, columns, strict=True))
    return [
        attrs.evolve(column, title=f"{title} ({column.name})" if title and often[title] > 1 else title)
        for title, column in zip(titles, columns, strict=True)
    ]


def _title(name: str, words: Mapping[str, Words]) -> str:
    if name.startswith(_TASK):
        return _("Task: %(column)s", column=name.removeprefix(_TASK))
    for prefix in (_INFO, _SAID):
        if name.startswith(prefix):
            return _of_question(name.removeprefix(prefix), words)
    return ""


def _of_question(rest: str, words: Mapping[str, Words]) -> str:
    """The title of a column of a question: the longest name of one with which it begins."""
    asked = max((each for each in words if rest == each or rest.startswith(f"{each}_")), key=len, default=None)
    if asked is None:
        return ""
    own, part = words[asked], rest[len(asked) + 1 :]
    if not part:
        return own.text
    parts = {
        "state": _("State"),
        "marks": _("Number of marks"),
        "longitude": _("Longitude"),
        "latitude": _("Latitude"),
        "answers": _("Answers"),
        "agreement": _("Agreement"),
        "confidence": _("Confidence"),
        "model": _("Model"),
    }
    return f"{own.text} – {own.labels.get(part) or own.rows.get(part) or parts.get(part, part)}"


def wording(question: Values | None) -> str:
    """What a question asks; "" without one."""
    text = (question or {}).get("text")
    return text if isinstance(text, str) else ""
