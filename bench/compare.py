"""What a pair of newtask and answer costs in this tree and in another one.

    python -m bench.compare --other ../before [--slices 40] [--seconds 1.2] [--pace 300] [--max 1.15]

Each tree has a live server with its PostgreSQL (support/slices.py), the same project and the same volunteers. Short
slices alternate between the two servers, so that both meet the same machine; figures are CPU per pair, not time, and
the median of the ratios of neighbouring slices. Gate: crowdd and PostgreSQL together at most ``--max`` times the other
tree. That needs its virtual environment:

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


def alternate(here: Tree, other: Tree, slices: int, seconds: float, pace: float) -> list[tuple[Slice, Slice]]:
    """Slices of both trees, side by side; each begins every other time."""
    pairs = []
    for number in range(slices):
        if number % 2:
            mine, theirs = here.slice(seconds, pace), other.slice(seconds, pace)
        else:
            theirs, mine = other.slice(seconds, pace), here.slice(seconds, pace)
        pairs.append((mine, theirs))
    return pairs


def lines(pairs: list[tuple[Slice, Slice]]) -> Iterator[tuple[str, str]]:
    """A line for each figure: the median of each tree, the median of the ratios and their quartiles."""
    for name in ("rate", "crowdd", "postgres", "server"):
        mine, theirs = ([getattr(each, name) for each in side] for side in zip(*pairs, strict=True))
        low, middle, high = statistics.quantiles([m / t for m, t in zip(mine, theirs, strict=True)], n=4)
        values = f"{statistics.median(mine):8.3f} {statistics.median(theirs):8.3f}"
        yield f"  {name}", f"{values}   ratio {middle:.3f} ({low:.3f} to {high:.3f})"


def ratio(pairs: list[tuple[Slice, Slice]]) -> float:
    """The median ratio of the CPU per pair."""
    return statistics.median(mine.server / theirs.server for mine, theirs in pairs)


def main() -> int:
    """Runs it and prints a table; 1 when the gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, required=True, help="a tree with its virtual environment")
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
    with trees([ROOT, options.other.resolve()], tuple(options.size)) as (here, other):
        for name, pace in (("as many as possible", 0.0), (f"{options.pace:g} pairs a second", options.pace)):
            pairs = alternate(here, other, options.slices, options.seconds, pace)
            shown += [(name, "    here    other"), *lines(pairs)]
            if ratio(pairs) > options.max:
                wrong.append(f"{name}: {ratio(pairs):.3f} times the CPU per pair")
    print(table(f"{ROOT} beside {options.other}: CPU milliseconds per pair", shown, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
