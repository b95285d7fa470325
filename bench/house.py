"""Count what the source tree costs those who read it.

    python -m bench.house

One line per figure, with its aim. Product code is Python, SQL, templates, and our own scripts and styles below
``crowdd``; a line of code is neither empty nor only a comment, nor in a docstring. Exits with 1 while an aim is missed.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs
import grimp

from bench import ROOT

PRODUCT = ROOT / "crowdd"
KINDS = {".py": "#", ".sql": "--", ".html": "{#", ".js": "//", ".css": "/*"}


@attrs.frozen
class Figure:
    """A count beside the most that it should be."""

    name: str
    count: float
    maximum: float

    def __str__(self) -> str:
        mark = " " if self.count <= self.maximum else "!"
        return f"{mark} {self.name:52} {self.count:>10,.4g}   at most {self.maximum:,g}"


def main() -> int:
    """Print every figure."""
    figures = [*_sizes(), *_python(), *_imports(), *_docs()]
    print("\n".join(map(str, figures)))
    return int(any(figure.count > figure.maximum for figure in figures))


def _files(*suffixes: str) -> list[Path]:
    own = (path for path in sorted(PRODUCT.rglob("*")) if path.suffix in suffixes and "vendor" not in path.parts)
    return [path for path in own if "__pycache__" not in path.parts and "library" not in path.parts]


def _code(path: Path) -> int:
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    if path.suffix == ".py":
        for first, last in _docstrings(ast.parse(path.read_text("utf-8"))):
            lines[first - 1 : last] = [""] * (last - first + 1)
    return sum(1 for line in lines if line and not line.startswith(KINDS[path.suffix]))


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """The first and the last line of each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            yield node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno


def _sizes() -> Iterator[Figure]:
    files = _files(*KINDS)
    lines = sum(map(_code, files))
    yield Figure("files of product code", len(files), lines / 100)
    yield Figure("files per 1,000 lines of code", 1000 * len(files) / lines, 10)
    yield Figure("lines of product code", lines, 90_000)
    long = [line for path in _files(".html") for line in path.read_text("utf-8").splitlines() if len(line) > 160]
    yield Figure("lines of templates above 160 characters", len(long), 20)


def _python() -> Iterator[Figure]:
    files = _files(".py")
    trees = {path: ast.parse(path.read_text("utf-8")) for path in files}
    imports = sum(
        node.end_lineno - node.lineno + 1
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and node.end_lineno
    )
    yield Figure("imports, % of lines of Python", 100 * imports / sum(map(_code, files)), 10.5)
    functions = [
        node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    yield Figure("functions with more than 6 parameters", sum(_parameters(each) > 6 for each in functions), 25)
    yield Figure(
        "lines of the longest function", max((each.end_lineno or 0) - each.lineno + 1 for each in functions), 70
    )
    names = Counter(node.id for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.Name))
    yield Figure("annotations with Any", names["Any"], 450)
    folders = Counter(path.parent for path in files if path.name != "__init__.py")
    yield Figure("folders with one or two modules", sum(count <= 2 for count in folders.values()), 0)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    of = function.args
    every = [*of.posonlyargs, *of.args, *of.kwonlyargs]
    return len([each for each in every if each.arg not in ("self", "cls")])


def _imports() -> Iterator[Figure]:
    graph = grimp.build_graph("crowdd", exclude_type_checking_imports=True)
    below = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    heights: dict[str, int] = {}
    left = dict(below)
    while ready := [module for module, imported in left.items() if not imported & left.keys()]:
        for module in ready:
            heights[module] = 1 + max((heights[each] for each in below[module]), default=0)
            del left[module]
    yield Figure("modules in circles of imports", len(left), 0)
    yield Figure("longest chain of imports", max(heights.values()), 24)


def _docs() -> Iterator[Figure]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    yield Figure(
        "words of the documents", sum(len(re.findall(r"\S+", page.read_text("utf-8"))) for page in pages), 110_000
    )
    records = [page for page in (ROOT / "docs/decisions").glob("*.md") if page.name[0].isdigit()]
    yield Figure("decision records", len(records), 60)


if __name__ == "__main__":
    sys.exit(main())
