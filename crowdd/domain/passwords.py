"""Passwords: argon2id, in threads of their own so that the reactor never waits for them."""

from __future__ import annotations

from threading import Thread
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

# OWASP's smallest recommendation: 19 MiB, two passes, one lane; about 20 ms.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_NOBODY = _HASHER.hash("nobody has this password")


class Passwords:
    """Hashes and checks. ``threads`` bounds how many run at once (19 MiB each)."""

    def __init__(self, reactor: Any, threads: int = 2) -> None:
        self._reactor = reactor
        self._pool = ThreadPool(0, threads, name="passwords")
        self._pool.threadFactory = _EndingThread

    def start(self) -> None:
        """Begins to take work."""
        self._pool.start()

    def stop(self) -> None:
        """Ends the threads."""
        self._pool.stop()

    async def hash(self, password: str) -> str:
        """The hash to store."""
        return await self._run(_HASHER.hash, password)

    async def check(self, stored: str | None, password: str) -> bool:
        """Whether the password fits; takes as long for an account that does not exist (None)."""
        return await self._run(_check, stored or _NOBODY, password) and stored is not None

    async def _run(self, work: Any, *arguments: Any) -> Any:
        return await deferToThreadPool(self._reactor, self._pool, work, *arguments)


class _EndingThread(Thread):
    """A thread that does not keep the process alive when the server ends in disorder."""

    def __init__(self, *arguments: Any, **names: Any) -> None:
        super().__init__(*arguments, daemon=True, **names)


def _check(stored: str, password: str) -> bool:
    try:
        return _HASHER.verify(stored, password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
