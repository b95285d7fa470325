"""Guides among the keys of ``info``: refused when they cannot be shown, numbered, and their versions kept."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.domain.projects import project_questions
from crowdd.errors import ConflictError, InvalidValueError
from crowdd.kinds.guides import GUIDES, Guide
from crowdd.kinds.project import PROJECT
from crowdd.languages import _, ngettext
from crowdd.storage.core import records
from crowdd.storage.database import Database
from crowdd.storage.projects import projects
from crowdd.storage.projects.versions import guide_versions
from crowdd.values import Values


def complete_new(info: Values) -> Values:
    """``info`` of a new project with what follows from its questions and guides. Raises InvalidValueError."""
    completed = project_questions.complete({}, info)
    for guide in GUIDES:
        completed = _without_version(guide, completed)
        if completed.get(guide.name) is not None:
            _require_usable(guide, completed[guide.name])
            completed[guide.version_key] = 1
    return completed


async def begin(tx: Database, project_id: int, info: Values) -> None:
    """Keeps the first versions of a new project."""
    for guide in GUIDES:
        if info.get(guide.name) is not None:
            await guide_versions.add(tx, project_id, guide.name, info[guide.name])


async def complete(tx: Database, project_id: int, before: Values, info: Values) -> Values:
    """``info`` with what follows from its questions and guides; their new versions are kept.

    ``before`` is ``info`` as it is stored. The caller holds the row. Raises InvalidValueError.
    """
    completed = project_questions.complete(before, info)
    for guide in GUIDES:
        completed = await _numbered(tx, project_id, guide, before, completed)
    return completed


async def complete_part(tx: Database, project_id: int, stored: Values, part: Values) -> Values:
    """The same for some keys of ``info``. ``stored`` is ``info`` as it was read before the transaction."""
    changed = [guide for guide in GUIDES if guide.name in part]
    for guide in GUIDES:
        part = _without_version(guide, part)
    completed_part = await project_questions.complete_part(tx, project_id, stored, part)
    if not changed:
        return completed_part
    await records.lock(tx, PROJECT, project_id)
    before = await projects.info_of(tx, project_id)
    for guide in changed:
        completed_part = await _numbered(tx, project_id, guide, before, completed_part)
    return completed_part


async def require_unchanged(tx: Database, project_id: int, expected: Mapping[str, object]) -> None:
    """Raises ConflictError if a key of ``info`` has another value than expected. Holds the row if any is expected."""
    if not expected:
        return
    await records.lock(tx, PROJECT, project_id)
    now = await projects.info_of(tx, project_id)
    if any(now.get(name) != value for name, value in expected.items()):
        raise ConflictError(_("Someone else has changed this in the meantime."), code="changed_meanwhile")


async def _numbered(tx: Database, project_id: int, guide: Guide, before: Values, info: Values) -> Values:
    """``info`` with the number of its guide. A changed guide gets the next one, also if there was none meanwhile."""
    document, known = info.get(guide.name), before.get(guide.version_key)
    info = _without_version(guide, info)
    if document is None:
        return info
    if document != before.get(guide.name) or known is None:
        _require_usable(guide, document)
        known = await guide_versions.add(tx, project_id, guide.name, document)
    return {**info, guide.version_key: known}


def _without_version(guide: Guide, info: Values) -> Values:
    return {name: value for name, value in info.items() if name != guide.version_key}


def _require_usable(guide: Guide, document: object) -> None:
    problems = guide.validate(document)
    if not problems:
        return
    first, others = problems[0], len(problems) - 1
    more = ngettext(" There is one more problem.", " There are %(num)s more problems.", others) if others else ""
    at = f"info.{guide.name}{first.path}"
    sentence = _("`%(place)s`: %(sentence)s%(more)s", place=at, sentence=first.sentence, more=more)
    raise InvalidValueError(sentence, code="invalid_guide", hint="docs/projects/guides.md describes the format.")
