"""Hostile files of tasks: the sentence that each is refused with, and the memory and CPU time that it costs.

    python -m bench.fuzz.hostile_files [--only xlsx]

Gates: those of the tests (``tests/support/checks/hostile_files.py``), which read the same files.
"""

from __future__ import annotations

import argparse
import sys

from support.checks.hostile_files import FILES, examined, violations

from bench.support.figures import table


def main() -> int:
    """Reads each file as an import does, and prints what became of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="files of this format")
    only = parser.parse_args().only
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    for file in FILES:
        if file.format not in (only or file.format):
            continue
        examination = examined(file)
        bad = violations(file, examination)
        wrong += [f"{file.id}: {sentence}" for sentence in bad]
        memory = f"{max(0, examination.memory) / 1e6:3.0f} MB + {examination.child_memory / 1e6:4.0f} MB of its reader"
        lines.append((file.id, f"{examination.seconds:5.2f} s, {memory}: {examination.words}"))
    print(table("What becomes of hostile files", lines, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
