"""``crowdctl``: crowdd from the command line, by the same rules as over the web."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from crowdd.errors import CrowddError
from crowdd.http.errors import message_of

USUAL_CONFIG = Path("etc/crowdd.conf")
# Each is an attribute of the module of the same name.
COMMANDS = ("admin", "check", "db", "jobs", "mail", "project", "queue", "serve", "user", "webhook")


class Crowdctl(click.Group):
    """Imports a command when it is asked for, and says in a sentence what the rules refuse."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"crowdd.admin_cli.{cmd_name}"), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CrowddError as error:
            raise click.ClickException(" ".join(filter(None, (message_of(error), error.hint)))) from None
        except OSError as error:
            raise click.ClickException(f"{error.filename or 'The system'}: {error.strerror or error}.") from None


@click.group(cls=Crowdctl, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c",
    "--config",
    envvar="CROWDD_CONFIG",
    type=click.Path(path_type=Path),
    help=f"The configuration file; {USUAL_CONFIG} where there is one, else only the environment counts.",
)
@click.version_option(package_name="crowdd", prog_name="crowdctl")
@click.pass_context
def main(ctx: click.Context, config: Path | None) -> None:
    """Runs crowdd and looks after it. Settings are those of the server, from the same file and environment."""
    ctx.obj = config or (USUAL_CONFIG if USUAL_CONFIG.is_file() else None)
    if ctx.obj:
        ctx.default_map = {"serve": {"config": str(ctx.obj)}}
