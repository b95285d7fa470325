"""``crowdctl secrets``: the keys that the server encrypts with."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from crowdd.admin_cli.asking import confirm, yes_option
from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, say
from crowdd.admin_cli.running import with_domain
from crowdd.config import load
from crowdd.domain import secrets as keys
from crowdd.domain.resealing import Resealing
from crowdd.errors import ConfigError


@click.group(cls=Group)
def secrets() -> None:
    """The keys in secret.key: the first line seals, all lines open."""


@secrets.command("list")
@json_option
@click.pass_obj
def list_(config: Path | None, as_json: bool) -> None:
    """List the keys by their public ids, the one that seals first."""
    folder = load(config).data.dir
    if not (folder / keys.FILE).exists():
        raise ConfigError(f"There is no {keys.FILE} in {folder}.")
    roots = keys.load(folder).roots
    uses = ["seals and signs"] + ["opens"] * (len(roots) - 1)
    uses[-1] += ", finds and hides addresses" if uses[-1] else ""
    rows = [{"id": keys.key_id(root).hex(), "use": use} for root, use in zip(roots, uses, strict=True)]
    listing(as_json, rows, ("id", "use"))


@secrets.command()
@yes_option
@json_option
@click.pass_obj
def add(config: Path | None, yes: bool, as_json: bool) -> None:
    """Put a new key before the others.

    Start the server again at once, then run: crowdctl secrets rotate.
    """
    confirm(yes, "Running servers cannot read what the new key seals until they are started again.")
    made = keys.add(load(config).data.dir)
    name = keys.key_id(made.root).hex()
    say(as_json, {"id": name}, f"Key {name} seals from now on. Start the server again, then: crowdctl secrets rotate")


@secrets.command()
@json_option
@click.pass_context
def rotate(ctx: click.Context, as_json: bool) -> None:
    """Seal every stored secret with the first key. It can be broken off and begun again.

    Ends with 1 when there are secrets that no key opens.
    """
    done = with_domain(ctx.obj, lambda domain: Resealing(domain.db, domain.secrets).run())
    listing(as_json, [attrs.asdict(one) for one in done], ("table", "column", "changed", "unreadable"))
    ctx.exit(int(any(one.unreadable for one in done)))
