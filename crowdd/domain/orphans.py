"""Uploaded files that nothing refers to any more."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator

from crowdd.domain.uploads import Uploads, container_of
from crowdd.kinds import KINDS
from crowdd.storage import media
from crowdd.storage.database import Database

GRACE_SECONDS = 86400.0
"""So old a file has to be: one that was just written may belong to a transaction under way."""

_CHUNK = 200
_PROJECT = re.compile(r"project-(\d{1,18})")
_GIVEN = re.compile(
    r"[0-9a-f]{32}\.[a-z0-9]+"
)  # a name that Uploads.store gave; what others are called is their owners'
_DRAFT = re.compile(r"\..+\.\d+")  # what Uploads.keep had begun to write


async def sweep(db: Database, uploads: Uploads, now: float | None = None) -> int:
    """Removes them and says how many files there were; ``now`` is in seconds since 1970.

    These are: drafts, everything of projects that are gone, and files under names of our own that no row of their
    project names. Names that an owner chose are left alone while the project is there.
    """
    old = uploads.files(before=(time.time() if now is None else now) - GRACE_SECONDS)
    gone = 0
    while chunk := list(itertools.islice(old, _CHUNK)):
        for path in await _orphans(db, chunk):
            uploads.forget(path)
            gone += 1
    return gone


async def _orphans(db: Database, paths: list[str]) -> list[str]:
    projects = {project_id for path in paths if (project_id := _project_of(path)) is not None}
    there = await media.projects_there(db, list(projects))
    doubtful = [path for path in paths if _GIVEN.fullmatch(_name(path)) and _project_of(path) in there]
    named = await media.named(db, [kind for kind in KINDS.values() if kind.files], doubtful)
    return list(_without_reason(paths, there, named))


def _without_reason(paths: list[str], there: set[int], named: set[str]) -> Iterator[str]:
    """Those of the paths that nothing keeps, given the projects that are there and the files that rows name."""
    for path in paths:
        project_id = _project_of(path)
        if (
            _DRAFT.fullmatch(_name(path))
            or (project_id is not None and project_id not in there)
            or (project_id is not None and _GIVEN.fullmatch(_name(path)) and path not in named)
        ):
            yield path


def _project_of(path: str) -> int | None:
    found = _PROJECT.fullmatch(path.partition("/")[0])
    number = int(found[1]) if found else None
    return number if number is not None and path.startswith(f"{container_of(number)}/") else None


def _name(path: str) -> str:
    return path.rpartition("/")[2]
