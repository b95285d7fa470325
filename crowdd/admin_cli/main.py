"""``crowdctl``: crowdd from the command line, by the same rules as over the web."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
from click.shell_completion import CompletionItem

from crowdd.errors import CrowddError, UnavailableError

# A command makes hundreds of thousands of objects while it starts and hardly any garbage: looking for it takes a
# quarter of the start.
gc.set_threshold(100_000, 20, 100)

USUAL_CONFIG = Path("etc/crowdd.conf")
# What the list of commands says of each; a command is an attribute of the module of its name, imported when needed.
COMMANDS = {
    "admin": "Manage administrators.",
    "announcement": "Manage announcements of the site.",
    "audit": "Show the audit log and the security log.",
    "backup": "Back up everything to one file while the server runs.",
    "category": "Manage categories of projects.",
    "check": "Recount every counter from the rows.",
    "completion": "Print a script that completes commands in a shell.",
    "config": "Show and check the settings.",
    "db": "Show or upgrade the version of the database.",
    "doctor": "Check the installation and print problems.",
    "jobs": "Manage periodic jobs.",
    "mail": "Manage e-mails.",
    "man": "Write the manual pages of crowdctl.",
    "project": "Manage projects.",
    "queue": "Manage background tasks.",
    "restore": "Restore a backup.",
    "secrets": "Manage the keys that the server encrypts with.",
    "serve": "Start everything and serve until Ctrl-C.",
    "user": "Manage accounts.",
    "webhook": "Manage webhooks of projects.",
}
GENERATED = frozenset(["completion", "man"])  # their modules are in commands/generated
TEMPORARY = 3
STATUSES = {
    0: "Success.",
    1: "Refused, failed or interrupted, or a problem was found.",
    2: "Invalid command or option.",
    TEMPORARY: "The database is unavailable or too busy. Try again later.",
}


class Crowdctl(click.Group):
    """Import a command when it is used, and print errors of the domain as one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = f"generated.{cmd_name}" if cmd_name in GENERATED else cmd_name
        command: click.Command = getattr(_imported(f"crowdd.admin_cli.commands.{module}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands are completed without importing them, options as ever."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=says) for name, says in COMMANDS.items() if name.startswith(incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Says what exit statuses mean."""
        with formatter.section("Exit status"):
            formatter.write_dl([(str(status), says) for status, says in STATUSES.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except CrowddError as error:
            raise _refusal(error) from None
        except OSError as error:
            raise click.ClickException(f"{error.filename or 'The system'}: {error.strerror or error}.") from None


def _imported(name: str) -> ModuleType:
    """The module. What is imported stays: no garbage is looked for in it, above all not at the end of the process."""
    module = import_module(name)
    gc.freeze()
    return module


class AwayError(click.ClickException):
    """An error that is not the fault of the command, which can be repeated."""

    exit_code = TEMPORARY


def _refusal(error: CrowddError) -> click.ClickException:
    message_of = import_module("crowdd.http.errors").message_of
    words = " ".join(filter(None, (message_of(error), error.hint)))
    return (AwayError if isinstance(error, UnavailableError) else click.ClickException)(words)


@click.group(cls=Crowdctl, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c",
    "--config",
    envvar="CROWDD_CONFIG",
    type=click.Path(path_type=Path),
    help=f"Configuration file (default: {USUAL_CONFIG} if it exists).",
)
@click.version_option(package_name="crowdd", prog_name="crowdctl", help="Print the version.")
@click.pass_context
def main(ctx: click.Context, config: Path | None) -> None:
    """Run and manage crowdd. Settings come from the same file and environment as those of the server."""
    ctx.obj = config or (USUAL_CONFIG if os.path.isfile(USUAL_CONFIG) else None)
    if ctx.obj:
        ctx.default_map = {"serve": {"config": str(ctx.obj)}}
