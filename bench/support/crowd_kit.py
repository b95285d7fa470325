"""Writes what crowd-kit makes of small sets of labels, for the tests of analyses.

    python -m bench.support.crowd_kit tests/domain/analyses/references.json

Needs crowd-kit (``pip install 'crowdd[trust]'``), which the tests do without: it brings 300 MB of libraries.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from importlib.metadata import version
from pathlib import Path

from bench.support.labelled_crowds import SHAPES, Answer, by_crowd_kit, labelled

ANAESTHESIA = Path(__file__).parent.parent.parent / "tests/domain/analyses/anaesthesia.csv"


def anaesthesia() -> list[Answer]:
    """The table of Dawid and Skene (1979): patients, observers, classes."""
    with ANAESTHESIA.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [(int(row["patient"]) - 1, int(row["observer"]) - 1, int(row["class"]) - 1) for row in rows]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    target = parser.parse_args(arguments).target
    sets = {"anaesthesia": anaesthesia(), **{name: labelled(shape) for name, shape in SHAPES.items()}}
    probabilities = {name: by_crowd_kit(rows) for name, rows in sets.items()}
    target.write_text(
        json.dumps({"crowd-kit": version("crowd-kit"), "sets": probabilities}, separators=(",", ":")) + "\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
