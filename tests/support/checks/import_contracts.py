"""Contracts of ``lint-imports`` that count imports by name, as ``pyproject.toml`` lists them.

Some modules import others with ``import_module`` or ``lazy``. The linter does not see such imports. These contracts add
them before they check, but for those of ``crowdctl`` and of the scheduler, which only find what features declare.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import grimp
from importlinter import Contract, ContractCheck, fields, output
from importlinter.application import contract_utils
from importlinter.contracts.layers import LayersContract

from crowdd.features import FEATURES

# What imports for others, by names that they give, or modules that are listed elsewhere by name.
_MACHINERY = {
    "crowdd.kernel.lazy",
    "crowdd.kernel.concurrency.isolated",
    "crowdd.sched.registry",
    "crowdd.admin_cli.main",
}


def add_imports_by_name(graph: grimp.ImportGraph) -> None:
    """Add to the graph what modules import by name. Raises ValueError for an import that nobody can follow."""
    for importer in sorted(module for module in graph.modules if module.partition(".")[0] == "crowdd"):
        for name, line in _named_in(importer):
            if name is None and importer not in _MACHINERY:
                raise ValueError(f"{importer}, line {line}: name the imported module by a constant.")
            if name is not None and name in graph.modules:
                graph.add_import(importer=importer, imported=name, line_number=line, line_contents=f"by name: {name}")


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


class FeatureLayers(Contract):
    """A feature imports only features before it in ``FEATURES``. Inside it the layers are rows, statements, rules, ``feature``, what shows them, and ``web``.

    The name of a module says what it is: ``rows``, ``*statements``, ``feature``, ``*pages``, ``*api``, ``*commands`` and
    ``views``, ``web``; every other one has rules. Nothing imports what another feature shows, but for ``open_views``,
    and only ``web`` imports the ``web`` of another feature.
    """

    root = fields.StringField()
    open_views = fields.ListField(subfield=fields.StringField())

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        add_imports_by_name(graph)
        owner = {
            module: nth for nth, name in enumerate(FEATURES) for module in graph.find_descendants(f"{self.root}.{name}")
        }
        broken = [f"{name} is not in FEATURES" for name in self._unknown(graph)]
        broken += [
            f"{importer} imports {imported}"
            for importer in sorted(owner)
            for imported in sorted(graph.find_modules_directly_imported_by(importer) & owner.keys())
            if not self._may(importer, imported, owner[importer] - owner[imported])
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def _unknown(self, graph: grimp.ImportGraph) -> list[str]:
        return sorted(graph.find_children(self.root) - {f"{self.root}.{name}" for name in FEATURES})

    def _may(self, importer: str, imported: str, further: int) -> bool:
        """``further``: how many features the importer stands after the other."""
        if further:
            if _height(imported) == WEB:
                return further > 0 and _height(importer) == WEB
            return further > 0 and (_height(imported) != SHOWN or imported in self.open_views)
        below = importer.count(".") > self.root.count(".") + 2
        return below or _height(importer) >= _height(imported)

    def render_broken_contract(self, check: ContractCheck) -> None:
        for words in check.metadata["broken"]:
            output.print_error(words)


ROWS, STATEMENTS, RULES, FEATURE, SHOWN, WEB = range(6)
_NAMED = {"rows": ROWS, "feature": FEATURE, "views": SHOWN, "web": WEB}


def _height(module: str) -> int:
    name = module.rpartition(".")[2]
    if name in _NAMED:
        return _NAMED[name]
    if name.endswith("statements"):
        return STATEMENTS
    return SHOWN if name.split("_")[-1] in ("pages", "api", "commands") else RULES


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
