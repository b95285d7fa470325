"""Forms of pages: the values of the fields, their errors, and the CSRF token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict
from urllib.parse import urlsplit

import attrs

from crowdd.domain.accounts.avatars import Box
from crowdd.http.auth.csrf import Csrf
from crowdd.http.request import Incoming
from crowdd.http.responses import Message
from crowdd.languages import _

CORRECT = _("Please correct the errors.")
MISTAKES: Final = Message(flash=CORRECT, status="error")
SECRET = frozenset({"password", "confirm", "current_password", "new_password"})


Form = dict[str, Any]
"""The values of the fields by name, ``errors`` (sentences by field) and ``csrf``, the token."""


class WithForm(TypedDict):
    """A page with a form."""

    form: Form


@attrs.frozen
class Forms:
    """Makes the ``form`` of a page."""

    csrf: Csrf

    def blank(self, incoming: Incoming, *names: str) -> Form:
        """An empty form."""
        return {**dict.fromkeys(names), "errors": {}, "csrf": self.csrf.token(incoming)}

    def filled(self, incoming: Incoming, **values: object) -> Form:
        """A form with values."""
        return {**values, "errors": {}, "csrf": self.csrf.token(incoming)}

    def refused(self, incoming: Incoming, errors: Mapping[str, list[str]], *names: str) -> Form:
        """A form as it was sent, with its errors. Passwords are not sent back."""
        values = {name: None if name in SECRET else incoming.field(name) for name in names}
        return {**values, "errors": dict(errors), "csrf": self.csrf.token(incoming)}


def crop_box(incoming: Incoming) -> Box | None:
    """The corners of a picture that a form names, None where one of them is missing or no number."""
    try:
        return Box(*(_corner(incoming.field(name)) for name in ("x1", "y1", "x2", "y2")))
    except ValueError:
        return None


def _corner(text: str) -> float:
    number = float(text)
    if not abs(number) < 1e9:  # NaN, too
        raise ValueError
    return number


def local(address: str, fallback: str = "/") -> str:
    """The address when it is a path of this site, else the fallback: ``next`` must not lead away."""
    if not address.startswith("/") or address[1:2] in ("/", "\\") or any(c <= " " or c in "\\\x7f" for c in address):
        return fallback
    try:
        parts = urlsplit(address)
    except ValueError:
        return fallback
    if parts.scheme or parts.netloc or not address.isprintable():
        return fallback
    return address
