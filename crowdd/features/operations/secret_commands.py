"""``crowdctl secrets``: the keys that the server encrypts with."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, say, waiting
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_database, with_domain
from crowdd.core import secrets as root_keys
from crowdd.database import schema
from crowdd.database.pool import Pool
from crowdd.features.operations.keys import ALSO, KeyReplacement, KeyRotation, Loss
from crowdd.kernel.config import Settings, load
from crowdd.kernel.errors import ConfigError


@click.group(cls=Group)
def secrets() -> None:
    """Manage the keys in secret.key. The first line encrypts, all lines decrypt."""


@secrets.command("list")
@json_option
@click.pass_obj
def list_keys(config: Path | None, as_json: bool) -> None:
    """List the keys by their public ids, starting with the one that encrypts."""
    roots = _of_the_folder(load(config)).roots
    uses = ["encrypts and signs"] + ["decrypts"] * (len(roots) - 1)
    uses[-1] += ", hashes keys and addresses" if uses[-1] else ""
    rows = [{"id": root_keys.key_id(root).hex(), "use": use} for root, use in zip(roots, uses, strict=True)]
    listing(as_json, rows, ("id", "use"))


@secrets.command()
@yes_option
@json_option
@click.pass_obj
def add(config: Path | None, yes: bool, as_json: bool) -> None:
    """Add a new key as the first line of secret.key.

    Restart the server immediately, then run: crowdctl secrets rotate.
    """
    confirm(yes, "Running servers cannot read what the new key encrypts until they are restarted.")
    made = root_keys.add(load(config).data.dir)
    name = root_keys.key_id(made.root).hex()
    say(
        as_json, {"id": name}, f"Key {name} encrypts from now on. Restart the server, then run: crowdctl secrets rotate"
    )


@secrets.command()
@json_option
@click.pass_context
def rotate(ctx: click.Context, as_json: bool) -> None:
    """Encrypt every stored secret with the first key. The command can be interrupted and repeated.

    Exits with 1 if there are secrets that no key decrypts.
    """
    with waiting("Encrypting secrets", quiet=as_json):
        done = with_domain(ctx.obj, lambda house: KeyRotation(house.base.db, house.base.secrets).run())
    listing(as_json, [attrs.asdict(one) for one in done], ("table", "column", "changed", "unreadable"))
    ctx.exit(int(any(one.unreadable for one in done)))


@secrets.command()
@click.option("--new-key", is_flag=True, help="Replace or remove everything that depends on the lost key.")
@yes_option
@json_option
@click.pass_obj
def adopt(config: Path | None, new_key: bool, yes: bool, as_json: bool) -> None:
    """Show what stops working without the previous key file, or continue with a new one.

    Use this if secret.key is lost, or if its last line was removed on purpose. Stop the server first. Nothing is
    changed unless you use --new-key.
    """
    settings = load(config)
    if new_key:
        confirm(yes, "Everything that depends on the lost key stops working. To list it: crowdctl secrets adopt")
    lost = with_database(config, lambda pool: _adopt(settings, pool, new_key))
    if lost is None:
        say(as_json, {"needed": False, "done": False, "losses": []}, "The key file belongs to this database.")
        return
    sentences = [loss.sentence() for loss in lost]
    end = (
        "The database now uses this key file. Start the server."
        if new_key
        else "Nothing was changed. To continue: --new-key"
    )
    rows = [attrs.asdict(loss) for loss in lost]
    say(as_json, {"needed": True, "done": new_key, "losses": rows}, *sentences, ALSO, end)


async def _adopt(settings: Settings, pool: Pool, new_key: bool) -> list[Loss] | None:
    """What is lost; None when the keys fit."""
    (await schema.status(pool)).require()
    folder = settings.data.dir
    replacement = KeyReplacement(pool, folder, root_keys.load(folder))
    try:
        if not await replacement.needed():
            return None
        return await (replacement.run() if new_key else replacement.losses())
    finally:
        root_keys.forget_candidate(folder)


def _of_the_folder(settings: Settings) -> root_keys.Secrets:
    folder_secrets = root_keys.existing(settings.data.dir)
    if folder_secrets is None:
        raise ConfigError(f"{settings.data.dir} has no {root_keys.FILE}.")
    return folder_secrets
