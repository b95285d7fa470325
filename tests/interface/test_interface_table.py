"""Every statement of the interface about /api has a test, or says for what it waits."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from interface.lines import ASSIGNMENT, LINES, Line

TESTS = Path(__file__).parents[1]


@cache
def functions(path: str) -> frozenset[str]:
    """The tests of a file."""
    tree = ast.parse((TESTS / path).read_text())
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.section}: {line.statement}")
def test_a_statement_has_a_test_or_waits_for_a_part(line: Line):
    assert bool(line.shown_by) is not bool(line.waits_for)
    assert line.waits_for in ("", ASSIGNMENT)
    for name in line.shown_by:
        path, _, function = name.partition("::")
        assert function in functions(path), f"{name} does not exist"


def test_no_statement_stands_there_twice():
    said = [(line.section, line.statement) for line in LINES]
    assert len(said) == len(set(said))
