"""The output of commands: sentences and tables for people, JSON for programs."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import attrs
import click
import orjson

from crowdd.kernel.lazy import lazy
from crowdd.kinds.kind import outward

if TYPE_CHECKING:
    from rich import console as rich_console
    from rich import progress, table

    from crowdd.features.operations.doctor import Finding
else:
    rich_console, progress, table = lazy("rich.console"), lazy("rich.progress"), lazy("rich.table")

Command = TypeVar("Command", bound=Callable[..., object])
# A pipe has no width, so lines are not wrapped.
_ENDLESS = 100_000

json_option: Callable[[Command], Command] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def say(as_json: bool, value: object, *lines: str) -> None:
    """Print the value as JSON, or the lines."""
    if as_json:
        print_json(value)
    else:
        for line in lines:
            click.echo(line)


def report(as_json: bool, findings: Sequence[Finding], well: str) -> int:
    """Print what was found, and the sentence ``well`` if nothing of it is wrong; returns the exit status."""
    wrong = any(finding.wrong for finding in findings)
    sentences = [finding.sentence() for finding in findings]
    say(as_json, [attrs.asdict(finding) for finding in findings], *sentences, *([] if wrong else [well]))
    return int(wrong)


def print_json(value: object) -> None:
    """Print a value as indented JSON, with times as in the API."""
    click.echo(orjson.dumps(value, default=outward, option=orjson.OPT_INDENT_2 | orjson.OPT_PASSTHROUGH_DATETIME))


def listing(as_json: bool, rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    """Print these columns of the rows, as a table or as JSON."""
    chosen = [{name: outward(row[name]) for name in columns} for row in rows]
    if as_json:
        print_json(chosen)
    else:
        made = table.Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in chosen:
            made.add_row(*(_cell(value) for value in row.values()))
        console().print(made)


def details(as_json: bool, values: Mapping[str, object]) -> None:
    """Print one object: its attributes below each other, or as JSON."""
    if as_json:
        print_json(values)
    else:
        listing(False, [{"": name, " ": value} for name, value in values.items()], ("", " "))


@contextlib.contextmanager
def watching(what: str, total: int | None = None, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A function that shows the progress as a bar on standard error, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done: None
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    err = rich_console.Console(stderr=True, markup=False)
    with progress.Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def console() -> rich_console.Console:
    """Standard output, which prints text without interpreting it."""
    width = None if sys.stdout.isatty() else _ENDLESS
    return rich_console.Console(markup=False, emoji=False, highlight=False, width=width)


def _text(value: object) -> str:
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else str(value)


def _cell(value: object) -> str:
    """The text of a cell, without control characters, because users choose names."""
    words = {None: "", True: "yes", False: "no"}
    text = words[value] if isinstance(value, bool | None) else _text(value)
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", text)
