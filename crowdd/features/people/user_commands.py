"""``crowdctl user``: accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group, gathered
from crowdd.admin_cli.output import details, json_option, listing, say, watching
from crowdd.admin_cli.prompts import confirm, in_a_sentence, password_option, secret, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.feature import House
from crowdd.database.access import Row
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.accounts.validation import Registration
from crowdd.features.people.feature import PeopleFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.lookups import account
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.site.administration import MAX_FOUND
from crowdd.features.site.feature import SiteFeature
from crowdd.kernel.errors import ConflictError, CrowddError, FormError
from crowdd.kernel.requester import SYSTEM

_LIST = ("id", "name", "fullname", "email_addr", "created", "admin", "restrict")
_SHOW = (*_LIST, "locale", "valid_email", "has_password", "privacy_mode", "subscribed", "n_answers", "rank")


@click.group(cls=Group)
def user() -> None:
    """Manage accounts, their API keys and passwords.

    WHO is an id, a user name or an e-mail address.
    """


@user.command("list")
@click.option(
    "--search",
    metavar="WORDS",
    help=f"Only accounts with these words in the names or the address (at most {MAX_FOUND}).",
)
@click.option("--after", type=int, default=0, metavar="ID", help="Only ids above this one (for the next page).")
@click.option("--limit", type=click.IntRange(1, 50_000), default=100, show_default=True, help="Maximum number of rows.")
@json_option
@click.pass_obj
def list_users(config: Path | None, search: str | None, after: int, limit: int, as_json: bool) -> None:
    """List or search accounts, by id."""

    async def work(house: House) -> Sequence[Row]:
        if search is not None:
            accounts = await house[SiteFeature].administration.found(search, SYSTEM)
            return [row for row in accounts if row["id"] > after][:limit]
        return await house[SiteFeature].administration.exported(after, SYSTEM, limit)

    listing(as_json, with_domain(config, work), _LIST)


@user.command()
@click.argument("who")
@json_option
@click.pass_obj
def show(config: Path | None, who: str, as_json: bool) -> None:
    """Show the account WHO and the short names of the projects that it owns or co-owns."""

    async def work(house: House) -> dict[str, object]:
        account_page = await account(house[AccountsFeature].accounts, who)
        owned = [
            project["short_name"] for project in await house[ProjectsFeature].projects.of_owner(account_page["id"])
        ]
        row: Mapping[str, object] = account_page
        return {**{name: row[name] for name in _SHOW}, "projects": owned}

    details(as_json, with_domain(config, work))


@attrs.frozen
class _Person:
    name: str
    email: str
    fullname: str | None
    locale: str


@user.command()
@click.option("--name", required=True, help="Nickname.")
@click.option("--email", required=True, help="E-mail address.")
@password_option
@click.option("--fullname", help="Full name (default: the user name).")
@click.option("--locale", default="en", show_default=True, help="Language of pages and e-mails.")
@json_option
@click.pass_obj
@gathered("person", _Person)
def create(config: Path | None, person: _Person, password: str | None, as_json: bool) -> None:
    """Create an account and print its API key."""
    form = registration(person.name, person.fullname, person.email, password)
    done = with_domain(config, lambda house: _create(house, form, person.locale))
    say(as_json, done, f"Created {person.name}, id {done['id']}.", f"API key: {done['api_key']}")


@user.command()
@click.option("--name", required=True, help="Nickname.")
@click.option("--email", required=True, help="E-mail address.")
@click.option("--fullname", help="Full name (default: the user name).")
@click.option("--locale", default="en", show_default=True, help="Language of pages and e-mails.")
@json_option
@click.pass_obj
@gathered("person", _Person)
def invite(config: Path | None, person: _Person, as_json: bool) -> None:
    """Create an account without a password, and print the link with which the person chooses one.

    If the link has expired: crowdctl user reset-password WHO --link, or --email.
    """
    form = Registration(person.name, person.fullname or person.name, person.email, "", "")

    async def work(house: House) -> dict[str, object]:
        await _create(house, form, person.locale, passwordless=True)
        return await _reset_link(house, person.name)

    done = with_domain(config, work)
    say(as_json, done, str(done["link"]))


@user.command()
@click.argument("who")
@json_option
@click.pass_obj
def block(config: Path | None, who: str, as_json: bool) -> None:
    """Block the account WHO and sign it out everywhere."""
    _restrict(config, who, True, as_json)


@user.command()
@click.argument("who")
@json_option
@click.pass_obj
def unblock(config: Path | None, who: str, as_json: bool) -> None:
    """Unblock the account WHO."""
    _restrict(config, who, False, as_json)


@user.command("reset-api-key")
@click.argument("who")
@json_option
@click.pass_obj
def reset_api_key(config: Path | None, who: str, as_json: bool) -> None:
    """Give the account WHO a new API key and print it. The old key stops working at once."""

    async def work(house: House) -> dict[str, object]:
        row = await account(house[AccountsFeature].accounts, who)
        key = await house[AccountsFeature].accounts.reset_api_key(row["id"], SYSTEM)
        return {"id": row["id"], "name": row["name"], "api_key": key}

    done = with_domain(config, work)
    say(as_json, done, f"API key of {done['name']}: {done['api_key']}")


@user.command("reset-password")
@click.argument("who")
@click.option("--email", is_flag=True, help="Send an e-mail with a reset link instead, and change nothing.")
@click.option("--link", is_flag=True, help="Print a reset link instead, and change nothing.")
@password_option
@json_option
@click.pass_obj
def reset_password(config: Path | None, who: str, email: bool, link: bool, password: str | None, as_json: bool) -> None:
    """Give the account WHO a new password and end its sessions. The person is notified by e-mail.

    With --email or --link the person chooses the password.
    """
    if link:
        made = with_domain(config, lambda house: _reset_link(house, who))
        say(as_json, made, str(made["link"]))
        return
    word = None if email else secret(password)
    done = with_domain(config, lambda house: _reset_password(house, who, word))
    outcome = "has a new password" if word is not None else "has been sent a link to choose a new password"
    say(as_json, done, f"{done['name']} {outcome}.")


@user.command("remove-factors")
@click.argument("who")
@yes_option
@json_option
@click.pass_obj
def remove_factors(config: Path | None, who: str, yes: bool, as_json: bool) -> None:
    """Remove all second factors of the account WHO: authenticator app, passkeys and recovery codes.

    Use this for people who lost them. Check first that the request really comes from that person. Afterwards the
    password alone is enough to sign in. The person is notified by e-mail.
    """
    confirm(yes, f"Without a second factor, the password alone opens the account {who}.")

    async def work(house: House) -> dict[str, object]:
        row = await account(house[AccountsFeature].accounts, who)
        removed = await house[SigninFeature].second_factors.remove_all(row["id"], SYSTEM)
        return {"id": row["id"], "name": row["name"], "removed": removed}

    done = with_domain(config, work)
    say(as_json, done, f"Removed {done['removed']} second factors of {done['name']}.")


@user.command()
@click.argument("who")
@yes_option
@json_option
@click.pass_obj
def delete(config: Path | None, who: str, yes: bool, as_json: bool) -> None:
    """Delete the account WHO. Its answers stay in their projects under a pseudonym.

    The account cannot sign in from now on. The running server, or the next one that starts, deletes its data in the
    background. Projects that the account owns must be transferred or deleted first.
    """
    confirm(yes, f"The account {who} and what belongs to it will be deleted.")
    done = with_domain(config, lambda house: _delete(house, who))
    say(as_json, done, f"{done['name']} is deleted. Its data is removed in the background: crowdctl queue list")


@user.command()
@click.argument("who")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write. It must not exist.",
)
@json_option
@click.pass_obj
def export(config: Path | None, who: str, target: Path, as_json: bool) -> None:
    """Write all data about WHO to a zip file, each table as JSON and as CSV."""
    with watching("Collecting rows", quiet=as_json) as report_progress:
        done = with_domain(config, lambda house: _export(house, who, target, report_progress))
    say(as_json, done, f"{done['rows']} rows of {done['name']} are in {target} ({done['bytes']} bytes).")


async def _create(house: House, form: Registration, locale: str, *, passwordless: bool = False) -> dict[str, object]:
    if locale not in house.base.languages.names:
        raise CrowddError(f"Language {locale} is not available. Languages: {', '.join(house.base.languages.names)}.")
    try:
        maker = attrs.evolve(SYSTEM, locale=locale)
        user_id = await house[AccountsFeature].accounts.register(form, maker, passwordless=passwordless)
    except FormError as error:
        raise in_a_sentence(error) from None
    key = house[AccountsFeature].accounts.api_key(await house[AccountsFeature].accounts.profile(user_id))
    return {"id": user_id, "name": form.name, "api_key": key}


def _restrict(config: Path | None, who: str, restrict: bool, as_json: bool) -> None:
    async def work(house: House) -> dict[str, object]:
        row = await account(house[AccountsFeature].accounts, who)
        change = house[SiteFeature].administration.block if restrict else house[SiteFeature].administration.unblock
        return {"id": row["id"], "name": row["name"], "changed": await change(row["id"], SYSTEM)}

    done = with_domain(config, work)
    say(as_json, done, f"{done['name']} is {'' if restrict else 'not '}blocked{'' if done['changed'] else ' already'}.")


async def _reset_password(house: House, who: str, word: str | None) -> dict[str, object]:
    row = await account(house[AccountsFeature].accounts, who)
    done = {"id": row["id"], "name": row["name"]}
    if word is None:
        if not await house[SigninFeature].recovery.write(row["id"]):
            raise ConflictError(f"{row['name']} is blocked and receives no e-mails.")
        await house[SiteFeature].administration.note("send_reset_link", "user", row["id"], SYSTEM)
        return {**done, "email": True}
    words, _ = await house[AccountsFeature].policy.mistakes(
        word, word, (row["name"], row["fullname"], row["email_addr"])
    )
    if words:
        raise CrowddError(f"password: {' '.join(words)}")
    await house[PeopleFeature].profiles.set_password(row["id"], word, SYSTEM)
    return {**done, "email": False}


async def _reset_link(house: House, who: str) -> dict[str, object]:
    row = await account(house[AccountsFeature].accounts, who)
    link = await house[SigninFeature].recovery.make_link(row, SYSTEM)
    return {"id": row["id"], "name": row["name"], "link": link}


async def _delete(house: House, who: str) -> dict[str, object]:
    row = await account(house[AccountsFeature].accounts, who)
    if owned := await house[PeopleFeature].account_deletion.obstacles(row["id"]):
        names = ", ".join(project["short_name"] for project in owned)
        raise ConflictError(
            f"{row['name']} owns projects: {names}.", hint="Transfer them first: crowdctl project transfer"
        )
    await house[PeopleFeature].account_deletion.begin(row, SYSTEM)
    return {"id": row["id"], "name": row["name"]}


async def _export(house: House, who: str, target: Path, show: Callable[[int], None]) -> dict[str, object]:
    async def show_done(done: int) -> None:
        show(done)

    row = await account(house[AccountsFeature].accounts, who)
    done = await house[PeopleFeature].personal_data.write_to(row["id"], target, SYSTEM, show_done)
    return {"id": row["id"], "name": row["name"], "file": str(target), **done}


def registration(name: str, fullname: str | None, email: str, password: str | None) -> Registration:
    """The form that a person would fill in to sign up."""
    word = secret(password)
    return Registration(name, fullname or name, email, word, word)
