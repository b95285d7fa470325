"""What is analysed: where the label stands in answers, and which values are its choices."""

from __future__ import annotations

import attrs

from crowdd.errors import InvalidValueError
from crowdd.kinds.answers import AnswerField, declared
from crowdd.kinds.answers.fields import Choice, key
from crowdd.languages import _
from crowdd.values import Values


@attrs.frozen
class Question:
    """``path`` leads to the value in an answer. ``choices``: None if any value is one, numbered as they appear.

    ``nulls``: whether null is a value like any other.
    """

    path: tuple[str, ...]
    choices: tuple[Choice, ...] | None
    nulls: bool


def question_of(info: Values) -> Question:
    """That of a project: its first answer field, or the key "answer" if it declares none.

    Raises InvalidValueError if the first field is no label.
    """
    fields = declared(info)
    if not fields:
        key = info.get("answer_key")
        return Question((key if isinstance(key, str) and key else "answer",), None, nulls=False)
    first = fields[0]
    if first.type != "label":
        words = _("Analyses need a label as the first answer field (“%(name)s” is of type %(type)s).", **_shown(first))
        raise InvalidValueError(words)
    return Question(first.path, _choices(first), nulls=True)


def _shown(field: AnswerField) -> dict[str, str]:
    return {"name": field.name, "type": field.type}


def _choices(field: AnswerField) -> tuple[Choice, ...] | None:
    """With "can't tell", which is a choice like any other."""
    if field.choices is None:
        return None
    listed = set(map(key, field.choices))
    return field.choices + tuple(one for one in field.unsure if key(one) not in listed)
