"""Passwords: argon2id, in threads of their own so that the reactor never waits for them."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Callable
from threading import Thread, get_native_id
from typing import Any, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from twisted.internet.interfaces import IReactorTime
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from crowdd.concurrency.expiring_cache import ExpiringCache
from crowdd.domain.accounts.authentication import foreign_hashes
from crowdd.errors import BusyError
from crowdd.reactor import IReactor

T = TypeVar("T")

# OWASP's smallest recommendation: 19 MiB, two passes, one lane; about 20 ms.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def unmatched(hasher: PasswordHasher) -> str:
    """A stored hash that no password fits, made without the time of hashing; to check it takes as long as any other."""
    salt, digest = (base64.b64encode(os.urandom(size)).rstrip(b"=").decode() for size in (16, 32))
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${digest}"


_NOBODY = unmatched(_HASHER)
MAX_WAITING = 50
REMEMBERED_SECONDS = 600
_MAX_REMEMBERED = 10_000
_NICE = 10


class Passwords:
    """Hashes and checks. ``threads`` bounds how many run at once (19 MiB each), ``max_waiting`` how many wait.

    Every method raises BusyError when more wait.
    """

    def __init__(self, reactor: IReactor, threads: int = 1, max_waiting: int = MAX_WAITING) -> None:
        self._reactor = reactor
        self._pool = ThreadPool(0, threads, name="passwords")
        self._pool.threadFactory = _EndingThread
        self._max_unfinished = threads + max_waiting
        self._unfinished = 0
        self.remembered = Remembered(reactor)

    def start(self) -> None:
        """Begins to take work."""
        self._pool.start()

    def stop(self) -> None:
        """Ends the threads."""
        self._pool.stop()

    async def hash(self, password: str) -> str:
        """The hash to store."""
        return await self.in_thread(_HASHER.hash, password)

    async def check(self, stored: str | None, password: str) -> bool:
        """Whether the password fits; takes as long for an account that does not exist (None)."""
        return await self.in_thread(_check, stored or _NOBODY, password) and stored is not None

    def is_outdated(self, stored: str) -> bool:
        """Whether a stored hash was made with other parameters than a new one would be."""
        return foreign_hashes.is_foreign(stored) or _HASHER.check_needs_rehash(stored)

    async def in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """What a function gives that takes some milliseconds of processor time."""
        if self._unfinished >= self._max_unfinished:
            raise BusyError("Too many passwords are being checked at the moment.")
        self._unfinished += 1
        try:
            done: T = await deferToThreadPool(self._reactor, self._pool, work, *arguments)
        finally:
            self._unfinished -= 1
        return done


class Remembered:
    """Passwords that fitted lately, under a keyed hash, so that the same one need not be checked for ten minutes.

    For passwords that a program sends with each request. ``clock`` has ``seconds()``.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._key, self._names = os.urandom(32), ExpiringCache(clock, REMEMBERED_SECONDS, _MAX_REMEMBERED)

    def add(self, stored: str, password: str) -> None:
        """Notes that the password fits the stored hash."""
        self._names.add(self._name(stored, password))

    def __contains__(self, pair: tuple[str, str]) -> bool:
        return self._name(*pair) in self._names

    def _name(self, stored: str, password: str) -> bytes:
        text = f"{stored}\0{password}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._key, digest_size=32).digest()


class _EndingThread(Thread):
    """A thread that does not keep the process alive when the server ends in disorder.

    The reactor has precedence. A hash does not hold the interpreter, so the reactor never waits for a thread that is
    not scheduled.
    """

    def __init__(self, *arguments: Any, **names: Any) -> None:
        super().__init__(*arguments, daemon=True, **names)

    def run(self) -> None:
        if sys.platform == "linux":  # elsewhere it would be the whole process
            os.setpriority(os.PRIO_PROCESS, get_native_id(), _NICE)
        super().run()


def _check(stored: str, password: str) -> bool:
    if foreign_hashes.is_foreign(stored):
        return foreign_hashes.check(stored, password)
    try:
        return _HASHER.verify(stored, password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
