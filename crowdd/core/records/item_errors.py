"""Which element of an array is refused: what clients are told of it as ``item``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from crowdd.database import connection
from crowdd.database.access import Database
from crowdd.kernel.errors import ConflictError, CrowddError, InvalidValueError, at_item

S = TypeVar("S")
T = TypeVar("T")
Pause = Callable[[], Awaitable[None]]
SLICE = 250  # elements between two pauses


def each(elements: Iterable[S], many: bool, work: Callable[[S], T], first: int = 0) -> list[T]:
    """What the function makes of each element; an error names the element where they are an array (``many``).

    ``first``: the index of the first one.
    """
    made: list[T] = []
    try:
        for element in elements:
            made.append(work(element))  # noqa: PERF401 - how many there are says which is refused
    except CrowddError as refused:
        with at_item(first + len(made) if many else None):
            raise refused
    return made


async def each_in_turns(elements: Sequence[S], many: bool, work: Callable[[S], T], pause: Pause) -> list[T]:
    """The same for thousands of elements: every few milliseconds the reactor serves others (``pause``)."""
    made: list[T] = []
    for first in range(0, len(elements), SLICE):
        if first:
            await pause()
        made += each(elements[first : first + SLICE], many, work, first)
    return made


async def refused_item(tx: Database, rows: Sequence[S], many: bool, work: Callable[[list[S]], Awaitable[T]]) -> T:
    """The result of ``work`` on all rows. A value that only the database refuses is traced to its row by halving.

    That takes as long again as the work itself, and nothing of it stays.
    """
    if not many:
        return await work(list(rows))
    try:
        with at_item(0 if len(rows) == 1 else None):
            return await connection.run_in_savepoint(tx, partial(work, list(rows)))
    except (InvalidValueError, ConflictError) as error:
        if error.item is None:
            error.item = await _first_refused(tx, rows, work)
        raise


async def _first_refused(tx: Database, rows: Sequence[S], work: Callable[[list[S]], Awaitable[T]]) -> int | None:
    """The index of a row that is refused on its own; None when only several together are."""
    begin, end = 0, len(rows)
    while end - begin > 1:
        middle = (begin + end) // 2
        if await _refused(tx, partial(work, list(rows[begin:middle]))):
            end = middle
        else:
            begin = middle
    return begin if await _refused(tx, partial(work, list(rows[begin:end]))) else None


async def _refused(tx: Database, work: Callable[[], Awaitable[T]]) -> bool:
    try:
        await connection.run_in_savepoint(tx, work, keep=False)
    except CrowddError as error:
        if isinstance(error, InvalidValueError | ConflictError):
            return True
        raise
    return False
