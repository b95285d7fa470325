"""Tests that take longer than most, as they were measured: ``make check`` leaves them out, and every run begins with them.

Those that take longest are proofs, unless they show a statement of the interface or were chosen as examples.

``make slow-tests`` measures and writes the list. pytest loads this module as a plugin then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from support.checks.proofs import family

LIST = Path(__file__).parents[2] / "suite" / "slow_tests.txt"
# Of a case, while as many workers run as there are in make test. Those below it take three minutes together.
MAX_SECONDS = 0.4
MAX_IN_TEST = 0.8  # of a case in make test that shows no statement and was not chosen as an example

_seconds: dict[str, float] = defaultdict(float)  # by case


def mark_slow(items: Iterable[pytest.Item], listed: Mapping[str, float]) -> None:
    """Gives the marker ``slow`` to every case of a listed function, and ``proof`` to those of the slowest."""
    for item in items:
        seconds = listed.get(family(item.nodeid), 0.0)
        if seconds:
            item.add_marker("slow")
        chosen = item.get_closest_marker("shows") or item.get_closest_marker("examples")
        if seconds > MAX_IN_TEST and not chosen:
            item.add_marker("proof")


def in_order(items: Iterable[pytest.Item], listed: Mapping[str, float]) -> list[pytest.Item]:
    """Folder by folder and file by file, those that take longest first: no worker is left alone with one at the end.

    The tests of a folder stay together, since many of them share what one process makes once.
    """
    in_turn = list(items)
    files: dict[Path, float] = defaultdict(float)
    folders: dict[Path, float] = defaultdict(float)
    for item in in_turn:
        seconds = listed.get(family(item.nodeid), 0)
        files[item.path] += seconds
        folders[item.path.parent] += seconds
    return sorted(
        in_turn, key=lambda item: (-folders[item.path.parent], item.path.parent, -files[item.path], item.path)
    )


def read() -> dict[str, float]:
    """Seconds by function."""
    lines = (line.split(maxsplit=1) for line in LIST.read_text().splitlines())
    return {function: float(seconds) for seconds, function in lines}


def slow(cases: Mapping[str, float]) -> dict[str, float]:
    """The functions whose cases take more than MAX_SECONDS on average, with that average. ``cases``: seconds by node id."""
    by_function: dict[str, list[float]] = defaultdict(list)
    for node, seconds in cases.items():
        by_function[family(node)].append(seconds)
    means = {function: sum(times) / len(times) for function, times in by_function.items()}
    return {function: mean for function, mean in means.items() if mean > MAX_SECONDS}


def written(functions: Mapping[str, float]) -> str:
    """What the file says: a line for each function, with its seconds."""
    return "".join(f"{seconds:.1f} {function}\n" for function, seconds in sorted(functions.items()))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Adds what the setup, the test and its end took."""
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the list, in the process that has the reports of all workers."""
    if not hasattr(session.config, "workerinput"):
        LIST.write_text(written(slow(_seconds)))
