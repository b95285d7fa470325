"""Threads for what would hold the reactor up: pictures, archives, texts to lay out, bodies to compress."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from functools import partial
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, DeferredSemaphore, ensureDeferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThreadPool

from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.errors import UnavailableError
from crowdd.kernel.reactor import IReactor

A = TypeVar("A")
T = TypeVar("T")
MAX_WAITING = 50
TEXT_WAIT_SECONDS, TEXT_REST = 30.0, 2.0  # the rest is in times of what the text took
_TEXTS_BUSY = "Too many long texts are being rendered. Try again in a moment."


class WorkerThread:
    """Does one thing at a time: a picture alone may take 120 MB while it is unpacked.

    At most ``max_waiting`` calls wait for their turn.
    """

    def __init__(self, reactor: IReactor, max_waiting: int = MAX_WAITING) -> None:
        self._reactor, self._max_waiting = reactor, max_waiting
        self._one, self._soon = DeferredSemaphore(1), DeferredSemaphore(1)
        self._texts = Turns(reactor, 1, TEXT_WAIT_SECONDS, rest=TEXT_REST, max_waiting_of_one=100, refusal=_TEXTS_BUSY)

    def another(self) -> WorkerThread:
        """A thread beside this one, for work that takes long: what is short does not wait for it."""
        return WorkerThread(self._reactor, self._max_waiting)

    async def do(self, work: Callable[..., T], *arguments: object) -> T:
        """What the function gives or raises, called in a thread. Raises UnavailableError when too many calls wait."""
        if len(self._one.waiting) >= self._max_waiting:
            raise UnavailableError("Too many files are being processed. Try again in a moment.")
        done: T = await self._one.run(self._in_thread, work, *arguments)
        return done

    async def do_each(self, work: Callable[[A], T], arguments: AsyncIterator[A]) -> AsyncGenerator[T, None]:
        """What the function gives for each, called in a thread. The next one is already asked for meanwhile."""
        running: Deferred[T] | None = None
        try:
            async for argument in arguments:
                before, running = running, ensureDeferred(self.do(work, argument))
                if before is not None:
                    yield await before
            if running is not None:
                before, running = running, None
                yield await before
        finally:
            if running is not None:  # nobody wants what it gives
                running.addErrback(lambda failure: None)
                await running

    async def do_soon(self, work: Callable[..., T], *arguments: object) -> T:
        """The same for what takes a fraction of a second: it does not wait for pictures; one at a time.

        The reactor waits at every system call for each thread that computes in Python.
        """
        done: T = await self._soon.run(self._in_thread, work, *arguments)
        return done

    async def lay_out(self, work: Callable[..., T], *arguments: object) -> T:
        """The same for texts of people, with a rest after each. Raises UnavailableError when too many wait."""
        return await self._texts.run("", partial(self.do_soon, work, *arguments))

    async def pause(self) -> None:
        """Let the reactor serve others in the middle of a long loop."""
        await deferLater(self._reactor, 0)

    def _in_thread(self, work: Callable[..., Any], *arguments: object) -> Any:
        return deferToThreadPool(self._reactor, self._reactor.getThreadPool(), work, *arguments)
