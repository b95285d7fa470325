"""``crowdctl completion``: what completes commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

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
