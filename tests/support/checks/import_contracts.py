"""Contracts of ``lint-imports`` that count imports by name, as ``pyproject.toml`` lists them.

Some modules import others with ``import_module`` or ``lazy``, or find the modules of a folder. The linter does not see
such imports. These contracts add them before they check.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import grimp
from importlinter import Contract, ContractCheck, fields, output
from importlinter.application import contract_utils
from importlinter.contracts.layers import LayersContract

# Modules that import all modules of a folder, or one that is named only at run time.
FINDERS = {
    "crowdd.sched.schedule": "crowdd.sched.jobs",
    "crowdd.sched.task_handlers": "crowdd.sched.tasks",
    "crowdd.domain.webhooks.events": "crowdd.domain.webhooks.events",
    "crowdd.admin_cli.main": "crowdd.admin_cli.commands",
}
# What imports for others, by names that they give.
_MACHINERY = {"crowdd.lazy", "crowdd.sched.discovery"}


def add_imports_by_name(graph: grimp.ImportGraph) -> None:
    """Add to the graph what modules import by name. Raises ValueError for an import that nobody can follow."""
    for importer in sorted(module for module in graph.modules if module.partition(".")[0] == "crowdd"):
        for name, line in _named_in(importer):
            if name is None and importer not in FINDERS and importer not in _MACHINERY:
                raise ValueError(f"{importer}, line {line}: name the imported modules in FINDERS.")
            if name is not None and name in graph.modules:
                graph.add_import(importer=importer, imported=name, line_number=line, line_contents=f"by name: {name}")
    for finder, package in FINDERS.items():
        for module in graph.find_children(package):
            graph.add_import(importer=finder, imported=module, line_number=1, line_contents=f"finds {package}.*")


@functools.cache
def _named_in(module: str) -> tuple[tuple[str | None, int], ...]:
    """The modules that a module imports by name, with the line; None for a name that is not a constant."""
    path = Path(*module.split("."))
    file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    return tuple(_calls(file.read_text("utf-8")))


def _calls(source: str) -> Iterator[tuple[str | None, int]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("import_module", "lazy"):
            name = node.args[0]
            yield (name.value if isinstance(name, ast.Constant) else None), node.lineno


class Layers(LayersContract):
    """The linter's layers, with imports by name."""

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        add_imports_by_name(graph)
        return super().check(graph, verbose)


class NoCircles(Contract):
    """No module imports itself over others. ``ignore_imports`` names imports for annotations only."""

    root = fields.StringField()
    ignore_imports = fields.SetField(subfield=fields.ImportExpressionField(), required=False)

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        add_imports_by_name(graph)
        contract_utils.remove_ignored_imports(
            graph=graph, ignore_imports=self.ignore_imports, unmatched_alerting=contract_utils.AlertLevel.ERROR
        )
        inside = {module for module in graph.modules if module.partition(".")[0] == self.root}
        circles = _circles({module: graph.find_modules_directly_imported_by(module) & inside for module in inside})
        return ContractCheck(kept=not circles, metadata={"circles": circles})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for circle in check.metadata["circles"]:
            output.print_error(f"These modules import each other: {', '.join(circle)}")


class Packages(Contract):
    """The modules of each package stand in layers, like "crowdd.kinds: project > * > kind | questions > types".

    Only imports inside the package count. Layers begin with the highest. Modules between "|" do not import each other, those between ":" may. "*" is each
    module that is not named. Each package below ``root`` with at least ``smallest`` modules has such a line, unless
    ``other_contracts`` names it.
    """

    root = fields.StringField()
    smallest = fields.IntegerField()
    layers = fields.ListField(subfield=fields.StringField())
    other_contracts = fields.ListField(subfield=fields.StringField())

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        add_imports_by_name(graph)
        lines = dict(tuple(map(str.strip, line.split(":", 1))) for line in self.layers)
        broken = [
            f"{package} has no layers"
            for package in sorted(graph.modules)
            if package.partition(".")[0] == self.root
            and len(graph.find_children(package)) >= self.smallest
            and package not in {*lines, *self.other_contracts}
        ]
        for package, line in lines.items():
            broken += _against_layers(graph, package, line)
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for words in check.metadata["broken"]:
            output.print_error(words)


def _against_layers(graph: grimp.ImportGraph, package: str, line: str) -> list[str]:
    """What is wrong with a package, in words."""
    children = {name.rpartition(".")[2] for name in graph.find_children(package)}
    parts = [[name.strip() for name in re.split(r"[|:]", part)] for part in line.split(">")]
    named = {name for part in parts for name in part} - {"*"}
    if unknown := named - children:
        return [f"{package} has no {', '.join(sorted(unknown))}"]
    rest = children - named
    if rest and ["*"] not in parts:
        return [f"{package}.{name} is in no layer" for name in sorted(rest)]
    heights, apart = dict[str, int](), set[str]()
    for height, (part, names) in enumerate(zip(line.split(">"), parts, strict=True)):
        members = rest if names == ["*"] else names
        heights |= dict.fromkeys(members, height)
        apart |= set() if ":" in part else set(members)
    return [
        f"{importer} imports {imported}, which does not stand below it"
        for importer, imported in sorted(_inside(graph, package))
        if heights[importer] > heights[imported] or (heights[importer] == heights[imported] and importer in apart)
    ]


def _inside(graph: grimp.ImportGraph, package: str) -> set[tuple[str, str]]:
    """Which children of a package import which others, themselves or by a module below them."""
    depth = package.count(".") + 1
    modules = [module for child in graph.find_children(package) for module in (child, *graph.find_descendants(child))]
    pairs = {
        (importer.split(".")[depth], imported.split(".")[depth])
        for importer in modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if imported.startswith(f"{package}.")
    }
    return {(importer, imported) for importer, imported in pairs if importer != imported}


class Importers(Contract):
    """No module is imported by more than ``maximum`` others, but for those in ``except_modules``."""

    root = fields.StringField()
    maximum = fields.IntegerField()
    except_modules = fields.ListField(subfield=fields.StringField())

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        add_imports_by_name(graph)
        counts = {
            module: len(graph.find_modules_that_directly_import(module))
            for module in graph.modules
            if module.partition(".")[0] == self.root and module not in self.except_modules
        }
        many = {module: count for module, count in counts.items() if count > self.maximum}
        return ContractCheck(kept=not many, metadata={"many": many})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for module, count in sorted(check.metadata["many"].items(), key=lambda each: -each[1]):
            output.print_error(f"{module} is imported by {count} modules (at most {self.maximum})")


def _circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules that reach each other, found by taking away modules that import or are imported by nobody."""
    left = dict(edges)
    while True:
        imported = {module for targets in left.values() for module in targets}
        ends = {module for module, targets in left.items() if not targets & left.keys() or module not in imported}
        if not ends:
            break
        left = {module: targets - ends for module, targets in left.items() if module not in ends}
    return [sorted(left)] if left else []
