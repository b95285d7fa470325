"""Calls of one kind that come at the same time, carried out together: one statement, one commit for all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from twisted.internet.defer import Deferred, ensureDeferred, fail
from twisted.internet.interfaces import IReactorTime

from crowdd.kernel.errors import NoConnectionError, UnavailableError

M = TypeVar("M")
R = TypeVar("R")
MAX_BATCH = 64
BatcherFactory = Callable[..., "Batcher[Any, Any]"]
"""Makes a Batcher: one with its clock and its bound given."""


class Batcher(Generic[M, R]):
    """Calls that come while a batch is under way form the next batch, of at most 64.

    A call never waits for others to join.

    ``many(members)`` gives a result per member, in their order, after its commit. If it fails it has done nothing, or
    nobody knows: then each member is given to ``one(member, uncertain)``, by default a batch of its own, so that none
    fails by another's fault; who was alone, and has done nothing, fails at once. Only when there was no connection all
    fail, those too who wait for the next batch. ``clock`` has ``callLater``.
    """

    def __init__(
        self,
        clock: IReactorTime,
        run_batch: Callable[[list[M]], Awaitable[list[R]]],
        run_one: Callable[[M, bool], Coroutine[Any, Any, R]] | None = None,
        *,
        max_queue: int = 1000,
    ) -> None:
        self._clock, self._run_batch, self._run_one, self._max_queue = (
            clock,
            run_batch,
            run_one or self._run_alone,
            max_queue,
        )
        self._waiting: list[tuple[M, Deferred[R]]] = []
        self._busy = False

    def add(self, member: M) -> Deferred[R]:
        """Fires with the member's result. Cancelling it ends the waiting, not the work."""
        if len(self._waiting) >= self._max_queue:
            return fail(NoConnectionError("Too many requests are waiting for the database.", retry_after=1))
        place: Deferred[R] = Deferred()
        self._waiting.append((member, place))
        if not self._busy:
            self._busy = True
            self._clock.callLater(0, self._begin)  # when what else came in this turn of the reactor has been read
        return place

    async def _run_alone(self, member: M, uncertain: bool) -> R:
        (result,) = await self._run_batch([member])
        return result

    def _begin(self) -> None:
        batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
        self._busy = bool(batch)
        if batch:
            ensureDeferred(self._carry_out(batch))

    async def _carry_out(self, batch: list[tuple[M, Deferred[R]]]) -> None:
        try:
            results = await self._run_batch([member for member, _ in batch])
        except NoConnectionError as error:
            batch, self._waiting = batch + self._waiting, []
            answers = [fail(error) for _ in batch]
        except Exception as error:
            uncertain = isinstance(error, UnavailableError) and error.uncertain
            fault = len(batch) == 1 and not uncertain
            answers = [
                fail(error) if fault else ensureDeferred(self._run_one(member, uncertain)) for member, _ in batch
            ]
        else:
            self._begin()  # first, so that the database works while the answers are written
            for result, (_, place) in zip(results, batch, strict=True):
                place.callback(result)
            return
        self._begin()
        for answer, (_, place) in zip(answers, batch, strict=True):
            answer.chainDeferred(place)
