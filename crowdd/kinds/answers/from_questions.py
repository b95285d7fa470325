"""The answer fields of a list of questions, and what else the server writes beside it into ``info``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from crowdd.kernel.values import Values
from crowdd.kinds.answers.fields import ANSWERS, MAX_CHOICES, MAX_FIELDS
from crowdd.kinds.questions.format import QUESTIONS
from crowdd.kinds.questions.options import OPINION, at, values_of
from crowdd.kinds.questions.question_type import QuestionType
from crowdd.kinds.questions.types import TYPES

DERIVED: Final = (ANSWERS, "answer_key", "questions_version")
_MAX_VERSION: Final = 2**31 - 1


def derived(before: Values, info: Values) -> Values:
    """The keys that go with valid questions in ``info``; {} without questions. ``before`` is ``info`` as it is stored.

    The version grows by one when the questions change, also when there were none meanwhile.
    """
    questions = info.get(QUESTIONS)
    if questions is None:
        return {}
    version = _version(before)
    if before.get(QUESTIONS) != questions or not version:
        version = min(version + 1, _MAX_VERSION)
    asked = [question for step in questions["steps"] for question in step.get("questions", [])]
    first = next((question for question in asked if TYPES[question["type"]].answer_type), asked[0])
    return {ANSWERS: of_questions(questions) or None, "answer_key": first["name"], "questions_version": version}


def _version(info: Values) -> int:
    version = info.get("questions_version")
    return version if type(version) is int and 0 < version <= _MAX_VERSION else 0


def of_questions(document: Values, maximum: int | None = MAX_FIELDS) -> list[Values]:
    """The answer fields of a valid list of questions, in their order (``kinds.answers``), the first so many."""
    questions = (question for step in document["steps"] for question in step.get("questions", []))
    return [field for question in questions for field in _fields(question)][:maximum]


def _fields(question: Values) -> Iterator[Values]:
    kind = TYPES[question["type"]]
    if not kind.answer_type:
        return
    if kind.single is not None and question.get("max") == 1:
        yield _single(kind.single, question)
        return
    choices = _choices(kind, question)
    if choices is not None and len(choices) > MAX_CHOICES:
        if kind.answer_type != "label":
            return
        choices = None  # classes are numbered as they appear
    bounds = ("min", "max") if kind.answer_type == "number" else ()
    limits: Values = {name: question[name] for name in bounds if name in question}
    field: Values = {
        "type": kind.answer_type,
        **({} if choices is None else {"choices": choices}),
        **_instead(question),
        **limits,
    }
    name = question["name"]
    if "rows" in kind.options:
        for row in values_of(question["rows"]):
            yield {"name": f"{name}: {row}"[:100], "at": at("", name, row), **field}
    else:
        yield {"name": name, "at": at("", name), **field}


def _single(single: tuple[str, str], question: Values) -> Values:
    """The field of a question whose answers have one mark at most."""
    answer_type, key = single
    about = {"name": question["name"], "at": at("", question["name"], 0, key), "type": answer_type}
    return {**about, **_instead(question), "nothing": True}


def _instead(question: Values) -> Values:
    """What may stand in place of a value, and whether a value can be right."""
    return {
        **({"opinion": True} if question.get("kind") == OPINION else {}),
        **({"unsure": None} if question.get("unsure") else {}),
        **({"nothing": True} if question.get("nothing") else {}),
    }


def _choices(kind: QuestionType, question: Values) -> Sequence[object] | None:
    """The values that an answer, a member of it or a label can have; None: any."""
    values = values_of(question[kind.choices]) if question.get(kind.choices) else kind.values(question)
    if not isinstance(values, list):
        return None
    return [*values, None] if kind.answer_type == "label" and question.get("unsure") else values
