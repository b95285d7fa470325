"""Files of tasks that were damaged on their way: what arrives of them, how long it takes, and in how much memory.

    python -m bench.fuzz.damaged_files [--files 2000] [--rows 2000] [--seed 7]

Gates: whatever the damage, nothing raises; each line is in exactly one row; the sum of rows is that of good and refused
ones; rows that were not touched arrive; no file takes longer than SECONDS; memory grows by at most MAX_MEMORY.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from support.checks.damaged_files import DAMAGE, ENCODINGS, STYLES, Damaged, GoodFile, good_file, violations

from bench.support.figures import table
from crowdd.features.imports.files import Dialect, inspect, read_rows
from crowdd.kernel.errors import InvalidValueError

MAX_MEMORY = 64e6  # bytes
SECONDS = 30.0  # for one file
_LARGE_EVERY = 40  # files
_EXTREMES = (
    b'"x\n",', b'1,"x""y,2\n', b'x","y\n', b"\n", b'"', b",", b"\x00", b"\r", b'{"a":{', b'{"a":1,},', b"[",
    b'[{"a":"x', b'{"a":"x\\n",',
)  # fmt: skip


class Report:
    """What has been seen so far."""

    def __init__(self) -> None:
        self.files, self.rows, self.good, self.refused, self.empty = Counter[str](), 0, 0, 0, 0
        self.rows_of_good_files, self.foreign, self.slowest = 0, 0, 0.0
        self.wrong: list[str] = []

    def count(self, dialect: Dialect, content: bytes) -> None:
        """Reads a file as an import does, and counts."""
        began = time.monotonic()
        rows = good = refused = empty = 0
        for row in read_rows(dialect, io.BytesIO(content)):
            rows += not row.empty
            good += row.values is not None
            refused += bool(row.error)
            empty += row.empty
        if rows != good + refused:
            self.wrong.append(f"{rows} rows are not {good} good and {refused} refused ones")
        self.rows, self.good, self.refused = self.rows + rows, self.good + good, self.refused + refused
        self.empty += empty
        self.slowest = max(self.slowest, time.monotonic() - began)


def _inspected(report: Report, folder: Path, content: bytes) -> None:
    """Looks at a file as the server does when it comes."""
    path = folder / "file"
    path.write_bytes(content)
    rows = Counter[str]()

    try:
        seen = inspect(
            path, 5, each=lambda row: rows.update(["empty" if row.empty else "bad" if row.error else "good"])
        )
    except InvalidValueError:
        report.foreign += 1
        return
    if (seen.rows, seen.refused, seen.empty) != (rows["good"] + rows["bad"], rows["bad"], rows["empty"]):
        report.wrong.append(f"{seen} does not say what {rows} says")


def _other_encoding(dice: random.Random, file: GoodFile) -> Dialect:
    return Dialect(file.dialect.format, dice.choice(ENCODINGS), file.dialect.delimiter)


def play(files: int, rows: int, seed: int, folder: Path) -> Report:
    """Damages so many files, some of them as large as ``rows``, and reads them."""
    report = Report()
    for number in range(files):
        dice = random.Random(f"{seed} {number}")
        style, encoding = STYLES[number % len(STYLES)], ENCODINGS[number // len(STYLES) % len(ENCODINGS)]
        file = good_file(dice, style, encoding, rows if number % _LARGE_EVERY == 0 else dice.choice([1, 10, 60]))
        name = dice.choice(sorted(DAMAGE))
        damaged = DAMAGE[name](dice, file)
        report.files[name] += 1
        report.rows_of_good_files += len(file.rows)
        report.wrong += [f"file {number} ({style}, {encoding}, {name}): {words}" for words in violations(file, damaged)]
        report.count(file.dialect, damaged.content)
        report.count(_other_encoding(dice, file), damaged.content)
        _inspected(report, folder, _damaged_again(dice, file, damaged))
    return report


def _damaged_again(dice: random.Random, file: GoodFile, damaged: Damaged) -> bytes:
    """The file with some further bytes changed, anywhere."""
    content = bytearray(damaged.content)
    for _ in range(dice.randrange(5) if content else 0):
        content[dice.randrange(len(content))] = dice.randrange(256)
    return bytes(content)


def extremes(report: Report, size: int) -> None:
    """Files made to take long."""
    for piece in _EXTREMES:
        content = b"a,b\n" + piece * (size // len(piece))
        report.count(Dialect("csv", "utf-8", ","), content)
        report.count(Dialect("json", "utf-8"), b"[" + content[4:])
        report.count(Dialect("ndjson", "utf-8"), content)
        report.count(Dialect("csv", "utf-16", ","), content)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--extreme-bytes", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        play(20, 2000, options.seed + 1, Path(folder))
        before, began = _peak(), time.monotonic()
        report = play(options.files, options.rows, options.seed, Path(folder))
        seconds = time.monotonic() - began
        slowest, report.slowest, began = report.slowest, 0.0, time.monotonic()
        rows = report.rows, report.good, report.refused, report.empty
        extremes(report, options.extreme_bytes)
    grown = _peak() - before
    wrong = report.wrong[:20]
    wrong += [f"memory grew by {grown / 1e6:.0f} MB"] if grown > MAX_MEMORY else []
    wrong += [f"a file took {report.slowest:.0f} s"] if max(slowest, report.slowest) > SECONDS else []
    took, slow = time.monotonic() - began, report.slowest
    lines: list[tuple[str, object]] = [
        (
            "files",
            f"{options.files:,} with {report.rows_of_good_files:,} rows, {seconds:.1f} s; slowest {slowest:.2f} s",
        ),
        *((name, f"{count:,} files") for name, count in sorted(report.files.items())),
        ("rows, right and wrong encoding", "{:,} = {:,} good + {:,} refused; {:,} empty".format(*rows)),
        ("refused as a whole by inspect", f"{report.foreign:,} files"),
        ("made to take long", f"{4 * len(_EXTREMES)} files, slowest {slow:.1f} s, {took:.0f} s in all"),
        ("memory", f"+{grown / 1e6:.0f} MB above {before / 1e6:.0f} MB"),
        ("violations", f"{len(report.wrong):,}"),
    ]
    print(table("Damaged files", lines, wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
