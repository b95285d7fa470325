"""SQL stands in crowdd/database, and in the statements of features, of the core and of the scheduler."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import crowdd

ROOT = Path(crowdd.__file__).parent
STATEMENT = re.compile(
    r"\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s|SET\s+(LOCAL\s+)?[\w.]+\s*(=|TO\s)"
    r"|(CREATE|ALTER|DROP)\s+(TABLE|INDEX|VIEW|FUNCTION|DATABASE|ROLE|SCHEMA)\s|LISTEN\s|NOTIFY\s)"
)


def statements(text: str) -> list[str]:
    """Strings of a module that begin as a statement of SQL does."""
    texts = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    return [each for each in texts if isinstance(each, str) and STATEMENT.match(each)]


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "SET lock_timeout = '5s'", "WITH a AS (SELECT 1) SELECT", "INSERT INTO task VALUES (1)"]
)
def test_statements_are_recognised(sql):
    assert statements(f"a = {sql!r}") == [sql]


def test_only_statements_have_sql():
    others = (
        path
        for path in ROOT.rglob("*.py")
        if path.relative_to(ROOT).parts[0] != "database" and not path.stem.endswith("statements")
    )
    sql_by_path = {str(path.relative_to(ROOT)): statements(path.read_text("utf-8")) for path in others}
    assert {path: some for path, some in sql_by_path.items() if some} == {}
