"""What mypy checks is worth as much as the annotations say: few say Any."""

from __future__ import annotations

import ast
from pathlib import Path

CROWDD = Path(__file__).parents[1] / "crowdd"
MAX_ANY = 350


def test_few_annotations_are_any():
    names = [
        node
        for path in CROWDD.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    assert 0 < len(names) <= MAX_ANY
