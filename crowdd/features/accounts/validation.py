"""Check the fields of an account and of a registration: sentences for each field, none when all is well."""

from __future__ import annotations

import re
from typing import Literal

import attrs

from crowdd.core.mail.message import plain_address
from crowdd.kernel.errors import ConflictError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kinds.names import RESERVED_NAMES, UnusableNameError
from crowdd.kinds.types import Type
from crowdd.kinds.user import USER

Mistakes = dict[str, list[str]]

MAX_PASSWORD_LENGTH = 1000


def select_mistakes(mistakes: Mistakes) -> Mistakes:
    """Only the fields that have any."""
    return {field: sentences for field, sentences in mistakes.items() if sentences}


def check_name(text: str) -> list[str]:
    """The nickname: it becomes the address of a page."""
    return _length(text, 2, 35) or _plain_name(text)


def check_fullname(text: str) -> list[str]:
    """The name as others read it, on one line. One character is a name."""
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", text.strip()):
        return [_("Use a single line.")]
    return _length(text.strip(), 1, 100) or check_characters(USER.field("fullname").type, text)


def check_characters(type_: Type, text: str) -> list[str]:
    """What is wrong with the characters of a name; none for what is wrong otherwise."""
    try:
        type_.parse(text)
    except UnusableNameError as error:
        return [error.sentence]
    except InvalidValueError:
        pass
    return []


def as_stored(type_: Type, text: str) -> str:
    """A name as it is stored, or the text where it cannot be one."""
    try:
        return str(type_.parse(text))
    except InvalidValueError:
        return text


def stored_name(text: str) -> str:
    """The nickname as it is stored."""
    return as_stored(USER.field("name").type, text)


def stored_fullname(text: str) -> str:
    """The full name as it is stored."""
    return as_stored(USER.field("fullname").type, text)


def check_email(address: str) -> list[str]:
    """An address that mail can be sent to."""
    try:
        host = plain_address(address).rpartition("@")[2]
    except InvalidValueError:
        host = ""
    return [] if "." in host and len(address) <= 254 else [_("Enter a valid e-mail address.")]


def check_password(text: str, again: str, min_length: int) -> tuple[list[str], list[str]]:
    """Mistakes of a new password, and of the same typed again."""
    return _length(text, min_length, MAX_PASSWORD_LENGTH), [] if again == text else [
        _("The two passwords do not match.")
    ]


def describe_taken(error: ConflictError) -> Mistakes:
    """What a refused account is told: which of the things that must be unique is not."""
    if error.constraint == "account_email_addr":
        return describe_taken_address()
    return {"name": describe_taken_name("alike" if error.constraint == "account_name_skeleton" else "same")}


def describe_taken_address() -> Mistakes:
    """What is said of the address of an account."""
    return {"email_addr": [_("An account with this e-mail address already exists.")]}


def describe_taken_name(by: Literal["same", "alike"] | None) -> list[str]:
    """What is said of a nickname that somebody has, or that looks like such a one; nothing (None) of a free one."""
    if by == "alike":
        return [_("This name looks like a name that is taken. Change more than letters that look the same.")]
    return [] if by is None else [_("This name is taken.")]


def _length(text: str, minimum: int, maximum: int) -> list[str]:
    if not minimum <= len(text) <= maximum:
        return [_("Use %(minimum)s to %(maximum)s characters.", minimum=minimum, maximum=maximum)]
    return []


def _plain_name(text: str) -> list[str]:
    if mistakes := check_characters(USER.field("name").type, text):
        return mistakes
    try:
        USER.field("name").parse(text)
    except InvalidValueError:
        return [_("Do not use spaces or any of / ? # %% & \\ < > \" '.")]
    if re.search(r"[$|@]", text):
        return [_("Do not use $, | or @.")]
    return [_("This name is reserved.")] if text.lower() in RESERVED_NAMES else []


@attrs.frozen
class Registration:
    """The fields of the sign-up form; ``invitation`` is the key of an invitation."""

    name: str = attrs.field(converter=stored_name)
    fullname: str = attrs.field(converter=stored_fullname)
    email_addr: str
    password: str = attrs.field(repr=False)
    confirm: str = attrs.field(repr=False)
    invitation: str = attrs.field(default="", repr=False)

    def mistakes(self, min_password_length: int | None) -> Mistakes:
        """What is wrong with it, per field; None: who comes from a provider has no password."""
        password, confirm = ([], []) if min_password_length is None else self._password(min_password_length)
        return select_mistakes(
            {
                "fullname": check_fullname(self.fullname),
                "name": check_name(self.name),
                "email_addr": check_email(self.email_addr),
                "password": password,
                "confirm": confirm,
            }
        )

    def _password(self, min_length: int) -> tuple[list[str], list[str]]:
        return check_password(self.password, self.confirm, min_length)
