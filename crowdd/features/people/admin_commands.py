"""``crowdctl admin``: administrators, and the link that creates the first one."""

from __future__ import annotations

from pathlib import Path

import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, say
from crowdd.admin_cli.prompts import in_a_sentence, password_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.feature import House
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.accounts.rows import Account
from crowdd.features.accounts.validation import Registration
from crowdd.features.people.user_commands import registration
from crowdd.features.projects.lookups import account
from crowdd.kernel.errors import ConflictError, FormError, NotFoundError
from crowdd.kernel.requester import SYSTEM

_COLUMNS = ("id", "name", "fullname", "email_addr", "created")


@click.group(cls=Group)
def admin() -> None:
    """Manage administrators.

    WHO is an id, a user name or an e-mail address.
    """


@admin.command()
@click.option("--name", required=True, help="Nickname.")
@click.option("--email", required=True, help="E-mail address.")
@password_option
@click.option("--fullname", help="Full name (default: the user name).")
@json_option
@click.pass_obj
def create(
    config: Path | None, name: str, email: str, password: str | None, fullname: str | None, as_json: bool
) -> None:
    """Create an administrator and print the API key.

    An existing account with this name and e-mail address becomes one and keeps its password.
    """
    form = registration(name, fullname, email, password)
    done = with_domain(config, lambda house: _create(house, form))
    verb = "Created" if done["created"] else "Found"
    say(as_json, done, f"{verb} administrator {name}, id {done['id']}.", f"API key: {done['api_key']}")


@admin.command()
@click.argument("who")
@json_option
@click.pass_obj
def add(config: Path | None, who: str, as_json: bool) -> None:
    """Make the account WHO an administrator."""
    done = with_domain(config, lambda house: _set(house, who, True))
    say(as_json, done, f"{done['name']} is an administrator{' now' if done['changed'] else ' already'}.")


@admin.command()
@click.argument("who")
@json_option
@click.pass_obj
def remove(config: Path | None, who: str, as_json: bool) -> None:
    """Remove administrator rights from the account WHO."""
    done = with_domain(config, lambda house: _set(house, who, False))
    say(
        as_json,
        done,
        f"{done['name']} is {'no longer an administrator' if done['changed'] else 'not an administrator'}.",
    )


@admin.command("list")
@json_option
@click.pass_obj
def list_admins(config: Path | None, as_json: bool) -> None:
    """List the administrators."""
    listing(as_json, with_domain(config, lambda house: house[AccountsFeature].accounts.admins()), _COLUMNS)


@admin.command()
@json_option
@click.pass_obj
def link(config: Path | None, as_json: bool) -> None:
    """Print a one-time link that creates the first administrator. Earlier links stop working."""
    url = with_domain(config, _link)
    say(as_json, {"url": url}, url or "There is an administrator already: sign in, or use crowdctl admin add.")


async def _create(house: House, form: Registration) -> dict[str, object]:
    existing = await _find(house, form)
    if existing is None:
        user_id = await _register(house, form)
    else:
        user_id = existing["id"]
        await house[AccountsFeature].accounts.set_admin(user_id, True, SYSTEM)
    key = house[AccountsFeature].accounts.api_key(await house[AccountsFeature].accounts.profile(user_id))
    return {"id": user_id, "name": form.name, "api_key": key, "created": existing is None}


async def _find(house: House, form: Registration) -> Account | None:
    try:
        row = await house[AccountsFeature].accounts.find(form.name)
    except NotFoundError:
        return None
    if row["email_addr"].lower() != form.email_addr.strip().lower():
        raise ConflictError(
            f"The account {row['name']} has another e-mail address.",
            hint=f"To make it an administrator: crowdctl admin add {row['name']}",
        )
    return row


async def _register(house: House, form: Registration) -> int:
    try:
        return await house[AccountsFeature].accounts.register(form, SYSTEM, admin=True)
    except FormError as error:
        raise in_a_sentence(error) from None


async def _set(house: House, who: str, wanted: bool) -> dict[str, object]:
    row = await account(house[AccountsFeature].accounts, who)
    changed = await house[AccountsFeature].accounts.set_admin(row["id"], wanted, SYSTEM)
    return {"id": row["id"], "name": row["name"], "admin": wanted, "changed": changed}


async def _link(house: House) -> str | None:
    key = await house[AccountsFeature].accounts.first_admin_link()
    return f"{house.base.settings.base_url}/account/first-admin?key={key}" if key else None
