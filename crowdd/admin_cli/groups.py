"""Groups of commands, with a list that says a whole sentence of each, and options that belong together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import attrs
import click

Command = TypeVar("Command", bound=Callable[..., object])


class Group(click.Group):
    """Lists its commands with the first sentence of each; click would cut it off."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, first_sentence(command)) for name, command in sorted(self.commands.items())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def first_sentence(command: click.Command) -> str:
    """What a command does, in the words of its help."""
    paragraph = " ".join((command.help or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".") + "."


def gathered(name: str, options: type[attrs.AttrsInstance]) -> Callable[[Command], Command]:
    """Give a command the options and arguments that are fields of an attrs class as one value: ``name``."""
    fields = [field.name for field in attrs.fields(options)]

    def decorate(command: Command) -> Any:
        @functools.wraps(command)
        def run(*arguments: object, **values: object) -> object:
            chosen = options(**{field: values.pop(field) for field in fields})
            return command(*arguments, **{name: chosen}, **values)

        return run

    return decorate
