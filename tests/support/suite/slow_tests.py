"""Tests that take longer than most, as they were measured: ``make check`` leaves them out, and every run begins with them.

Those that take longest are proofs, unless they alone show a statement of the interface or were chosen as examples.

``make slow-tests`` measures and writes the list. pytest loads this module as a plugin then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from support.checks.proofs import family

LIST = Path(__file__).parents[2] / "suite" / "slow_tests.txt"
# Of a case, while as many workers run as there are in make test. Those below it take three minutes together.
MAX_SECONDS = 0.4
MAX_IN_TEST = 0.5  # of a case in make test that shows no statement alone and was not chosen as an example

_seconds: dict[str, float] = defaultdict(float)  # by case


def mark_slow(items: Sequence[pytest.Item], listed: Mapping[str, float]) -> None:
    """Gives the marker ``slow`` to every case of a listed function, and ``proof`` to those of the slowest.

    Among those that show the same statements, the quickest stays.
    """
    shown = {family(item.nodeid): _statements(item) for item in items if not item.get_closest_marker("proof")}
    times_shown = Counter(statement for statements in shown.values() for statement in statements)
    chosen = {family(item.nodeid) for item in items if item.get_closest_marker("examples")}
    longest = {function for function in shown.keys() - chosen if listed.get(function, 0.0) > MAX_IN_TEST}
    proofs = set[str]()
    for function in sorted(longest, key=lambda each: (-listed[each], each)):
        if all(times_shown[each] > 1 for each in shown[function]):
            proofs.add(function)
            times_shown.subtract(shown[function])
    for item in items:
        if family(item.nodeid) in listed:
            item.add_marker("slow")
        if family(item.nodeid) in proofs:
            item.add_marker("proof")


def _statements(item: pytest.Item) -> frozenset[str]:
    """The statements of the interface that a test shows."""
    return frozenset(anchor for marker in item.iter_markers("shows") for anchor in marker.args)


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
