"""What commands print: sentences and tables for people, JSON for programs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
import orjson
from rich.console import Console
from rich.table import Table

from crowdd.kinds.kind import outward

Command = TypeVar("Command", bound=Callable[..., Any])
# A pipe has no width: lines are never broken there.
_ENDLESS = 100_000

json_option: Callable[[Command], Command] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def say(as_json: bool, value: Any, *lines: str) -> None:
    """Prints the value as JSON, or the lines."""
    if as_json:
        print_json(value)
    else:
        for line in lines:
            click.echo(line)


def print_json(value: Any) -> None:
    """Prints a value of JSON, indented, with times as the API writes them."""
    click.echo(orjson.dumps(value, default=outward, option=orjson.OPT_INDENT_2 | orjson.OPT_PASSTHROUGH_DATETIME))


def listing(as_json: bool, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Prints these columns of the rows, as a table or as JSON."""
    chosen = [{name: outward(row[name]) for name in columns} for row in rows]
    if as_json:
        print_json(chosen)
    else:
        table = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in chosen:
            table.add_row(*(_cell(value) for value in row.values()))
        console().print(table)


def console() -> Console:
    """Standard output, which takes all text as it is."""
    width = None if sys.stdout.isatty() else _ENDLESS
    return Console(markup=False, emoji=False, highlight=False, width=width)


def _cell(value: Any) -> str:
    """Names are other people's words: what steers a terminal is taken out."""
    words = {None: "", True: "yes", False: "no"}
    text = words[value] if isinstance(value, bool | None) else str(value)
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", text)
