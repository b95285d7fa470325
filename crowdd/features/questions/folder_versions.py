"""Earlier versions of the questions and guides of a project in its folder (``versions.json``): answers name them.

The file has an object of lists by key of ``info``: ``{"questions": [{"version", "created", "document"}, …], …}``, the
oldest version first. The newest one is not in it, because it stands in ``info``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from crowdd.database.access import Database
from crowdd.features.questions import statements
from crowdd.features.questions.rows import KeptVersion
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.values import Values
from crowdd.kinds.guides import GUIDES
from crowdd.kinds.questions import QUESTIONS

VERSIONS_FILE: Final = "versions.json"
_NUMBERS: Final = {QUESTIONS: "questions_version", **{guide.name: guide.version_key for guide in GUIDES}}
_MAX: Final = 100  # of each, as many as a project keeps
_MAX_NUMBER: Final = 2**31 - 2


async def earlier(db: Database, project_id: int, info: Values) -> dict[str, list[KeptVersion]]:
    """The versions before the one in ``info``, by key; keys that have none are left out."""
    versions_by_key = {key: await statements.list_kept_versions(db, project_id, key) for key in _NUMBERS}
    before = {key: [each for each in rows if not _is_current(key, each, info)] for key, rows in versions_by_key.items()}
    return {key: rows for key, rows in before.items() if rows}


def _is_current(key: str, version: KeptVersion, info: Values) -> bool:
    return info.get(key) is not None and info.get(_NUMBERS[key]) == version["version"]


async def restore(db: Database, project_id: int, info: Values, versions: Mapping[str, Sequence[KeptVersion]]) -> None:
    """Gives a project its earlier versions; one that numbers its own already keeps them. The caller holds its row."""
    for key, rows in versions.items():
        if rows and _NUMBERS[key] not in info and not await statements.list_kept_versions(db, project_id, key):
            await statements.restore_versions(db, project_id, key, rows, _NUMBERS[key])


def checked(value: Values, place: str) -> dict[str, list[KeptVersion]]:
    """The content of the file, ``place``. Raises InvalidValueError.

    What documents say is not checked: rules may have been added since they were written.
    """
    unknown = [key for key in value if key not in _NUMBERS]
    if unknown:
        raise InvalidValueError(f"{place}: `{unknown[0]}` is not one of {', '.join(_NUMBERS)}.")
    return {key: _list(rows, f"{place}, {key}") for key, rows in value.items()}


def _list(rows: object, place: str) -> list[KeptVersion]:
    if not isinstance(rows, list) or len(rows) > _MAX:
        raise InvalidValueError(f"{place}: must be a list of up to {_MAX} versions.")
    versions = [_version(row, f"{place}, entry {number}") for number, row in enumerate(rows, 1)]
    numbers = [version["version"] for version in versions]
    if numbers != sorted(set(numbers)):
        raise InvalidValueError(f"{place}: each version must be higher than the one before.")
    return versions


def _version(row: Any, place: str) -> KeptVersion:
    if not isinstance(row, dict) or row.keys() != {"version", "created", "document"}:
        raise InvalidValueError(f"{place}: must have `version`, `created` and `document`, and nothing else.")
    number, document = row["version"], row["document"]
    if type(number) is not int or not 0 < number <= _MAX_NUMBER:
        raise InvalidValueError(f"{place}: `version` must be between 1 and {_MAX_NUMBER}.")
    if not isinstance(document, dict):
        raise InvalidValueError(f"{place}: `document` must be an object.")
    try:
        created = datetime.fromisoformat(row["created"])
    except (TypeError, ValueError):
        raise InvalidValueError(f"{place}: `created` must be a time, for example 2026-01-31T12:00:00+00:00.") from None
    return KeptVersion(version=number, created=created, document=document)
