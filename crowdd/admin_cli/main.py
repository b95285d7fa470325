"""``crowdctl``: manage crowdd from the command line, with the same rules as on the web."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
from click.shell_completion import CompletionItem

from crowdd.errors import CrowddError, UnavailableError

# A command creates hundreds of thousands of objects at startup and hardly any garbage. Collecting garbage would take a
# quarter of the startup time.
gc.set_threshold(100_000, 20, 100)

USUAL_CONFIG = Path("etc/crowdd.conf")
# The help of each command. A command is an attribute of the module of its name, which is imported when needed.
COMMANDS = {
    "admin": "Manage administrators.",
    "announcement": "Manage announcements of the site.",
    "audit": "Show the audit log and the security log.",
    "backup": "Back up everything to one file while the server runs.",
    "category": "Manage project categories.",
    "check": "Recount every counter from the rows.",
    "completion": "Print the completion script of a shell.",
    "config": "Show and check the settings.",
    "db": "Show and upgrade the version of the database.",
    "doctor": "Check everything and report problems.",
    "drill": "Prove that a backup can be restored.",
    "import-pybossa": "Move a PyBossa server in.",
    "import-zooniverse": "Import the exports of a Zooniverse project.",
    "jobs": "Manage periodic jobs.",
    "mail": "Manage e-mails.",
    "man": "Write the manual pages of crowdctl.",
    "media": "Move the media files of projects to S3.",
    "nodes": "List the servers that run on the database.",
    "project": "Manage projects.",
    "queue": "Manage background tasks.",
    "restore": "Restore a backup.",
    "secrets": "Manage encryption keys.",
    "serve": "Start everything and serve until Ctrl-C.",
    "shards": "Manage databases that projects live on.",
    "site": "Manage settings of the site.",
    "template": "Manage project templates.",
    "user": "Manage accounts.",
    "webhook": "Manage webhooks and their deliveries.",
}
# Folders below commands that have the modules of some.
FOLDERS = {
    **dict.fromkeys(("category", "template"), "catalogue"),
    **dict.fromkeys(("backup", "drill", "import-pybossa", "import-zooniverse", "media", "restore"), "copies"),
    **dict.fromkeys(("completion", "man"), "generated"),
    "project": "projects",
}
TEMPORARY = 3
STATUSES = {
    0: "The command succeeded.",
    1: "The command failed, was refused or interrupted, or found a problem.",
    2: "The command line is not valid.",
    TEMPORARY: "The database is unavailable or too busy. Try again later.",
}


def module_of(command: str) -> str:
    """The module of a command."""
    return ".".join(["crowdd.admin_cli.commands", *filter(None, [FOLDERS.get(command)]), _plain(command)])


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
        command: click.Command = getattr(_imported(module_of(cmd_name)), _plain(cmd_name))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands without importing them, and options as click does."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=says) for name, says in COMMANDS.items() if name.startswith(incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Explain the exit statuses."""
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
    """Import a module, and exempt it from garbage collection, above all when the process exits."""
    module = import_module(name)
    gc.freeze()
    return module


class AwayError(click.ClickException):
    """A temporary error: the command can be tried again."""

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
