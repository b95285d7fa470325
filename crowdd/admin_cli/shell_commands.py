"""``crowdctl completion`` and ``crowdctl man``: what shells complete, and manual pages."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from crowdd.admin_cli.output import json_option, say
from crowdd.kernel.files import find_shipped
from crowdd.kernel.lazy import lazy

click_man = lazy("click_man.core", seldom=True)
SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="bash: crowdctl completion bash > ~/.local/share/bash-completion/completions/crowdctl — "
    "zsh: crowdctl completion zsh > a folder of $fpath, as _crowdctl — "
    "fish: crowdctl completion fish > ~/.config/fish/completions/crowdctl.fish"
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and options of crowdctl in SHELL: bash, zsh or fish."""
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(ctx.find_root().command, {}, "crowdctl", "_CROWDCTL_COMPLETE").source())


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@json_option
@click.pass_context
def man(ctx: click.Context, directory: Path, as_json: bool) -> None:
    """Write the manual pages of crowdctl, one for each command, to the folder DIRECTORY.

    In ~/.local/share/man/man1 or /usr/local/share/man/man1, man crowdctl finds them.
    """
    directory.mkdir(parents=True, exist_ok=True)
    shipped = find_shipped("man")
    if shipped.is_dir():  # a release has them
        shutil.copytree(shipped, directory, dirs_exist_ok=True)
    else:
        _write(ctx.find_root(), directory)
    pages = sorted(path.name for path in directory.glob("crowdctl*.1"))
    say(as_json, {"pages": pages}, f"{len(pages)} pages are in {directory}.")


def _write(root: click.Context, directory: Path) -> None:
    try:
        click_man.write_man_pages("crowdctl", _whole(root), version=version("crowdd"), target_dir=str(directory))
    except ModuleNotFoundError:
        raise click.ClickException(
            "Only packages of releases have manual pages. To make them: pip install click-man"
        ) from None


def _whole(root: click.Context) -> click.Group:
    """crowdctl with all commands imported, and with what its own help says beside its docstring."""
    main = root.command
    assert isinstance(main, click.Group)
    commands = {name: command for name in main.list_commands(root) if (command := main.get_command(root, name))}
    more = click.HelpFormatter()
    main.format_epilog(root, more)
    return click.Group("crowdctl", commands, params=main.params, help=f"{main.help}\n\n{more.getvalue().strip()}")
