"""``crowdctl``: its commands by the modules that have them, and errors as messages.

A command follows the same rules as the web.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import click
from click.shell_completion import CompletionItem

from crowdd.kernel.config import load, location
from crowdd.kernel.errors import CrowddError, UnavailableError

# A command creates hundreds of thousands of objects at startup and hardly any garbage. Collecting garbage would take a
# quarter of the startup time.
gc.set_threshold(100_000, 20, 100)

# The module of each command, which is imported when needed and has the command by its name, and its help.
COMMANDS = {
    "admin": ("crowdd.features.people.admin_commands", "Manage administrators."),
    "announcement": ("crowdd.features.site.commands", "Manage announcements of the site."),
    "audit": ("crowdd.features.operations.audit_commands", "Show the audit log and the security log."),
    "backup": (
        "crowdd.features.operations.backup_commands",
        "Back up everything to one file while the server runs.",
    ),
    "category": ("crowdd.features.site.commands", "Manage project categories."),
    "check": ("crowdd.features.operations.server_commands", "Recount every counter from the rows."),
    "completion": ("crowdd.admin_cli.shell_commands", "Print the completion script of a shell."),
    "config": ("crowdd.features.operations.config_commands", "Show, check and change the settings."),
    "db": ("crowdd.features.operations.database_commands", "Show and upgrade the version of the database."),
    "doctor": ("crowdd.features.operations.server_commands", "Check everything and report problems."),
    "drill": ("crowdd.features.operations.backup_commands", "Prove that a backup can be restored."),
    "import-pybossa": ("crowdd.features.movein.commands", "Move a PyBossa server in."),
    "import-zooniverse": (
        "crowdd.features.movein.commands",
        "Import the exports of a Zooniverse project.",
    ),
    "jobs": ("crowdd.features.operations.work_commands", "Manage periodic jobs."),
    "mail": ("crowdd.features.operations.work_commands", "Manage e-mails."),
    "man": ("crowdd.admin_cli.shell_commands", "Write the manual pages of crowdctl."),
    "media": ("crowdd.features.media.commands", "Move the media files of projects to S3."),
    "nodes": ("crowdd.features.operations.database_commands", "List the servers that run on the database."),
    "project": ("crowdd.features.projects.commands", "Manage projects."),
    "queue": ("crowdd.features.operations.work_commands", "Manage background tasks."),
    "restore": ("crowdd.features.operations.backup_commands", "Restore a backup."),
    "secrets": ("crowdd.features.operations.secret_commands", "Manage encryption keys."),
    "serve": ("crowdd.admin_cli.serve", "Start everything and serve until Ctrl-C."),
    "site": ("crowdd.features.site.commands", "Manage settings of the site."),
    "template": ("crowdd.features.gallery.commands", "Manage project templates."),
    "user": ("crowdd.features.people.user_commands", "Manage accounts."),
    "webhook": ("crowdd.features.webhooks.commands", "Manage webhooks and their deliveries."),
}
# What later features add to a group: the names of commands in their modules.
ADDED_COMMANDS = {
    "project": {
        "crowdd.features.batches.commands": ("add_media", "import_"),
        "crowdd.features.snapshots.commands": ("snapshot",),
        "crowdd.features.gallery.commands": ("load", "export"),
    },
}
TEMPORARY = 3
STATUSES = {
    0: "The command succeeded.",
    1: "The command failed, was refused or interrupted, or found a problem.",
    2: "The command line is not valid.",
    TEMPORARY: "The database is unavailable or too busy. Try again later.",
}


def _plain(command: str) -> str:
    """The name of a command in Python."""
    return command.replace("-", "_")


class Crowdctl(click.Group):
    """Imports a command when it is needed, and prints an error of the rules as a sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(_imported(COMMANDS[cmd_name][0]), _plain(cmd_name))
        for module, names in ADDED_COMMANDS.get(cmd_name, {}).items():
            assert isinstance(command, click.Group)
            for name in names:
                command.add_command(getattr(_imported(module), name))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, says) for name, (_, says) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands without importing them, and options as click does."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=says) for name, (_, says) in COMMANDS.items() if name.startswith(incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Explain the exit statuses."""
        with formatter.section("Exit status"):
            formatter.write_dl([(str(status), says) for status, says in STATUSES.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except CrowddError as error:
            raise _refusal(error, ctx.obj) from None
        except OSError as error:
            words = f"{error.filename or 'The system'}: {error.strerror or error}."
            raise Refusal(words, ctx.obj) from None


def _imported(name: str) -> ModuleType:
    """Import a module, and exempt it from garbage collection, above all when the process exits."""
    module = import_module(name)
    gc.freeze()
    return module


class Refusal(click.ClickException):
    """A sentence that says what was wrong, and a second line with the configuration and the database."""

    def __init__(self, words: str, config: Path | None) -> None:
        super().__init__(words)
        self._config = config

    def show(self, file: IO[Any] | None = None) -> None:
        super().show(file)
        click.echo(_context(self._config), err=True)


class AwayRefusal(Refusal):
    """A temporary error: the command can be tried again."""

    exit_code = TEMPORARY


def _context(config: Path | None) -> str:
    """Which configuration and which database a command used."""
    files = f"Configuration: {location.describe_config(config, os.environ)}."
    try:
        return f"{files} Database: {location.describe_database(load(config))}."
    except CrowddError:
        return files


def _refusal(error: CrowddError, config: Path | None) -> Refusal:
    message_of = import_module("crowdd.http.errors").message_of
    words = " ".join(filter(None, (message_of(error), error.hint)))
    return (AwayRefusal if isinstance(error, UnavailableError) else Refusal)(words, config)


@click.group(cls=Crowdctl, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c",
    "--config",
    envvar=location.VARIABLE,
    type=click.Path(path_type=Path),
    help=f"Configuration file (default: {location.CHECKOUT_CONFIG} in a checkout, else {location.SYSTEM_CONFIG}).",
)
@click.version_option(package_name="crowdd", prog_name="crowdctl", help="Print the version.")
@click.pass_context
def main(ctx: click.Context, config: Path | None) -> None:
    """Run and manage crowdd. Settings come from the same file and environment as those of the server.

    To see which file and which database: crowdctl config where.
    """
    ctx.obj = location.find_config(config, os.environ, Path())
