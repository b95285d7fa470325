"""The language of a page: the account's, else the cookie's, else the one that the browser asks for."""

from __future__ import annotations

from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from crowdd.http.request import Incoming
from crowdd.languages import NAMES, SOURCE

COOKIE = "language"


def preferred(incoming: Incoming) -> str:
    """What this browser prefers, whoever uses it: its cookie, or the best of Accept-Language."""
    chosen = incoming.cookie(COOKIE)
    if chosen in NAMES:
        return chosen
    asked = parse_accept_header(incoming.header("accept-language"), LanguageAccept)
    return asked.best_match(NAMES, SOURCE) or SOURCE


def locale_of(incoming: Incoming) -> str:
    """The language of an answer."""
    own = incoming.who.locale.replace("_", "-").partition("-")[0].lower() if incoming.who.signed_in else ""
    return own if own in NAMES else preferred(incoming)
