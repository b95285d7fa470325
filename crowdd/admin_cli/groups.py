"""A group of commands, with a list that says a whole sentence of each."""

from __future__ import annotations

import click


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
