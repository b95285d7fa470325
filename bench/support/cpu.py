"""CPU time of the processes that a measurement is about."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

TICK = os.sysconf("SC_CLK_TCK")


@attrs.frozen
class Spent:
    """CPU seconds of crowdd, of PostgreSQL, and of this process."""

    crowdd: float
    postgres: float
    client: float

    @property
    def server(self) -> float:
        """crowdd and PostgreSQL together."""
        return self.crowdd + self.postgres

    def since(self, before: Spent) -> Spent:
        """What came in between."""
        return Spent(self.crowdd - before.crowdd, self.postgres - before.postgres, self.client - before.client)

    def times(self, factor: float) -> Spent:
        """So many times as much."""
        return Spent(self.crowdd * factor, self.postgres * factor, self.client * factor)


@attrs.frozen
class Taken:
    """Seconds of the clock, and of CPU; 0 if nobody looked."""

    clock: float
    cpu: float

    @property
    def seconds(self) -> float:
        """What it would have taken with a processor for itself."""
        return min(self.clock, self.cpu or self.clock)

    def rate(self, plain: Taken) -> float:
        """Of the rate of something else."""
        return max(plain.clock / self.clock, plain.cpu / self.cpu if self.cpu else 0.0)


class Cpu:
    """Looks at crowdd, one process or with further ones that answer, and at the processes of its PostgreSQL."""

    def __init__(self, crowdd: int, postmaster: int, workers: Sequence[int] = ()) -> None:
        self._crowdd, self._postmaster = (crowdd, *workers), postmaster

    def spent(self) -> Spent:
        """So far; sessions with PostgreSQL that have ended are counted by the postmaster."""
        processes = {pid: (parent, own, ended) for pid, parent, own, ended in _all()}
        postgres = processes[self._postmaster][2] + sum(
            own for parent, own, _ in processes.values() if parent == self._postmaster
        )
        return Spent(sum(processes[pid][1] for pid in self._crowdd), postgres, sum(os.times()[:2]))


class Meter:
    """What crowdd and the sessions that PostgreSQL has now ran, and how long they waited for a processor, in seconds.

    To the nanosecond, for single requests (``/proc/<pid>/schedstat``): a request that was slow because of what else the
    machine did has waited and not run.
    """

    def __init__(self, crowdd: int, postmaster: int = 0) -> None:
        """Without a postmaster crowdd alone is looked at."""
        sessions = [] if postmaster == 0 else [pid for pid, parent, _, _ in _all() if parent == postmaster]
        self._places = [Path(f"/proc/{pid}/schedstat") for pid in (crowdd, *sessions)]

    def __call__(self) -> tuple[float, float]:
        """So far: ran, waited."""
        ran = waited = 0
        for place in self._places:
            with contextlib.suppress(OSError):
                fields = place.read_text().split()
                ran, waited = ran + int(fields[0]), waited + int(fields[1])
        return ran / 1e9, waited / 1e9


def _all() -> Iterator[tuple[int, int, float, float]]:
    """Each process: its number, its parent's, CPU seconds of its own and of its children that have ended."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            user, system, of_children, system_of_children = (int(word) / TICK for word in fields[11:15])
            yield int(entry.name), int(fields[1]), user + system, of_children + system_of_children
