"""The beginning of a file, which leaves before it is known what follows it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from crowdd.storage.transfer.export_columns import Column

EARLY: Final = 0.1  # seconds after which the beginning leaves alone
Sink = Callable[[bytes, int], None]
"""Takes a part of a file and how many rows are in it."""
Known = Callable[[Sequence[Column]], Awaitable[bytes]]
"""What a file begins with whose first columns are these, whatever comes behind them."""


class Head:
    """A sink for a file whose columns may take long to find out."""

    def __init__(self, known: Known, sink: Sink) -> None:
        self._known, self._sink = known, sink
        self._until = time.monotonic() + EARLY
        self._first: Sequence[Column] = ()
        self._is_out = False
        self._sent = b""  # of the parts that are still to come

    async def wait(self, columns: Sequence[Column]) -> None:
        """Sends the beginning if it has taken long. ``columns`` are the first ones; [] if they were told before."""
        self._first = self._first or columns
        if self._is_out or not self._first or time.monotonic() <= self._until:
            return
        self._is_out = True
        self._sent = await self._known(self._first)
        self._sink(self._sent, 0)

    def write(self, part: bytes, rows: int) -> None:
        """Takes the whole file, and passes on what has not left. Raises RuntimeError if it begins otherwise."""
        if self._sent:
            n = min(len(part), len(self._sent))
            if part[:n] != self._sent[:n]:
                raise RuntimeError("The file does not begin with the bytes that were sent.")
            part, self._sent = part[n:], self._sent[n:]
        self._sink(part, rows)
