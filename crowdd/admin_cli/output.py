"""The output of commands: sentences and tables for people, JSON for programs."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

import attrs
import click
import orjson

from crowdd.kernel.lazy import lazy
from crowdd.kinds.kind import outward

if TYPE_CHECKING:
    from rich import cells as rich_cells
    from rich import console as rich_console
    from rich import progress, table

    from crowdd.core.findings import Finding
else:
    rich_console, progress, table = lazy("rich.console"), lazy("rich.progress"), lazy("rich.table")
    rich_cells = lazy("rich.cells")

Command = TypeVar("Command", bound=Callable[..., object])
# A pipe has no width, so lines are not wrapped.
_ENDLESS = 100_000

_WIDE = "crowdd.wide"
_MAX_CELL, _GAP = 100, 2
_SHOWN_AFTER = 2.0  # seconds


def _note_wide(ctx: click.Context, _option: click.Parameter, wide: bool) -> None:
    ctx.meta[_WIDE] = wide


def json_option(command: Command) -> Command:
    """Adds ``--json``, and ``--wide`` for tables: ``listing`` looks it up."""
    wide = click.option(
        "--wide", is_flag=True, expose_value=False, callback=_note_wide, help="Do not shorten the cells of tables."
    )
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(wide(command))


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
    """Print these columns of the rows, as a table or as JSON.

    The table fits into the terminal, and long cells end with "…". Without a terminal cells have up to 100 characters.
    With --wide, as in JSON, every value is whole.
    """
    chosen = [{name: outward(row[name]) for name in columns} for row in rows]
    if as_json:
        print_json(chosen)
        return
    cells = [columns, *([_cell(value) for value in row.values()] for row in chosen)]
    longest = [max(map(rich_cells.cell_len, column)) for column in zip(*cells, strict=True)]
    if sys.stdout.isatty():
        short = fitted(longest, shutil.get_terminal_size().columns)
    else:
        short = [min(width, _MAX_CELL) for width in longest]
    _print_table(cells, longest if _is_wide() else short)


def fitted(longest: Sequence[int], room: int) -> list[int]:
    """The widths of columns that fit into ``room``: those with long cells get what the others leave, in equal parts."""
    left, widths = room - _GAP * (len(longest) - 1), list(longest)
    for place, (width, index) in enumerate(sorted((width, index) for index, width in enumerate(longest))):
        widths[index] = min(width, max(left // (len(longest) - place), 1))
        left -= widths[index]
    return widths


def _is_wide() -> bool:
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_WIDE))


def _print_table(cells: Sequence[Sequence[str]], widths: Sequence[int]) -> None:
    made = table.Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for name, width in zip(cells[0], widths, strict=True):
        made.add_column(name, width=width, no_wrap=True, overflow="ellipsis")
    for row in cells[1:]:
        made.add_row(*row)
    rich_console.Console(markup=False, emoji=False, highlight=False, width=_ENDLESS).print(made)


def details(as_json: bool, values: Mapping[str, object]) -> None:
    """Print one object: its attributes below each other, or as JSON."""
    if as_json:
        print_json(values)
    else:
        made = table.Table("", "", box=None, pad_edge=False)
        for name, value in values.items():
            made.add_row(name, _cell(outward(value)))
        console().print(made)


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


@contextlib.contextmanager
def waiting(what: str, *, quiet: bool = False) -> Iterator[Callable[[], None]]:
    """From the third second on, a line on standard error says what is done and for how long, if that is a terminal.

    The function removes the line, for what is printed meanwhile.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    line, ended, began = Progress(quiet=False), Event(), time.monotonic()

    def show() -> None:
        while not ended.wait(_SHOWN_AFTER if time.monotonic() - began < _SHOWN_AFTER else 1):
            line(f"s: {what}", round(time.monotonic() - began))

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield line.end
    finally:
        ended.set()
        thread.join()
        line.end()


class Progress:
    """Shows how far something is: one line on standard error that is written over, on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        self.shown = not quiet and sys.stderr.isatty()

    def __call__(self, what: str, number: int) -> None:
        if self.shown:
            click.echo(f"\r\x1b[K{number:,} {what}", err=True, nl=False)

    def end(self) -> None:
        """Removes the line."""
        if self.shown:
            click.echo("\r\x1b[K", err=True, nl=False)
