"""Every code of an error object stands in one table, once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from crowdd.http.errors import CODES, TABLE
from crowdd.kernel import errors

ROOT = Path(__file__).parents[2]


def trees() -> Iterator[ast.AST]:
    for path in sorted((ROOT / "crowdd").rglob("*.py")):
        if path != ROOT / "crowdd" / "http" / "error_codes.py":
            yield ast.parse(path.read_text("utf-8"))


def given_where_raised() -> Iterator[tuple[str, str]]:
    """The code and the class of ``SomeError(…, code="…")``."""
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                for keyword in node.keywords:
                    if name.endswith("Error") and keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                        yield keyword.value.value, name


def given_by_class() -> Iterator[tuple[str, str]]:
    """The code of every class that has a status of its own."""
    for sort, _, _ in TABLE:
        yield sort.code, sort.__name__


def test_the_table_has_every_code_of_the_source_and_no_other():
    table = {(row.code, row.sort.__name__) for row in CODES if row.sort is not None}
    assert table == {*given_where_raised()} | {*given_by_class()}
    assert len(CODES) == len({row.code for row in CODES}), "one code, one row"


def test_codes_are_written_out_where_they_are_given():
    """A code that is put together at run time would be in no table."""
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Error"):
                codes = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
                assert all(isinstance(code, ast.Constant) for code in codes), ast.unparse(node)


def test_an_error_that_is_not_ours_is_internal():
    assert [(row.code, row.status) for row in CODES if row.sort is None] == [("internal", 500)]


def test_every_class_that_leaves_over_http_has_a_code_of_its_own():
    codes = [sort.code for sort, _, _ in TABLE]
    assert len(codes) == len({*codes})
    assert errors.CrowddError.code not in codes
