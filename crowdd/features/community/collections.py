"""Collections: tasks that a person grouped under a name, for themselves or for everybody (record 19)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import attrs

from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.community import statements
from crowdd.features.tasks.rows import CollectedTask, CollectionPage, OwnCollection
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kinds.task import TASK
from crowdd.kinds.types import clean_text

MAX_COLLECTIONS: Final = 50
MAX_TASKS: Final = 500
MAX_NAME: Final = 100
MAX_DESCRIPTION: Final = 1000
MAX_NOTE: Final = 500
PER_PAGE: Final = 24
T = TypeVar("T")
_MAX_ID: Final = 2**63 - 1


@attrs.frozen
class Collected:
    """A collection with a page of its tasks; ``next``: before which item the next page begins."""

    row: CollectionPage
    tasks: list[CollectedTask]
    next: int | None


class Collections:
    """The collections of the requester, and those that others published."""

    def __init__(self, db: Transactions, records: Records) -> None:
        self._db, self._records = db, records

    async def own(self, who: Requester, task_id: int | None = None) -> list[OwnCollection]:
        """All collections of the requester; ``has_task``: the task is in it."""
        return await statements.list_collections(self._db, _me(who), task_id)

    async def page(self, who: Requester, name: str, collection_id: int, before: int | None) -> Collected:
        """A collection of the person of that name. Tasks that the requester may not see are left out.

        Raises NotFoundError, also for one that is not published and not the requester's.
        """
        row = await statements.find_collection(self._db, name, min(collection_id, _MAX_ID), who.acting_user)
        if row is None:
            raise NotFoundError(NOT_FOUND)
        task_rows = await statements.list_collection_tasks(self._db, who, row["id"], before or _MAX_ID, PER_PAGE + 1)
        shown = task_rows[:PER_PAGE]
        return Collected(row, shown, shown[-1]["id"] if len(task_rows) > PER_PAGE else None)

    async def create(self, who: Requester, name: str, description: str = "") -> int:
        """The id of a new collection. Raises FormError."""
        user_id, name, description = _me(who), _named(name), _described(description)
        return await self._locked(user_id, lambda tx: _create(tx, user_id, name, description))

    async def change(self, who: Requester, collection_id: int, name: str, description: str, published: bool) -> None:
        """Renames, describes, publishes or withdraws a collection. Raises FormError, NotFoundError."""
        user_id, name, description = _me(who), _named(name), _described(description)

        async def work(tx: Database) -> bool | None:
            return await statements.update_collection(
                tx, user_id, min(collection_id, _MAX_ID), name, description, published
            )

        changed = await self._locked(user_id, work)
        if changed is None:
            raise _taken()
        _require(changed)

    async def delete(self, who: Requester, collection_id: int) -> None:
        """Deletes a collection with its notes. Raises NotFoundError."""
        _require(await statements.delete_collection(self._db, _me(who), min(collection_id, _MAX_ID)))

    async def task(self, who: Requester, task_id: int) -> Row:
        """A task that the requester may see. Raises NotFoundError, ForbiddenError."""
        row = await self._records.find(self._db, TASK, who, min(task_id, _MAX_ID))
        rights.require(who, row["roles"], TASK.rights.get)
        return row

    async def add_task(self, who: Requester, task_id: int, collection_id: int | None, name: str, note: str) -> int:
        """Adds a task to a collection, or to a new one with this name: the id of the collection.

        Adding it twice changes only the note. Raises FormError, NotFoundError, ForbiddenError.
        """
        user_id, note = _me(who), _noted(note)
        row = await self.task(who, task_id)
        name = _named(name) if collection_id is None else ""

        async def work(tx: Database) -> int:
            into = await _create(tx, user_id, name, "") if collection_id is None else min(collection_id, _MAX_ID)
            _require(await statements.add_task_to_collection(tx, user_id, into, row["id"], note))
            mine = await statements.list_collections(tx, user_id)
            if next(one["n_tasks"] for one in mine if one["id"] == into) > MAX_TASKS:
                words = _("A collection may have at most %(maximum)s tasks.", maximum=MAX_TASKS)
                raise FormError({"collection_id": [words]})
            return into

        return await self._locked(user_id, work)

    async def set_note(self, who: Requester, collection_id: int, task_id: int, note: str) -> None:
        """Writes the note of a task. Raises FormError, NotFoundError."""
        ids = min(collection_id, _MAX_ID), min(task_id, _MAX_ID)
        _require(await statements.set_note(self._db, _me(who), *ids, _noted(note)))

    async def remove_task(self, who: Requester, collection_id: int, task_id: int) -> None:
        """Takes a task out of a collection. Raises NotFoundError."""
        ids = min(collection_id, _MAX_ID), min(task_id, _MAX_ID)
        _require(await statements.remove_task_from_collection(self._db, _me(who), *ids))

    async def _locked(self, user_id: int, work: Callable[[Database], Awaitable[T]]) -> T:
        async def locked(tx: Database) -> T:
            await statements.lock_collections(tx, user_id)
            return await work(tx)

        return await self._db.transaction(locked)


async def _create(tx: Database, user_id: int, name: str, description: str) -> int:
    if len(await statements.list_collections(tx, user_id)) >= MAX_COLLECTIONS:
        words = _("You have %(maximum)s collections. Delete one first.", maximum=MAX_COLLECTIONS)
        raise FormError({"name": [words]})
    made = await statements.insert_collection(tx, user_id, name, description)
    if made is None:
        raise _taken()
    return made


def _named(name: str) -> str:
    name = " ".join(clean_text(name).split())
    if not 1 <= len(name) <= MAX_NAME:
        raise FormError({"name": [_("Use 1 to %(maximum)s characters.", maximum=MAX_NAME)]})
    return name


def _described(description: str) -> str:
    return _bounded("description", description, MAX_DESCRIPTION)


def _noted(note: str) -> str:
    return _bounded("note", note, MAX_NOTE)


def _bounded(field: str, text: str, maximum: int) -> str:
    text = clean_text(text).replace("\r\n", "\n").strip()
    if len(text) > maximum:
        raise FormError({field: [_("Use at most %(maximum)s characters.", maximum=maximum)]})
    return text


def _taken() -> FormError:
    return FormError({"name": [_("You already have a collection with this name.")]})


def _require(exists: bool) -> None:
    if not exists:
        raise NotFoundError(NOT_FOUND)


def _me(who: Requester) -> int:
    if who.acting_user is None:
        raise AnonymousError(_("Sign in first."))
    return who.acting_user
