"""Write what documents say of the code: ``etc/crowdd.conf``, the tables of settings, errors and metrics, JSON Schemas.

    make documents            (python -m bench.release.documents)

A table is found by its header; the text around it is written by hand. ``tests/docs/test_documents.py`` fails while a
file is not what this program writes.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from twisted.internet.task import Clock

from crowdd import config
from crowdd.http.error_codes import CODES
from crowdd.http.metrics import Metrics
from crowdd.kinds.guides import GUIDES
from crowdd.kinds.questions import document_schema

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "docs" / "projects" / "questions.schema.json"
SETTINGS, ERRORS, METRICS = (ROOT / "docs" / f"{name}.md" for name in ("configuration", "errors", "operations"))
EXAMPLE = ROOT / "etc" / "crowdd.conf"
WIDTH = 120
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
        SETTINGS: _with_settings(SETTINGS.read_text("utf-8")),
        ERRORS: with_table(ERRORS.read_text("utf-8"), ("Code", "Status", "`exception_cls`", "Meaning"), _errors()),
        METRICS: with_table(METRICS.read_text("utf-8"), ("Metric", "Labels", "Meaning"), _metrics()),
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
    header = ("Setting", "Environment", "Default", "Meaning")
    return intro + "".join(with_table(named[section], header, _settings(section)) for section in config.SECTIONS)


def _settings(section: str) -> Iterable[tuple[str, ...]]:
    for of, option, meaning, default in config.options():
        if of == section:
            text = written(default)
            yield (
                f"`{option}`",
                f"`CROWDD_{section.upper()}_{option.upper()}`",
                f"`{text}`" if text else "empty",
                meaning,
            )


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
