"""The language in which somebody reads: that of the account, else of the cookie, else what the browser asks for."""

from __future__ import annotations

from crowdd.http.edge.headers import best_language
from crowdd.http.request import Incoming
from crowdd.kernel.languages import NAMES

LANGUAGE_COOKIE = "language"


def preferred_locale(incoming: Incoming) -> str:
    """What this browser prefers: its cookie, or the best of Accept-Language."""
    chosen = incoming.cookie(LANGUAGE_COOKIE)
    if chosen in NAMES:
        return chosen
    return best_language(incoming.header("accept-language"))


def text_language(incoming: Incoming) -> str:
    """The language in which the texts of projects are shown: that of a page; "" for programs, which get the source."""
    return "" if incoming.wants_json else locale_of(incoming)


def locale_of(incoming: Incoming) -> str:
    """The language of an answer."""
    own = incoming.who.locale.replace("_", "-").partition("-")[0].lower() if incoming.who.signed_in else ""
    return own if own in NAMES else preferred_locale(incoming)
