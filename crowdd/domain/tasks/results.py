"""Results, many in one request or from a file: owners fill in what they make of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import attrs
import orjson

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.domain.core import rights
from crowdd.domain.core.item_errors import each, refused_item
from crowdd.domain.core.quota import Quota
from crowdd.domain.core.records import MAX_ROWS, bounded, may_know
from crowdd.errors import NOT_FOUND, InvalidValueError, NotFoundError, TooLargeError, at_item
from crowdd.kinds.kind import LINKS
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import Role
from crowdd.requester import Requester
from crowdd.storage.database import Database, Transactions
from crowdd.storage.tasks import results
from crowdd.storage.tasks.results import SameRoles
from crowdd.storage.transfer import imports
from crowdd.values import Values

MAX_ANSWERS = 1_000_000  # that the results of one request may name together: their ids are part of what is answered
_CHUNK = 200  # rows that are compared at a time
_WRITTEN = frozenset({"id", "info"}) | LINKS


@attrs.frozen
class Filled:
    """An element of an array as it goes into the database; ``more`` are further attributes, which must be unchanged."""

    id: int
    text: bytes  # {"id": …, "info": …}
    more: Mapping[str, object]


class Results:
    """Changes results in bulk: all of an array or nothing."""

    def __init__(
        self, db: Transactions, notify: Callable[[int], None], quota: Quota, worker_thread: WorkerThread, base_url: str
    ) -> None:
        self._db, self._notify, self._quota = db, notify, quota
        self._worker_thread, self._base_url = worker_thread, base_url

    async def require_changer(self, who: Requester, ids: Sequence[int]) -> None:
        """Passes for those who may change one of these results at least, for bodies that take long to parse."""
        role_groups = await results.groups(self._db, who, ids)
        if not any(group.roles & RESULT.rights.update for group in role_groups):
            first = ids[0] if ids else 0
            _refuse(who, first, next((group.roles for group in role_groups if first in group.ids), frozenset()))

    async def fill(self, who: Requester, body: object) -> list[orjson.Fragment]:
        """The results of an array of ``{"id", "info"}`` once their ``info`` is this, in the order of the array.

        A number of statements that does not depend on the array's length. Raises what a change of one result raises,
        with the index of the element.
        """
        if not isinstance(body, list):
            raise InvalidValueError("The body is not an array of results.")
        ids = _ids(bounded(body, MAX_ROWS))
        _require(who, ids, await results.groups(self._db, who, ids))  # first: strangers lock nothing and cost little
        items = await self._worker_thread.do_soon(_parsed, body, ids)

        async def work(tx: Database) -> tuple[list[str], list[SameRoles]]:
            await results.lock(tx, ids)
            role_groups = await results.groups(tx, who, ids)
            _require(who, ids, role_groups)
            await _require_unchanged(tx, items)
            await refused_item(tx, items, True, partial(_write, tx))
            await self._quota.require(tx, who)
            return await results.views(tx, ids, self._base_url), role_groups

        views, role_groups = await self._db.transaction(work)
        for project_id in frozenset().union(*(group.projects for group in role_groups)):
            self._notify(project_id)
        return [orjson.Fragment(view) for view in views]


async def fill_exported(tx: Database, project_id: int, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Fills the results of a project from an export: source, task, result, last and info each (``import_exports``).

    Says of each row what became of it: added, updated where other ``info`` stood there, present, "no task", "open" or
    "earlier". The caller has the right to it.
    """
    matches = await imports.match_results(tx, project_id, rows)
    await results.lock(tx, [row["result_id"] for row in matches if row["result_id"] is not None])
    matches = await imports.match_results(tx, project_id, rows)
    filled = [
        _filled(match["result_id"], {"info": row["info"]})
        for match, row in zip(matches, rows, strict=True)
        if match["result_id"] is not None and match["fate"] in ("added", "updated")
    ]
    await _write(tx, filled)
    return [match["fate"] for match in matches]


def _ids(bodies: Iterable[object]) -> list[int]:
    """The id of each element; no result may be named twice."""
    first: dict[int, int] = {}

    def named(one: object) -> int:
        if not isinstance(one, dict):
            raise InvalidValueError("The element is not a JSON object.")
        if "id" not in one:
            raise InvalidValueError("`id` is missing.", code="missing_attribute")
        row_id: int = RESULT.field("id").parse(one["id"])
        if row_id in first:
            raise InvalidValueError(f"Result {row_id} appears twice, first as item {first[row_id]}.")
        first[row_id] = len(first)
        return row_id

    return each(bodies, True, named)


def _require(who: Requester, ids: Sequence[int], groups: Sequence[SameRoles]) -> None:
    """Raises for the first result that is not there or that the requester may not change, and for too many answers."""
    roles = {group.ids: group.roles for group in groups}
    good = frozenset().union(*(ids_ for ids_, have in roles.items() if have & RESULT.rights.update))
    for number, row_id in enumerate(ids):
        if row_id not in good:
            with at_item(number):
                _refuse(who, row_id, next((have for ids_, have in roles.items() if row_id in ids_), frozenset()))
    answers = sum(group.answers for group in groups)
    if answers > MAX_ANSWERS:
        words = f"The results of a request may name {MAX_ANSWERS:,} answers together (these name {answers:,})."
        raise TooLargeError(words, code="too_many_rows", hint="Send them in several requests.")


def _refuse(who: Requester, row_id: int, have: frozenset[Role]) -> None:
    if not may_know(RESULT, have):
        raise NotFoundError(NOT_FOUND, hint=f"Result {row_id} does not exist.")
    rights.require(who, have, RESULT.rights.update)


def _parsed(bodies: Sequence[Values], ids: Sequence[int]) -> list[Filled]:
    """The elements as they go into the database; may be called in a thread."""
    numbers = iter(ids)
    return each(bodies, True, lambda one: _filled(next(numbers), one))


def _filled(row_id: int, one: Mapping[str, object]) -> Filled:
    more = {name: value for name, value in one.items() if name not in _WRITTEN}
    for name in more:
        RESULT.field(name)
    if "info" not in one:
        raise InvalidValueError("`info` is missing.", code="missing_attribute")
    info = RESULT.field("info").parse(one["info"])
    return Filled(row_id, orjson.dumps({"id": row_id, "info": info}), more)


async def _require_unchanged(tx: Database, items: Sequence[Filled]) -> None:
    """Raises ReservedFieldError for an element that says something else of what only the server sets."""
    named = [(number, item) for number, item in enumerate(items) if item.more]
    for begin in range(0, len(named), _CHUNK):
        chunk = named[begin : begin + _CHUNK]
        stored = {row["id"]: row for row in await results.without_info(tx, [item.id for _, item in chunk])}
        for number, item in chunk:
            with at_item(number):
                RESULT.change(stored[item.id], item.more, RESULT.rights.update)


async def _write(tx: Database, items: Sequence[Filled]) -> int:
    return await results.fill(tx, (b"[" + b",".join(item.text for item in items) + b"]").decode())
