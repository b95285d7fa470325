"""Questions that a command asks: a password, and a confirmation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import click

from crowdd.domain.accounts.registration import Registration
from crowdd.errors import CrowddError, FormError

Command = TypeVar("Command", bound=Callable[..., object])

yes_option: Callable[[Command], Command] = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
password_option: Callable[[Command], Command] = click.option(
    "--password", help="Password (default: asked for or read from standard input)."
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


def registration(name: str, fullname: str | None, email: str, password: str | None) -> Registration:
    """The form that a person would fill in to sign up."""
    word = secret(password)
    return Registration(name, fullname or name, email, word, word)


def in_a_sentence(error: FormError) -> CrowddError:
    """The errors of a form as one error."""
    sentences = (f"{field}: {' '.join(words)}" for field, words in error.errors.items() if field != "confirm")
    return CrowddError(" ".join(sentences))
