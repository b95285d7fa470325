"""What explains a project to volunteers, as data: the guided tutorial and the field guide, each a key of ``info``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.guides import field_guide, tutorial
from crowdd.kinds.guides.guide import Guide
from crowdd.kinds.questions.options import Problem, at
from crowdd.kinds.questions.types import TYPES

TUTORIAL: Final = Guide("guided_tutorial", tutorial.MAX_BYTES, tutorial.check, tutorial.schema)
FIELD_GUIDE: Final = Guide("field_guide", field_guide.MAX_BYTES, field_guide.check, field_guide.schema)
GUIDES: Final = (TUTORIAL, FIELD_GUIDE)


_LISTS: Final = frozenset({"multiple_choice", "ranking"})


def broken_references(document: Values, questions: Values | None) -> list[Problem]:
    """The problems of a valid tutorial beside the valid questions of its project, None if that has none."""
    steps = (questions or {}).get("steps", [])
    asked = {question["name"]: question for step in steps for question in step.get("questions", [])}
    media = {medium["name"] for step in steps for medium in step.get("media", [])}
    return list(_broken(document, asked, media))


def _broken(document: Values, asked: dict[str, Values], media: set[str]) -> Iterator[Problem]:
    for nth, step in enumerate(document["steps"]):
        path = at("/steps", nth)
        highlight = step.get("highlight", {})
        yield from _gone(highlight, "question", asked.keys(), at(path, "highlight"))
        yield from _gone(highlight, "medium", media, at(path, "highlight"))
        for number, known in enumerate(step.get("practice", [])):
            here = at(path, "practice", number)
            yield from _gone(known, "question", asked.keys(), here)
            if known["question"] in asked:
                yield from _impossible(known["answers"], asked[known["question"]], at(here, "answers"))


def _gone(part: Values, sort: str, known: Any, path: str) -> Iterator[Problem]:
    if sort not in part or part[sort] in known:
        return
    name = part[sort]
    if sort == "question":
        yield Problem(at(path, sort), _("The questions have no question “%(name)s”.", name=name))
    else:
        yield Problem(at(path, sort), _("The questions have no medium “%(name)s”.", name=name))


def _impossible(answers: list[object], question: Values, path: str) -> Iterator[Problem]:
    """Known answers that the question cannot have any more."""
    kind = TYPES[question["type"]]
    values = kind.values(question) if kind.name != "ranking" else [one["value"] for one in question["choices"]]
    if not isinstance(values, list):
        return
    for nth, answer in enumerate(answers):
        parts = answer if kind.name in _LISTS and isinstance(answer, list) else [answer]
        if not all(part in values or (part is None and question.get("unsure")) for part in parts):
            yield Problem(at(path, nth), _("This can never be the answer to that question."))


__all__ = ["FIELD_GUIDE", "GUIDES", "TUTORIAL", "Guide", "broken_references"]
