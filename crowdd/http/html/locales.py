"""The language of a page: the account's, else the cookie's, else the one that the browser asks for."""

from __future__ import annotations

from crowdd.http.request import Incoming
from crowdd.http.transport.request_headers import best_language
from crowdd.languages import NAMES

COOKIE = "language"


def preferred(incoming: Incoming) -> str:
    """What this browser prefers: its cookie, or the best of Accept-Language."""
    chosen = incoming.cookie(COOKIE)
    if chosen in NAMES:
        return chosen
    return best_language(incoming.header("accept-language"))


def locale_of(incoming: Incoming) -> str:
    """The language of an answer."""
    own = incoming.who.locale.replace("_", "-").partition("-")[0].lower() if incoming.who.signed_in else ""
    return own if own in NAMES else preferred(incoming)
