"""Memory, descriptors and connections of a crowdd process and of all that it started."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

_PAGE = os.sysconf("SC_PAGE_SIZE")


@attrs.frozen
class Signs:
    """Together: bytes of their own in memory, open files and sockets, and those of them that are sockets.

    What the system can read again from files is not counted: it comes and goes with the memory that others want.
    """

    memory: int
    descriptors: int
    sockets: int


def signs(pid: int) -> Signs:
    """Now."""
    processes = list(_family(pid))
    names = [name for each in processes for name in _open_files(each)]
    memory = sum(_own_memory(each) for each in processes)
    return Signs(memory, len(names), sum(name.startswith("socket:") for name in names))


def _family(pid: int) -> Iterator[int]:
    yield pid
    for task in (Path("/proc") / str(pid) / "task").glob("*/children"):
        for child in task.read_text().split():
            yield from _family(int(child))


def _own_memory(pid: int) -> int:
    """Resident bytes without those of files."""
    _, resident, of_files = (Path("/proc") / str(pid) / "statm").read_text().split()[:3]
    return (int(resident) - int(of_files)) * _PAGE


def _open_files(pid: int) -> Iterator[str]:
    for entry in (Path("/proc") / str(pid) / "fd").iterdir():
        with contextlib.suppress(OSError):
            yield os.readlink(entry)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """What is added in an hour, by least squares over (seconds, value)."""
    if len(points) < 2:
        return 0.0
    mean_x, mean_y = sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
    across = sum((x - mean_x) ** 2 for x, _ in points)
    return 3600 * sum((x - mean_x) * (y - mean_y) for x, y in points) / across if across else 0.0
