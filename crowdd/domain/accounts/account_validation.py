"""What is wrong with what people say of themselves: sentences for each field, none when all is well."""

from __future__ import annotations

import re

from crowdd.domain.mail.message import plain_address
from crowdd.errors import ConflictError, InvalidValueError
from crowdd.kinds.user import USER
from crowdd.languages import _

Mistakes = dict[str, list[str]]

MAX_PASSWORD_LENGTH = 1000
EXAMPLES = "examples"  # owns projects that were loaded before there was anybody
# First segments of addresses below /account/ that are pages, not people; and the one account that is nobody's.
RESERVED_NAMES = frozenset(
    {
        "page", "register", "signin", "signout", "forgot-password", "reset-password", "profile", "newsletter",
        "confirm-email", "save_metadata", "first-admin", "api", "export", "delete", "update", "projects", "sessions",
        "claim", "unlink", "prove", "passkey", "security", "password-strength", EXAMPLES,
    }
)  # fmt: skip


def found(mistakes: Mistakes) -> Mistakes:
    """Only the fields that have any."""
    return {field: sentences for field, sentences in mistakes.items() if sentences}


def name(text: str) -> list[str]:
    """The nickname: it becomes the address of a page."""
    return _length(text, 3, 35) or _plain_name(text)


def fullname(text: str) -> list[str]:
    """The name as others read it, on one line."""
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", text.strip()):
        return [_("Use a single line.")]
    return _length(text.strip(), 3, 100)


def email(address: str) -> list[str]:
    """An address that mail can be sent to."""
    try:
        host = plain_address(address).rpartition("@")[2]
    except InvalidValueError:
        host = ""
    return [] if "." in host and len(address) <= 254 else [_("Enter a valid e-mail address.")]


def password(text: str, again: str, min_length: int) -> tuple[list[str], list[str]]:
    """Mistakes of a new password, and of the same typed again."""
    return _length(text, min_length, MAX_PASSWORD_LENGTH), [] if again == text else [
        _("The two passwords do not match.")
    ]


def taken(error: ConflictError) -> Mistakes:
    """What a refused account is told: which of the things that must be unique is not."""
    if error.constraint == "account_email_addr":
        return {"email_addr": [_("An account with this e-mail address already exists.")]}
    return {"name": [_("This name is taken.")]}


def _length(text: str, minimum: int, maximum: int) -> list[str]:
    if not minimum <= len(text) <= maximum:
        return [_("Use %(minimum)s to %(maximum)s characters.", minimum=minimum, maximum=maximum)]
    return []


def _plain_name(text: str) -> list[str]:
    try:
        USER.field("name").parse(text)
    except InvalidValueError:
        return [_("Do not use spaces or any of / ? # %% & \\ < > \" '.")]
    if re.search(r"[$|@]", text):
        return [_("Do not use $, | or @.")]
    return [_("This name is reserved.")] if text.lower() in RESERVED_NAMES else []
