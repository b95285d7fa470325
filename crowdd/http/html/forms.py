"""Forms of pages: values, errors and the CSRF token of their fields, and the names of a project's settings.

The template of the settings page is the one list of names: a setting that is added or renamed there has the same name
in the command palette.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypedDict
from urllib.parse import urlsplit

import attrs
from jinja2 import Environment, nodes

from crowdd.core.pictures import Box
from crowdd.http.auth.csrf import Csrf
from crowdd.http.request import Incoming
from crowdd.http.responses import Message
from crowdd.kernel.languages import _

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


TEMPLATE: Final = "project/settings.html"
_LINKS: Final = frozenset({"way"})  # macros whose first argument is an address below the project
_ANCHORS: Final = frozenset({"setting", "choice"})  # macros whose first argument is an id on the page


def setting_names(environment: Environment) -> list[tuple[str, str]]:
    """Pairs of a path below the project (``tasks/scheduler``, ``settings#webhook``) and the English name, once each."""
    assert environment.loader is not None
    source = environment.loader.get_source(environment, TEMPLATE)[0]
    names_by_path: dict[str, str] = {}
    for call in environment.parse(source).find_all(nodes.Call):
        for path, name in _setting(call):
            names_by_path.setdefault(path, name)
    return list(names_by_path.items())


def _setting(call: nodes.Call) -> Iterator[tuple[str, str]]:
    """The path and the name if this is a call of such a macro with both written out."""
    macro = call.node.attr if isinstance(call.node, nodes.Getattr) else ""
    if macro not in _LINKS | _ANCHORS or len(call.args) < 2:
        return
    path, name = _text(call.args[0]), _text(call.args[1])
    if path and name:
        yield (path if macro in _LINKS else f"settings#{path}"), name


def _text(node: nodes.Expr) -> str:
    """A text that is written out, marked for translation, or joined to the project's address; "" for anything else."""
    match node:
        case nodes.Const(value=str() as text):
            return text
        case nodes.Call(node=nodes.Name(name="_"), args=[nodes.Const(value=str() as text)]):
            return text
        case nodes.Concat(nodes=[nodes.Name(), nodes.Const(value=str() as text)]):
            return text
    return ""
