"""Questions and answer fields of a project: their checks, and what the server writes beside them."""

from __future__ import annotations

import hashlib

import orjson

from crowdd.errors import InvalidValueError
from crowdd.kinds import answers, questions
from crowdd.kinds.answers import ANSWERS, DERIVED, derived
from crowdd.kinds.project import PROJECT
from crowdd.kinds.questions import QUESTIONS
from crowdd.languages import _, ngettext
from crowdd.storage.core import records
from crowdd.storage.database import Database
from crowdd.storage.projects import projects
from crowdd.values import Values


def complete(before: Values, info: Values) -> Values:
    """``info`` with what follows from its questions, or from its answer fields where it has none.

    ``before`` is ``info`` as it is stored, {} for a new project. Raises InvalidValueError with the first problem of
    questions or fields that are not those of before.
    """
    new_questions = info.get(QUESTIONS)
    if new_questions is None:
        return {**info, **_compared(before, info)}
    if new_questions != before.get(QUESTIONS):
        _require_usable(new_questions)
    return {**info, **derived(before, info)}


def _compared(before: Values, info: Values) -> Values:
    """The answer key of declared fields: that of the first one, None where it stands deeper in the answer.

    {} without fields, and for what was stored under their name without being checked (moved in from PyBossa).
    """
    fields = info.get(ANSWERS)
    if fields is None or (fields == before.get(ANSWERS) and answers.validate(fields)):
        return {}
    if problems := answers.validate(fields):
        raise InvalidValueError(
            _("`info.answers%(path)s`: %(sentence)s", path=problems[0].path, sentence=problems[0].sentence),
            code="invalid_answer_fields",
            hint="docs/projects/answer-fields.md describes the format.",
        )
    path = answers.declared(info)[0].path
    return {"answer_key": path[0] if len(path) == 1 else None}


async def complete_part(tx: Database, project_id: int, stored: Values, part: Values) -> Values:
    """The same for some keys of ``info``. ``stored`` is ``info`` as it was read before the transaction."""
    if QUESTIONS in part:
        await records.lock(tx, PROJECT, project_id)
        before = await projects.info_of(tx, project_id)
        full = complete(before, {**before, **part})
        return {**part, **{name: full[name] for name in DERIVED if name in full and full[QUESTIONS] is not None}}
    if stored.get(QUESTIONS) is not None:
        return {name: value for name, value in part.items() if name not in DERIVED}
    if part.keys() & {ANSWERS, "answer_key"}:
        await records.lock(tx, PROJECT, project_id)
        before = await projects.info_of(tx, project_id)
        return {**part, **_compared(before, {**before, **part})}
    return part


def state(info: Values) -> str:
    """A word for what volunteers are shown: questions, their version, and a presenter in their place."""
    return hashlib.sha256(orjson.dumps(shown(info), option=orjson.OPT_SORT_KEYS)).hexdigest()[:20]


def shown(info: Values) -> Values:
    """The keys of ``info`` that decide what volunteers are shown; None for those that are missing."""
    return {name: info.get(name) for name in (QUESTIONS, "questions_version", "task_presenter")}


def asks(info: Values) -> bool:
    """Whether volunteers have something to see: a presenter, or questions."""
    return bool(info.get("task_presenter")) or info.get(QUESTIONS) is not None


def _require_usable(document: object) -> None:
    problems = questions.validate(document)
    if not problems:
        return
    first, others = problems[0], len(problems) - 1
    more = ngettext(" There is one more problem.", " There are %(num)s more problems.", others) if others else ""
    sentence = _("`info.questions%(path)s`: %(sentence)s%(more)s", path=first.path, sentence=first.sentence, more=more)
    raise InvalidValueError(sentence, code="invalid_questions", hint="docs/projects/questions.md describes the format.")
