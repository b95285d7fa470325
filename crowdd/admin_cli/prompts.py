"""Questions that a command asks: a confirmation, a password, and the passphrase of a backup.

A passphrase comes from a file, the environment or the terminal, never from the command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from crowdd.core.passphrase import MIN_CHARACTERS
from crowdd.kernel.errors import CrowddError, FormError

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
    word = hidden(named, VARIABLE, "Passphrase", "--passphrase-file", twice=new)
    if new and len(word) < MIN_CHARACTERS:
        raise click.UsageError(f"The passphrase must have at least {MIN_CHARACTERS} characters.")
    return word


def hidden(named: Path | None, variable: str, prompt: str, option: str, *, twice: bool = False) -> str:
    """A secret from the first line of a file, from a variable or a terminal. Raises UsageError."""
    if named:
        return (named.read_text("utf-8").splitlines() or [""])[0]
    if word := os.environ.get(variable):
        return word
    if sys.stdin.isatty():
        return str(click.prompt(prompt, hide_input=True, confirmation_prompt=twice))
    raise click.UsageError(f"Missing {prompt.lower()}: use {option}, or set {variable}.")


yes_option: Callable[[Command], Command] = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
password_option: Callable[[Command], Command] = click.option(
    "--password",
    help="Password, which other users of this machine can see here (default: asked for or read from standard input).",
)


def confirm(yes: bool, sentence: str) -> None:
    """Return if ``yes`` is set or the user confirms. Without a terminal, raise UsageError."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{sentence} This cannot be undone. Confirm with --yes.")
    click.confirm(f"{sentence} This cannot be undone. Continue?", abort=True)


def secret(value: str | None) -> str:
    """The given password, else one typed twice at a terminal, else the first line of standard input."""
    if value is not None:
        return value
    if sys.stdin.isatty():
        return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise click.UsageError("Missing option '--password', and standard input is empty.")
    return line


def in_a_sentence(error: FormError) -> CrowddError:
    """The errors of a form as one error."""
    sentences = (f"{field}: {' '.join(words)}" for field, words in error.errors.items() if field != "confirm")
    return CrowddError(" ".join(sentences))
