"""How long a million answers take each method of our own, and how much memory its process needs.

    python -m bench.budgets.analyses

Each method analyses a file of answers in the process that the server starts, from reading the file to writing what it
found. Gate: Dawid-Skene takes at most 10 seconds of CPU for the method itself, for 2 and for 10 classes.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from bench.support.figures import table
from crowdd.features.analyses import process as analysis_process
from crowdd.features.analyses.methods import METHODS

ANSWERS, PER_TASK, VOLUNTEERS = 1_000_000, 5, 2000
MAX_SECONDS = 10.0
CASES = (
    ("Dawid-Skene, 2 classes", "dawid_skene", 2, 8.0),
    ("Dawid-Skene, 2 classes, poor volunteers", "dawid_skene", 2, 1.2),
    ("Dawid-Skene, 10 classes", "dawid_skene", 10, 8.0),
    ("one coin, 10 classes", "one_coin", 10, 8.0),
    ("majority, 10 classes", "majority", 10, 8.0),
)
"""Name, method, classes, and how good volunteers are: the first parameter of a Beta distribution, the second is 2."""


def write(path: Path, n_answers: int, n_classes: int, good: float) -> None:
    """Answers as the server writes them."""
    chance = random.Random(1)
    right = [1 / n_classes + (1 - 1 / n_classes) * chance.betavariate(good, 2) for _ in range(VOLUNTEERS)]
    with path.open("w") as file:
        for task in range(n_answers // PER_TASK):
            truth = chance.randrange(n_classes)
            for _ in range(PER_TASK):
                who = int(VOLUNTEERS * chance.random() ** 2)  # some answer much, most little
                label = truth if chance.random() < right[who] else chance.randrange(n_classes)
                file.write(f'[{task + 1},"u:{who}","class {label}"]\n')


def run(folder: Path, method: str, n_classes: int) -> tuple[dict[str, object], float, float, int]:
    """The summary; seconds and CPU seconds of the whole process, and its memory in MB at the most."""
    options = {
        "method": method,
        "parameters": dict(METHODS[method].parameters),
        "choices": [f"class {n}" for n in range(n_classes)],
        "nulls": False,
    }
    begun = time.monotonic()
    running = analysis_process.start(folder / "answers", folder / "findings", options)
    _, status, used = os.wait4(running.pid, 0)
    if status:
        raise SystemExit(f"{method}: the process ended with {status}.")
    seconds = time.monotonic() - begun
    summary = next(analysis_process.read(folder / "findings"))
    return summary, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=ANSWERS)
    n_answers = parser.parse_args(arguments).answers
    lines: list[tuple[str, object]] = []
    violations = []
    with tempfile.TemporaryDirectory() as place:
        folder, written = Path(place), None
        for name, method, n_classes, good in CASES:
            if written != (n_classes, good):
                write(folder / "answers", n_answers, n_classes, good)
                written = n_classes, good
            summary, seconds, cpu, memory = run(folder, method, n_classes)
            spent = float(str(summary["seconds"]))
            if method == "dawid_skene" and spent > MAX_SECONDS:
                violations.append(f"{name} took {spent:.1f} s of CPU (at most {MAX_SECONDS:.0f}).")
            rest = f"{cpu:.1f} s with files, {seconds:.1f} s by the clock, {memory} MB"
            lines.append((name, f"{spent:.1f} s of CPU in {summary['rounds']} rounds ({rest})"))
    print(table(f"{n_answers:,} answers", lines, violations))
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
