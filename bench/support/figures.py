"""Times of requests, and the table at the end."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator


class Times:
    """How long requests took, by name, in seconds."""

    def __init__(self) -> None:
        self._taken: defaultdict[str, list[float]] = defaultdict(list)

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Adds the time of the block, unless it raises."""
        began = time.monotonic()
        yield
        self._taken[name].append(time.monotonic() - began)

    def add(self, name: str, seconds: float) -> None:
        """Adds the time of one request."""
        self._taken[name].append(seconds)

    def extend(self, others: Times) -> None:
        """Adds those of other requests."""
        for name, taken in others._taken.items():
            self._taken[name] += taken

    def clear(self) -> None:
        """Forgets all."""
        self._taken.clear()

    def percentile(self, name: str, percent: float) -> float:
        """The time that so many per cent of the requests did not exceed."""
        ordered = sorted(self._taken[name]) or [0.0]
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

    def of_all(self, percent: float) -> float:
        """The same of all requests, whatever their name."""
        ordered = sorted(seconds for taken in self._taken.values() for seconds in taken) or [0.0]
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

    def longest(self) -> float:
        """The longest of all."""
        return max((max(taken) for taken in self._taken.values() if taken), default=0.0)

    def lines(self) -> Iterator[tuple[str, str]]:
        """A line per name."""
        for name, taken in self._taken.items():
            middle, late, last = (self.percentile(name, p) * 1000 for p in (50, 99, 100))
            yield name, f"{len(taken):>6}: p50 {middle:.0f} ms, p99 {late:.0f} ms, max {last:.0f} ms"


def table(title: str, lines: list[tuple[str, object]], violations: list[str]) -> str:
    """What a proof prints."""
    width = max(len(name) for name, _ in lines)
    drawn = [title, *(f"  {name:<{width}}  {value}" for name, value in lines)]
    drawn += [f"  VIOLATED: {sentence}" for sentence in violations] or ["  Nothing is violated."]
    return "\n".join(drawn)
