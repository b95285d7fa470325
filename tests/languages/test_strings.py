"""The list of texts (``make strings``) has every kind of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crowdd.kernel.languages.strings import SourceText, main, texts

SOURCES = {
    "templates/page.html": "{% trans %}Publish project{% endtrans %}",
    "page.py": 'def page():\n    return ngettext("%(num)s task", "%(num)s tasks", 2)\n',
    "admin.py": (
        '@main.command()\n@click.option("--all", help="Every project.")\ndef serve(n):\n'
        '    """Start the server."""\n    click.echo(f"Started {n} workers.")\n'
    ),
    "errors.py": (
        'class LateError(CrowddError):\n    hint = "Try again later."\n\n\ndef check(value):\n'
        '    raise InvalidValueError(f"`n` must be a number (got {value}).", code="invalid_value")\n'
    ),
    "api.py": (
        'LIMIT = Parameter("limit", COUNT, f"Number of rows, at most {MAXIMUM}.")\nID = {"description": "Id of the row."}\n'
        'LIST = Operation(name="list", summary="List the rows", about="Returns an array.")\nhint = "Filter the rows."\n'
    ),
    "job.py": 'log.warn("job failed: name={name}", name=name)\n',
}


def test_strings_lists_every_kind_of_text(tmp_path: Path):
    for name, source in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    assert texts(tmp_path) == [
        SourceText("admin.py", 2, "help", "Every project."),
        SourceText("admin.py", 3, "help", "Start the server."),
        SourceText("admin.py", 5, "output", "Started {n} workers."),
        SourceText("api.py", 1, "doc", "Number of rows, at most {MAXIMUM}."),
        SourceText("api.py", 2, "doc", "Id of the row."),
        SourceText("api.py", 3, "doc", "List the rows"),
        SourceText("api.py", 3, "doc", "Returns an array."),
        SourceText("api.py", 4, "error", "Filter the rows."),
        SourceText("errors.py", 2, "error", "Try again later."),
        SourceText("errors.py", 6, "error", "`n` must be a number (got {value})."),
        SourceText("job.py", 1, "log", "job failed: name={name}"),
        SourceText("page.py", 2, "ui", "%(num)s task"),
        SourceText("page.py", 2, "ui", "%(num)s tasks"),
        SourceText("templates/page.html", 1, "ui", "Publish project"),
    ]


@pytest.mark.proof
def test_strings_prints_kind_place_and_text(capsys: pytest.CaptureFixture[str]):
    assert main() == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {len(row) for row in rows} == {3}
    assert {row[0] for row in rows} == {"ui", "help", "output", "doc", "error", "log"}
    assert all(re.fullmatch(r"[\w/.]+:\d+", row[1]) for row in rows)
