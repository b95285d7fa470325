"""Read the passphrase of a backup from a file, the environment or a terminal, never from the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from crowdd.domain.server.passphrase import MIN_CHARACTERS

Command = TypeVar("Command", bound=Callable[..., object])
VARIABLE = "CROWDD_BACKUP_PASSPHRASE"

passphrase_option: Callable[[Command], Command] = click.option(
    "--passphrase-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"File with the passphrase in its first line (default: {VARIABLE} in the environment, or a prompt).",
)
pg_bin_option: Callable[[Command], Command] = click.option(
    "--pg-bin",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of pg_dump and pg_restore (default: found automatically).",
)


def passphrase(named: Path | None, *, new: bool = False) -> str:
    """The passphrase. A new one is asked for twice and must be long enough. Raises UsageError."""
    word = _said(named, new)
    if new and len(word) < MIN_CHARACTERS:
        raise click.UsageError(f"The passphrase must have at least {MIN_CHARACTERS} characters.")
    return word


def _said(named: Path | None, new: bool) -> str:
    if named:
        return (named.read_text("utf-8").splitlines() or [""])[0]
    if word := os.environ.get(VARIABLE):
        return word
    if sys.stdin.isatty():
        return str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=new))
    raise click.UsageError(f"Missing passphrase: use --passphrase-file, or set {VARIABLE}.")
