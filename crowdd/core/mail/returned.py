"""E-mails that come back: what a delivery status notification says of them (RFC 3464). Pure decisions.

Anybody can write to the address that e-mails come from. So a report counts only if it has the Message-ID of an e-mail
of ours, whose seal nobody else can make.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

import attrs

from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import email
    from email import policy
    from email.message import MIMEPart
else:
    email, policy = lazy("email"), lazy("email.policy")

MAX_BYTES: Final = 1_000_000
"""Of a report. It has the text of the e-mail, perhaps."""
_ID: Final = re.compile(r"<([0-9]{1,18})\.([0-9a-f]{20})@[^<>\s]{1,255}>")
_STATUS: Final = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}")
_OF_ADDRESS: Final = re.compile(r"5\.1\.[0-9]+|5\.2\.1")  # RFC 3463: there is no such mailbox, or it is switched off
_MAX_REASON: Final = 300

Seal = Callable[[int], str]
"""What only this site can make of the id of an e-mail: 20 hexadecimal digits."""


def sealed_by(key: bytes) -> Seal:
    """The seal of e-mails with a key."""
    return lambda mail_id: hmac.new(key, b"%d" % mail_id, hashlib.sha256).hexdigest()[:20]


@attrs.frozen
class Returned:
    """One e-mail that was not delivered. ``no_mailbox``: there is no such mailbox, and no other will be delivered."""

    mail_id: int
    reason: str
    no_mailbox: bool


def read_report(report: bytes, seal: Seal) -> Returned | None:
    """The e-mail of ours that a message reports as failed; None for any other message, however it is made up."""
    message = email.message_from_bytes(report[:MAX_BYTES], policy=policy.default)
    mail_id = _our_id(message, seal)
    failures = [each for each in _recipients(message) if _text(each, "action").lower() == "failed"]
    if mail_id is None or not failures:
        return None
    status = _STATUS.match(_text(failures[0], "status"))
    words = _text(failures[0], "diagnostic-code").partition(";")[2] or _text(failures[0], "diagnostic-code")
    reason = " ".join(filter(str.strip, [status[0] if status else "", *words.split()]))
    return Returned(mail_id, reason[:_MAX_REASON], bool(status and _OF_ADDRESS.fullmatch(status[0])))


def _recipients(message: MIMEPart) -> Iterator[MIMEPart]:
    """The part of each recipient in a report: groups of fields, of which the first is of the whole report."""
    for part in message.walk():
        if part.get_content_type() == "message/delivery-status" and part.is_multipart():
            yield from islice(part.iter_parts(), 1, None)


def _our_id(message: MIMEPart, seal: Seal) -> int | None:
    """The id of the e-mail of ours that comes along as a whole or with its headers only."""
    for part in message.walk():
        text = ""
        if part.get_content_type() == "text/rfc822-headers":
            text = str(part.get_payload())
        elif part is not message:
            text = f"Message-ID: {_text(part, 'message-id')}"
        for line in re.findall(r"(?im)^message-id:\s*(\S+)", text):
            named = _ID.fullmatch(line)
            if named is not None and hmac.compare_digest(seal(int(named[1])), named[2]):
                return int(named[1])
    return None


def _text(part: MIMEPart, name: str) -> str:
    return " ".join(str(part.get(name, "")).split())
