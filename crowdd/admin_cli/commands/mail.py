"""``crowdctl mail``: e-mails that were written."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.lookups import known
from crowdd.admin_cli.output import console, json_option, listing, print_json, say
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.services import Services
from crowdd.errors import CrowddError
from crowdd.requester import SYSTEM
from crowdd.storage.mail import WholeMail

_COLUMNS = ("id", "created", "state", "recipient", "template", "subject", "attempts", "due", "error")
_STATES = ("waiting", "held", "sent", "dead")


@click.group(cls=Group)
def mail() -> None:
    """Manage e-mails: waiting, sent, and held while mail is off ([mail] host).

    ID is the number of an e-mail in the list.
    """


@mail.command("list")
@click.option("--state", type=click.Choice(_STATES), help="Only e-mails in this state.")
@click.option("--limit", default=50, show_default=True, help="Maximum number of rows.")
@json_option
@click.pass_obj
def list_mails(config: Path | None, state: str | None, limit: int, as_json: bool) -> None:
    """List the latest e-mails, newest first."""
    listing(
        as_json,
        [attrs.asdict(row) for row in with_domain(config, lambda services: services.mail.list(limit, state))],
        _COLUMNS,
    )


@mail.command("show")
@click.argument("mail_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def show(config: Path | None, mail_id: int, as_json: bool) -> None:
    """Show one e-mail with its links. The text is deleted after sending."""
    row = with_domain(config, lambda services: known(services.mail.get(mail_id), f"E-mail {mail_id}"))
    if as_json:
        print_json(attrs.asdict(row))
        return
    text = row.text or "(sent, and its text was deleted)"
    head = f"To: {row.recipient}\nSubject: {row.subject}\nState: {row.state} {row.error}"
    console().print(plain(f"{head}\n\n{text}"))


@mail.command()
@click.argument("mail_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def send(config: Path | None, mail_id: int, as_json: bool) -> None:
    """Deliver an e-mail that is held or failed."""
    row = with_domain(config, lambda services: _again(services, mail_id))
    say(as_json, {"id": row.id, "state": row.state}, f"E-mail {mail_id} is waiting to be sent.")


@mail.command()
@click.argument("address")
@click.option("--locale", default="en", show_default=True, help="Language.")
@json_option
@click.pass_obj
def test(config: Path | None, address: str, locale: str, as_json: bool) -> None:
    """Send a test e-mail to ADDRESS. The server delivers it within seconds."""
    mail_id = with_domain(config, lambda services: _test(services, address, locale))
    say(as_json, {"id": mail_id}, f"E-mail {mail_id} is waiting to be sent: crowdctl mail show {mail_id}")


async def _again(services: Services, mail_id: int) -> WholeMail:
    row = await known(services.mail.again(mail_id), f"E-mail {mail_id}")
    await services.administration.note("send_again", "mail", mail_id, SYSTEM)
    return row


async def _test(services: Services, address: str, locale: str) -> int:
    mail_id = await services.mail.send(services.db, address, "test", {}, locale)
    if mail_id is None:
        raise CrowddError(f"Too many e-mails were sent to {address} within an hour. Try again later.")
    return mail_id


def plain(text: str) -> str:
    """The text without what steers a terminal."""
    return "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in text)
