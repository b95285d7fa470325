"""``crowdctl user``: accounts."""

from __future__ import annotations

from pathlib import Path

import click

from crowdd.admin_cli.output import json_option, say
from crowdd.admin_cli.running import with_domain
from crowdd.domain.domain import Domain
from crowdd.values import SYSTEM


@click.group()
def user() -> None:
    """Accounts."""


@user.command("reset-api-key")
@click.argument("name")
@json_option
@click.pass_obj
def reset_api_key(config: Path | None, name: str, as_json: bool) -> None:
    """Give the account NAME (or e-mail) a new API key and print it. The old one is worth nothing at once."""

    async def work(domain: Domain) -> dict[str, object]:
        row = await domain.accounts.find(name)
        key = await domain.accounts.reset_api_key(row["id"], SYSTEM)
        return {"id": row["id"], "name": row["name"], "api_key": key}

    done = with_domain(config, work)
    say(as_json, done, f"API key of {done['name']}: {done['api_key']}")
