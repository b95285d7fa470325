"""Write what documents say of the code: settings, errors, metrics, packages, JSON Schemas, and ``etc/crowdd.conf``.

    make documents            (python -m bench.release.documents)

A table is found by its header; the text around it is written by hand. ``tests/docs/test_documents.py`` fails while a
file is not what this program writes.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import orjson
from twisted.internet.task import Clock

from crowdd.features import FEATURES
from crowdd.features.operations.metrics import Metrics
from crowdd.http.errors import CODES
from crowdd.kernel import config
from crowdd.kinds.guides import GUIDES
from crowdd.kinds.questions import document_schema
from crowdd.kinds.task_rules import rules_schema

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "docs" / "projects" / "questions.schema.json"
SETTINGS, ERRORS, METRICS = (ROOT / "docs" / f"{name}.md" for name in ("configuration", "errors", "operations"))
EXAMPLE = ROOT / "etc" / "crowdd.conf"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
WIDTH = 120
# The source tree from the bottom up, as in pyproject.toml. What is no package stands behind the packages of its floor.
FLOORS: Final = ("kernel", "database", "kinds", "core", "sched", "http", "house", "admin_cli", "features")
PROGRAMS: Final = ("web", "app", "workers", "tap")
_NO_PACKAGE: Final = {
    "crowdd/database/schema": "Tables of release 0.1.0, by noun",
    "crowdd/database/migrations": "Later changes of tables, each run once",
    "crowdd/database/definitions": "Functions and views, replaced at upgrades",
    "crowdd/http/templates": "Layout, macros and error pages",
    "crowdd/http/static": "Scripts and style sheets",
}
_OUTSIDE: Final = {
    "twisted/plugins": "Registers `twistd crowdd`",
    "etc": "Example settings, systemd unit, pinned versions",
    "tests": "Tests; `tests/support` has what they share",
    "bench": "Load tests, measurements, release tools",
    "examples": "Complete projects",
    "clients/python": "`crowdd-client`, which imports nothing of `crowdd`",
    "docs": "Guides, `docs/interface` (the specification), `docs/decisions`",
    "deploy": "Other programs' settings for several servers",
    "changes": "Lines for the changelog since the last release",
}
_EXAMPLE_HEAD = """\
# Settings of crowdd, with their defaults. Delete the # to change one. Written by make documents.
# The environment overrides this file: CROWDD_<SECTION>_<OPTION>, such as CROWDD_HTTP_PORT=9000.
"""


def documents() -> dict[Path, str]:
    """What each file should contain."""
    return {
        EXAMPLE: example(),
        QUESTIONS: schema(document_schema()),
        **{QUESTIONS.with_name(f"{guide.name}.schema.json"): schema(guide.schema()) for guide in GUIDES},
        QUESTIONS.with_name("task_rules.schema.json"): schema(rules_schema()),
        SETTINGS: _with_settings(SETTINGS.read_text("utf-8")),
        ERRORS: with_table(ERRORS.read_text("utf-8"), ("Code", "Status", "`exception_cls`", "Meaning"), _errors()),
        METRICS: with_table(METRICS.read_text("utf-8"), ("Metric", "Labels", "Meaning"), _metrics()),
        CONTRIBUTING: with_table(CONTRIBUTING.read_text("utf-8"), ("Where", "What"), source_tree()),
    }


def schema(document: dict[str, Any]) -> str:
    """A JSON Schema as a file."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def stale() -> list[str]:
    """The files that do not contain what they should."""
    return [str(path.relative_to(ROOT)) for path, text in documents().items() if path.read_text("utf-8") != text]


def example() -> str:
    """``etc/crowdd.conf``: every setting with its default and what it is for."""
    lines = [_EXAMPLE_HEAD]
    for section in config.SECTIONS:
        lines.append(f"\n[{section}]\n")
        for of, option, meaning, default in config.options():
            if of == section:
                words = textwrap.wrap(meaning.replace("`", ""), WIDTH - 2, break_long_words=False)
                lines += [f"# {line}\n" for line in words] + [f"#{option} = {written(default)}".rstrip() + "\n"]
    return "".join(lines)


def written(default: Any) -> str:
    """A default as somebody would write it in the file."""
    if isinstance(default, bool):
        return "on" if default else "off"
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def with_table(page: str, header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """The page with these rows in place of those of its one table with this header. Raises ValueError without one."""
    head = _row(header)
    tables = re.findall(rf"^{re.escape(head)}\n\|[-|]+\|\n(?:\|.*\n)*", page, re.MULTILINE)
    if len(tables) != 1:
        raise ValueError(f"{len(tables)} tables begin with: {head}")
    made = "\n".join([head, "|" + "---|" * len(tuple(header)), *map(_row, rows)])
    return page.replace(tables[0], f"{made}\n")


def _row(cells: Iterable[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _with_settings(page: str) -> str:
    """Each section has a heading and a paragraph of its own; a new one is written first."""
    intro, *parts = re.split(r"^(?=## \[)", page, flags=re.MULTILINE)
    named = {part.partition("]")[0].removeprefix("## ["): part for part in parts}
    if set(named) != set(config.SECTIONS):
        raise ValueError(f"{SETTINGS.name} needs a heading for: {', '.join({*named} ^ {*config.SECTIONS})}")
    header = ("Setting", "Default", "Meaning")
    return intro + "".join(with_table(named[section], header, _settings(section)) for section in config.SECTIONS)


def source_tree() -> Iterable[tuple[str, str]]:
    """The packages of crowdd from the bottom up, each with what its docstring begins with, and other folders."""
    for floor in FLOORS:
        path = ROOT / "crowdd" / floor
        yield from _packages(path) if path.is_dir() else [_described(path.with_suffix(".py"))]
        yield from ((f"`{path}`", text) for path, text in _NO_PACKAGE.items() if path.split("/")[1] == floor)
    yield from (_described(ROOT / "crowdd" / f"{name}.py") for name in PROGRAMS)
    yield from ((f"`{path}`", text) for path, text in _OUTSIDE.items())


def _packages(folder: Path) -> Iterable[tuple[str, str]]:
    """A package, and those in it: features in their order, others by name."""
    yield _described(folder)
    inner = sorted(path.parent for path in folder.glob("*/__init__.py"))
    if folder.name == "features":
        inner.sort(key=lambda path: FEATURES.index(path.name))
    for path in inner:
        yield from _packages(path)


def _described(path: Path) -> tuple[str, str]:
    """A package or module, and the first sentence of its docstring; of a part of a floor or feature up to a colon."""
    name = str(path.relative_to(ROOT))
    source = (path / "__init__.py" if path.is_dir() else path).read_text("utf-8")
    sentence = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0].partition(". ")[0]
    is_part = (path.parents[1] / "__init__.py").is_file() and path.parent.name != "features"
    return f"`{name}`", (sentence.partition(": ")[0] if is_part else sentence).rstrip(".:").replace("``", "`")


def _settings(section: str) -> Iterable[tuple[str, ...]]:
    for of, option, meaning, default in config.options():
        if of == section:
            text = written(default)
            yield f"`{option}`", f"`{text}`" if text else "empty", meaning


def _errors() -> Iterable[tuple[str, ...]]:
    for code in sorted(CODES, key=lambda code: code.status):
        yield f"`{code.code}`", str(code.status), f"`{code.name}`", code.meaning


def _metrics() -> Iterable[tuple[str, ...]]:
    for metric in Metrics(Clock(), None, config.Settings()).declared:
        yield f"`{metric.name}`", ", ".join(f"`{label}`" for label in metric.labels), f"{metric.doc}."


def main() -> None:
    """Write every file."""
    for path, text in documents().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
