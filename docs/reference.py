"""The pages of the site that are made of the code: commands, addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
from twisted.internet.task import Clock

from crowdd.admin_cli.main import STATUSES, main
from crowdd.core.secrets import Secrets
from crowdd.house import build_house
from crowdd.http.routing import Route
from crowdd.kernel.config import Settings
from crowdd.sched.nodes import Node
from crowdd.web import ProcessState, make_root


def write(folder: Path) -> None:
    """Writes every page."""
    folder.mkdir(exist_ok=True)
    for name, text in {"crowdctl": commands(), "addresses": addresses()}.items():
        (folder / f"{name}.md").write_text(text, "utf-8")


def commands() -> str:
    """Every command of crowdctl with its help and its options."""
    statuses = "\n".join(f"* {status}: {words}" for status, words in STATUSES.items())
    head = f"# Commands of crowdctl\n\n{main.help}\n\n```text\ncrowdctl {_usage(main)}\n```\n\n{_options(main)}\n"
    return "\n".join([head, f"Exit status:\n\n{statuses}\n", *_described(main, ())])


def _described(group: click.Group, path: tuple[str, ...]) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command, words = group.get_command(context, name), (*path, name)
        assert command is not None
        yield f"{'#' * (len(words) + 1)} {' '.join(words)}\n\n{_plain(command.help or '')}\n"
        if isinstance(command, click.Group):
            yield from _described(command, words)
        else:
            yield f"```text\ncrowdctl {' '.join(words)} {_usage(command)}\n```\n\n{_options(command)}"


def _usage(command: click.Command) -> str:
    return " ".join(command.collect_usage_pieces(click.Context(command)))


def _options(command: click.Command) -> str:
    """A table of the options, all but --help."""
    context = click.Context(command)
    records = [each.get_help_record(context) for each in command.params if isinstance(each, click.Option)]
    rows = [f"| `{_cell(names)}` | {_cell(words)} |" for names, words in filter(None, records)]
    return "\n".join(["| Option | |", "|---|---|", *rows, ""]) if rows else ""


def addresses() -> str:
    """Every address that a server answers, by what stands first in it."""
    found: dict[str, list[Route]] = {}
    for route in routes():
        found.setdefault(route.path.split("/")[1].partition("<")[0], []).append(route)
    parts = [
        "# Addresses",
        "Every address that a server answers. `/api/docs` of a running server says all about those of the API. Pages"
        " answer JSON as well, with `Content-Type: application/json` or `Accept`.",
    ]
    for first in sorted(found):
        parts += [f"## /{first}", "| Method | Address | |\n|---|---|---|\n" + "\n".join(map(_row, found[first]))]
    return "\n\n".join(parts) + "\n"


def routes() -> list[Route]:
    """Every route of a server, the same for any settings. Nothing is asked, so there is no database behind it."""
    clock: Any = Clock()
    nobody: Any = None
    house = build_house(clock, nobody, Settings(), Secrets(bytes(32)))
    root: Any = make_root(clock, house, ProcessState.begin(clock, house, Node.begin(house.base.settings)))
    return [route for methods in root.routes.values() for route in methods.values()]


def _row(route: Route) -> str:
    handler = route.handler.func if isinstance(route.handler, partial) else route.handler
    words = (handler.__doc__ or handler.__name__.replace("_", " ").capitalize()).strip()
    summary = route.operation.summary if route.operation else words.partition("\n")[0]
    # A docstring names what it carries out, for those who read the code.
    return f"| {route.method} | `{route.path}` | {_cell(re.sub(r' ?[(](interface:|record )[^)]*[)]', '', summary))} |"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Help as Markdown: its words are no mark-up."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n")).replace("<", "&lt;")


def names_of_commands() -> list[str]:
    """Every command and group, as one types it."""
    return [line.lstrip("# ") for line in commands().splitlines() if line.startswith("##")]


__all__ = ["addresses", "commands", "names_of_commands", "write"]
