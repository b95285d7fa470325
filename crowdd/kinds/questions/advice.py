"""What is allowed in a list of questions but probably a mistake: a column without values, one key in two questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from crowdd.kinds.questions.options import Problem, at
from crowdd.languages import _, ngettext
from crowdd.values import Values


@attrs.frozen
class Columns:
    """The columns of some tasks of a project: in how many of ``n_tasks`` each has a value that is not empty."""

    n_tasks: int
    filled: Mapping[str, int]


def advice(document: Values, columns: Columns) -> list[Problem]:
    """Advice about a valid list of questions, in its order."""
    return [one for nth, step in enumerate(document["steps"]) for one in _of_step(step, at("/steps", nth), columns)]


def _of_step(step: Values, path: str, columns: Columns) -> Iterator[Problem]:
    for nth, medium in enumerate(step.get("media", [])):
        here = at(path, "media", nth)
        sources = medium.get("source", [])
        many = isinstance(sources, list)
        for n, source in enumerate(sources if many else [sources]):
            yield from _column(source, at(here, "source", n) if many else at(here, "source"), columns)
        yield from _column(medium.get("description"), at(here, "description"), columns)
    yield from _keys(step, path)


def _column(source: object, path: str, columns: Columns) -> Iterator[Problem]:
    name = source.get("column") if isinstance(source, dict) else None
    if not isinstance(name, str) or not columns.n_tasks:
        return
    lacking = columns.n_tasks - columns.filled.get(name, 0)
    if lacking == columns.n_tasks:
        words = ngettext(
            "The task has no column “%(name)s”.",
            "None of %(num)s checked tasks has the column “%(name)s”.",
            lacking,
            name=name,
        )
        yield Problem(at(path, "column"), words)
    elif lacking:
        words = ngettext(
            "Of %(total)s checked tasks, one has nothing in the column “%(name)s”.",
            "Of %(total)s checked tasks, %(num)s have nothing in the column “%(name)s”.",
            lacking,
            total=columns.n_tasks,
            name=name,
        )
        yield Problem(at(path, "column"), words)


def _keys(step: Values, path: str) -> Iterator[Problem]:
    """Keys that an earlier question of the step uses. Both questions may be shown at once; the first gets the key."""
    taken: dict[str, str] = {}
    for nth, question in enumerate(step.get("questions", [])):
        own: set[str] = set()
        for option in ("choices", "labels"):
            for n, entry in enumerate(question.get(option) or []):
                key = entry.get("key")
                if key and taken.get(key, question["name"]) != question["name"]:
                    words = _("The key “%(key)s” is also used by the question “%(name)s”.", key=key, name=taken[key])
                    yield Problem(at(path, "questions", nth, option, n, "key"), words)
                elif key:
                    own.add(key)
        taken |= dict.fromkeys(own, question["name"])
