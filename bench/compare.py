"""What a pair of newtask and answer costs in this tree and in others.

    python -m bench.compare --other ../before [../earlier …] [--slices 40] [--seconds 1.2] [--pace 300] [--max 1.15]

Each tree has a live server with its PostgreSQL (support/slices.py), the same project and the same volunteers. Short
slices alternate between the servers, so that all meet the same machine; figures are CPU per pair, not time, and
the median of the ratios of neighbouring slices. Gate: crowdd and PostgreSQL together at most ``--max`` times each other
tree. With several of them, pairs for each request of the floor (``bench.hot``) of all trees are shown, too. They need
their virtual environments:

    git worktree add ../before COMMIT && make -C ../before .venv/installed-embedded,test
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

from bench import ROOT
from bench.hot import CONNECTIONS
from bench.reads.floor_process import FLOOR, floor_of
from bench.reads.readers import Readers
from bench.support import testbed
from bench.support.figures import table

CHILD = ROOT / "bench/support/slices.py"


@attrs.frozen
class Slice:
    """Pairs a second, and CPU milliseconds per pair."""

    rate: float
    crowdd: float
    postgres: float

    @property
    def server(self) -> float:
        """crowdd and PostgreSQL together."""
        return self.crowdd + self.postgres


class Tree:
    """A tree whose server runs."""

    def __init__(self, place: Path, size: tuple[int, int]) -> None:
        command = [place / ".venv/bin/python", CHILD, *map(str, size)]
        self._child = subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ready(self) -> None:
        """Returns when the server works."""
        self._line("ready")

    def slice(self, seconds: float, pace: float) -> Slice:
        """Volunteers work for a while."""
        assert self._child.stdin is not None
        self._child.stdin.write(f"{seconds} {pace}\n")
        self._child.stdin.flush()
        return Slice(*map(float, self._line().split()))

    def _line(self, wanted: str = "") -> str:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            if wanted in line:
                return line
        raise SystemExit(f"The server of {self._child.args!r} ended.")

    def close(self) -> None:
        """Stops the server."""
        self._child.communicate()


class FloorTree(Tree):
    """The floor in place of a tree: a request of it is a pair."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def slice(self, seconds: float, pace: float) -> Slice:
        return Slice(self._readers.run(FLOOR, seconds).rate, 0.0, 0.0)


@contextlib.contextmanager
def floor_slices() -> Iterator[FloorTree]:
    """A floor with as many readers as there are volunteers."""
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place),
        floor_of(database, place) as (port, _),
    ):
        readers = Readers(port, CONNECTIONS)
        yield FloorTree(readers)
        readers.close()


@contextlib.contextmanager
def trees(places: list[Path], size: tuple[int, int]) -> Iterator[list[Tree]]:
    """The trees, started side by side."""
    made = [Tree(place, size) for place in places]
    try:
        for tree in made:
            tree.ready()
        yield made
    finally:
        for tree in made:
            tree.close()


def alternate(trees: list[Tree], slices: int, seconds: float, pace: float) -> list[list[Slice]]:
    """Slices of all trees, side by side, in the order of the trees; every other time the last one begins."""
    rounds = []
    for number in range(slices):
        turns = trees if number % 2 else trees[::-1]
        made = [tree.slice(seconds, pace) for tree in turns]
        rounds.append(made if number % 2 else made[::-1])
    return rounds


def lines(pairs: list[tuple[Slice, Slice]]) -> Iterator[tuple[str, str]]:
    """A line for each figure: the median of each tree, the median of the ratios and their quartiles."""
    for name in ("rate", "crowdd", "postgres", "server"):
        mine, theirs = ([getattr(each, name) for each in side] for side in zip(*pairs, strict=True))
        low, middle, high = statistics.quantiles([m / t for m, t in zip(mine, theirs, strict=True)], n=4)
        values = f"{statistics.median(mine):8.3f} {statistics.median(theirs):8.3f}"
        yield f"  {name}", f"{values}   ratio {middle:.3f} ({low:.3f} to {high:.3f})"


def shares(places: list[Path], rounds: list[list[Slice]]) -> Iterator[tuple[str, str]]:
    """Pairs of each tree for each request of the floor, whose slice is the last of a round."""
    for at, place in enumerate(places):
        low, middle, high = statistics.quantiles([each[at].rate / each[-1].rate for each in rounds], n=4)
        yield f"  {place.name}", f"{middle:.3f} ({low:.3f} to {high:.3f})"


def ratio(pairs: list[tuple[Slice, Slice]]) -> float:
    """The median ratio of the CPU per pair."""
    return statistics.median(mine.server / theirs.server for mine, theirs in pairs)


def main() -> int:
    """Runs it and prints a table; 1 when the gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, nargs="+", required=True, help="trees with their virtual environments")
    parser.add_argument("--size", nargs=2, type=int, default=(1000, 10_000), metavar=("TASKS", "RUNS"))
    parser.add_argument("--slices", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=1.2)
    parser.add_argument(
        "--pace", type=float, default=300, help="pairs a second; as many as possible is measured as well"
    )
    parser.add_argument("--max", type=float, default=1.15)
    options = parser.parse_args()
    shown: list[tuple[str, object]] = []
    wrong: list[str] = []
    others = [other.resolve() for other in options.other]
    with trees([ROOT, *others], tuple(options.size)) as made, contextlib.ExitStack() as stack:
        floor = stack.enter_context(floor_slices()) if len(others) > 1 else None
        for name, pace in (("as many as possible", 0.0), (f"{options.pace:g} pairs a second", options.pace)):
            rounds = alternate([*made, floor] if floor and not pace else made, options.slices, options.seconds, pace)
            if floor and not pace:
                shown += [("of the floor", ""), *shares([ROOT, *others], rounds)]
            for at, other in enumerate(others, 1):
                pairs = [(each[0], each[at]) for each in rounds]
                shown += [(f"{name}, {other.name}", "    here    other"), *lines(pairs)]
                if ratio(pairs) > options.max:
                    wrong.append(f"{name}: {ratio(pairs):.3f} times the CPU per pair of {other.name}")
    print(table(f"{ROOT} beside others: CPU milliseconds per pair", shown, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
