"""Uploaded files that nothing refers to any more."""

from __future__ import annotations

import itertools
import re
import time

from crowdd.core import statements as core_statements
from crowdd.core.uploads import Uploads, container_of
from crowdd.database.access import Database
from crowdd.features.media.store import MediaStore
from crowdd.features.projects import statements as project_statements
from crowdd.kinds import KINDS

GRACE_SECONDS = 86400.0
"""So old a file has to be: one that was just written may belong to a transaction under way."""

_CHUNK = 200
_OWNER = re.compile(r"(project|user)-(\d{1,18})")
_GIVEN = re.compile(r"[0-9a-f]{32}\.[a-z0-9]+")  # a name that Uploads.store gave; other names are their owners'
_DRAFT = re.compile(r"\..+\.\d+")  # what Uploads.keep had begun to write


async def sweep(db: Database, uploads: Uploads, now: float | None = None) -> int:
    """Removes them and says how many files there were; ``now`` is in seconds since 1970.

    These are: drafts, everything of projects and people that are gone, and files under names of our own that no row of
    their project or person names. Names that an owner chose are left alone while the project is there. What stays
    counts towards the quota of its project's owner.
    """
    old = uploads.files(before=(time.time() if now is None else now) - GRACE_SECONDS)
    gone = 0
    while chunk := list(itertools.islice(old, _CHUNK)):
        orphans = await _orphans(db, chunk)
        for path in orphans:
            uploads.forget(path)
        await core_statements.note_files(db, uploads.sizes(set(chunk).difference(orphans)), orphans)
        gone += len(orphans)
    return gone


async def sweep_media(db: Database, store: MediaStore) -> int:
    """Removes the media of projects that are gone from the store, and says how many files there were.

    For stores that have media of committed projects only: files in the folder of uploads may belong to a
    transaction under way (``sweep``).
    """
    gone, some = 0, []
    async for project_id in store.projects():
        some.append(project_id)
        if len(some) == _CHUNK:
            gone, some = gone + await _drop_media(db, store, some), []
    return gone + await _drop_media(db, store, some)


async def _drop_media(db: Database, store: MediaStore, projects: list[int]) -> int:
    existing_containers = await project_statements.find_existing_containers(
        db, [container_of(project_id) for project_id in projects]
    )
    gone = 0
    for project_id in projects:
        if container_of(project_id) in existing_containers:
            continue
        keys = [key async for key, _size in store.keys(project_id)]
        await store.delete(keys)
        gone += len(keys)
    return gone


async def _orphans(db: Database, paths: list[str]) -> list[str]:
    containers = {_container(path) for path in paths}
    owned = await project_statements.find_existing_containers(
        db, [each for each in containers if _OWNER.fullmatch(each)]
    )
    doubtful = [path for path in paths if _container(path) in owned and _GIVEN.fullmatch(_name(path))]
    named = await project_statements.find_named_files(db, [kind for kind in KINDS.values() if kind.files], doubtful)
    return [path for path in paths if is_orphan(path, owned, named)]


def is_orphan(path: str, owned: set[str], named: set[str]) -> bool:
    """Whether nothing keeps a file, given the containers whose owners exist and the files that rows name."""
    if _DRAFT.fullmatch(_name(path)):
        return True
    if not _OWNER.fullmatch(_container(path)):
        return False
    return _container(path) not in owned or (_GIVEN.fullmatch(_name(path)) is not None and path not in named)


def _container(path: str) -> str:
    return path.partition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
