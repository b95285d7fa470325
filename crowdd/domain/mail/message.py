"""An e-mail as it goes over the wire (RFC 5322), and addresses that may stand in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import attrs

from crowdd.domain.mail.rendering import RenderedMail
from crowdd.errors import InvalidValueError
from crowdd.languages import _
from crowdd.lazy import lazy

if TYPE_CHECKING:
    from email import headerregistry, policy, utils
    from email import message as email_message
else:
    headerregistry, policy, utils = lazy("email.headerregistry"), lazy("email.policy"), lazy("email.utils")
    email_message = lazy("email.message")

_LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")


@attrs.frozen
class Sender:
    """From whom e-mails come: ``name`` returns the name of the site, ``host`` is the name of this server."""

    name: Callable[[], str]
    address: str
    host: str


def plain_address(address: str) -> str:
    """An address that can be written to, with its domain in ASCII.

    Raises InvalidValueError for what is none, among it everything that could reach beyond its line.
    """
    local, _at, services = address.strip().rpartition("@")
    try:
        services = services.encode("idna").decode("ascii")
    except UnicodeError:
        services = ""
    if not (_LOCAL.fullmatch(local) and len(local) <= 64 and _DOMAIN.fullmatch(services)):
        raise InvalidValueError(_("E-mail cannot be sent to this address. Check it."))
    return f"{local}@{services}"


def compose(letter: RenderedMail, mail_id: int, recipient: str, sender: Sender, at: datetime) -> bytes:
    """The whole message, its lines ended by LF. Sent twice it has the same id, by which a mailbox may know it.

    No line begins with a dot. To SMTP a dot alone is the end of a message, and Twisted doubles those at the beginning
    of a line only within the same 16 KiB.
    """
    made = email_message.EmailMessage(policy=policy.SMTP.clone(linesep="\n"))
    made["From"] = headerregistry.Address(sender.name(), addr_spec=sender.address)
    made["To"] = headerregistry.Address(addr_spec=recipient)
    made["Subject"] = letter.subject
    made["Date"] = utils.format_datetime(at)
    made["Message-ID"] = f"<{mail_id}.{int(at.timestamp())}@{sender.host}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(letter.text, cte="quoted-printable")
    made.add_alternative(letter.html, subtype="html", cte="quoted-printable")
    # Only a line of a body can begin with one, and these are quoted-printable.
    return re.sub(rb"^\.", b"=2E", made.as_bytes(), flags=re.MULTILINE)
