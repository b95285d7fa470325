"""What the server writes beside the questions of a project, into its ``info``."""

from __future__ import annotations

from typing import Any, Final

from crowdd.kinds.questions.options import values_of
from crowdd.kinds.questions.types import TYPES
from crowdd.values import Values

QUESTIONS: Final = "questions"
DERIVED: Final = ("answers", "answer_key", "questions_version")
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
    answers = declared(questions)
    return {"answers": answers, "answer_key": answers[0]["name"], "questions_version": version}


def _version(info: Values) -> int:
    found = info.get("questions_version")
    return found if type(found) is int and 0 < found <= _MAX_VERSION else 0


def declared(document: Values) -> list[Values]:
    """The answers to a valid list of questions, in their order: ``name``, ``at``, ``type``, ``choices``, ``unsure``."""
    questions = (question for step in document["steps"] for question in step.get("questions", []))
    return [_declared(question) for question in questions]


def _declared(question: Values) -> Values:
    kind = TYPES[question["type"]]
    choices: Any = values_of(question[kind.choices]) if question.get(kind.choices) else None
    rows = {"rows": values_of(question["rows"])} if "rows" in kind.options else {}
    return {
        "name": question["name"],
        "at": f"/{question['name']}",
        "type": kind.name,
        "choices": choices,
        "unsure": bool(question.get("unsure")),
        **rows,
    }
