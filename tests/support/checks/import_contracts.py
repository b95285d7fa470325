"""Contracts of ``lint-imports`` that count imports by name, as ``pyproject.toml`` lists them.

Some modules import others with ``import_module`` or ``lazy``, or find the modules of a folder. The linter does not see
such imports. These contracts add them before they check.
"""

from __future__ import annotations

import ast
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


def _named_in(module: str) -> Iterator[tuple[str | None, int]]:
    """The modules that a module imports by name, with the line; None for a name that is not a constant."""
    path = Path(*module.split("."))
    file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
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
