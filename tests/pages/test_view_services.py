"""A view says which services it takes, and they are few."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

CROWDD = Path(__file__).parents[2] / "crowdd"
MAX_SERVICES = 4
# What views have of other views: no services.
SHOWN = re.compile(r"(pages|api|views|frames|forms|identity)$")


def test_a_view_takes_at_most_four_services():
    """Services are classes of the domain; forms and what else http has of its own are not counted."""
    counts = {f"{path.stem}.{name}": len(services) for path in CROWDD.rglob("*.py") for name, services in views(path)}
    assert {name for name, count in counts.items() if count > MAX_SERVICES} == set()
    assert max(counts.values()) == MAX_SERVICES, "no view has been counted"


def views(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The views of a module, each with the classes of the domain that it takes."""
    tree = ast.parse(path.read_text("utf-8"))
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    domain = {
        name.name
        for node in imports
        if (node.module or "").startswith(("crowdd.core", "crowdd.features")) and not SHOWN.search(node.module or "")
        for name in node.names
    }
    for view in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        methods = {node.name: node for node in view.body if isinstance(node, ast.FunctionDef)}
        if "routes" in methods and "__init__" in methods:
            types = [each.annotation for each in methods["__init__"].args.args + methods["__init__"].args.kwonlyargs]
            yield view.name, [type_.id for type_ in types if isinstance(type_, ast.Name) and type_.id in domain]
