"""docs/contributing/ux.md has a row for every point, and the tests that it names exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "contributing" / "ux.md"
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in PAGE.read_text("utf-8").splitlines()
    if re.match(r"\| (\d|–)", line)
]
POINTS = {*range(1, 63)}  # other points may have a row too


@cache
def functions(path: str) -> frozenset[str]:
    """The tests of a file, those of its classes too."""
    nodes = (node for node in ast.walk(ast.parse((TESTS / path).read_text("utf-8"))))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_a_point_has_a_test_or_was_looked_at_and_says_what_came_out():
    for number, point, checked, outcome in ROWS:
        names = re.findall(r"`([^`]+)`", checked)
        assert outcome and (names or checked.startswith("looked at")), (number, point)
        for name in names:
            path, _, function = name.partition("::")
            assert function.startswith("test_") and function in functions(path), f"{name} does not exist"


def test_every_point_has_one_row():
    numbers = [int(row[0]) for row in ROWS if row[0] != "–"]
    assert len(numbers) == len({*numbers})
    assert POINTS - {*numbers} == set()
