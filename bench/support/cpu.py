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
        before = _ended(self._postmaster)
        while True:
            processes = {pid: (parent, own) for pid, parent, own in _all()}
            ended = _ended(self._postmaster)
            if ended == before:
                break
            before = ended  # a session ended meanwhile, and may have been seen neither among processes nor there
        postgres = ended + sum(own for parent, own in processes.values() if parent == self._postmaster)
        return Spent(sum(processes[pid][1] for pid in self._crowdd), postgres, sum(os.times()[:2]))


class Meter:
    """What crowdd and the sessions that PostgreSQL has now ran, and how long they waited for a processor, in seconds.

    To the nanosecond, for single requests (``/proc/<pid>/schedstat``): a request that was slow because of what else the
    machine did has waited and not run.
    """

    def __init__(self, crowdd: int, postmaster: int = 0) -> None:
        """Without a postmaster crowdd alone is looked at."""
        sessions = [] if postmaster == 0 else [pid for pid, parent, _ in _all() if parent == postmaster]
        self._places = [Path(f"/proc/{pid}/schedstat") for pid in (crowdd, *sessions)]

    def __call__(self) -> tuple[float, float]:
        """So far: ran, waited."""
        ran = waited = 0
        for place in self._places:
            with contextlib.suppress(OSError):
                fields = place.read_text().split()
                ran, waited = ran + int(fields[0]), waited + int(fields[1])
        return ran / 1e9, waited / 1e9


def of_threads(pid: int) -> float:
    """Seconds of processor time that all threads of a process have used."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


def _all() -> Iterator[tuple[int, int, float]]:
    """Each process: its number, its parent's, CPU seconds of its own."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = _fields(entry)
            yield int(entry.name), int(fields[1]), (int(fields[11]) + int(fields[12])) / TICK


def _ended(pid: int) -> float:
    """CPU seconds of those children of a process that have ended."""
    fields = _fields(Path("/proc") / str(pid))
    return (int(fields[13]) + int(fields[14])) / TICK


def _fields(process: Path) -> list[str]:
    """What its ``stat`` says behind the name (proc(5)); raises OSError if there is no such process."""
    return (process / "stat").read_text().rpartition(")")[2].split()
