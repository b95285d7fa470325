"""The theme and the language that a browser prefers."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.core.records import Records
from crowdd.http.auth.cookies import YEAR, Cookies
from crowdd.http.auth.csrf import Csrf
from crowdd.http.html.forms import local
from crowdd.http.html.locales import COOKIE
from crowdd.http.request import Incoming
from crowdd.http.responses import Redirect, Response
from crowdd.http.routing import Route, post
from crowdd.kinds.user import USER
from crowdd.languages import Languages
from crowdd.requester import Requester


class Preferences:
    """``/preferences``."""

    def __init__(self, records: Records, languages: Languages, cookies: Cookies, csrf: Csrf) -> None:
        self._records, self._languages, self._cookies, self._csrf = records, languages, cookies, csrf

    def routes(self) -> Iterator[Route]:
        yield post("/preferences", self.preferences, csrf=False)

    async def preferences(self, incoming: Incoming) -> Response:
        """Stores theme and language for this browser, and the language for the account, which has precedence."""
        self._csrf.check_choice(incoming)
        theme, locale = incoming.field("theme"), incoming.field("locale")
        if "theme" in incoming.form:
            chosen = theme if theme in ("light", "dark") else ""
            self._cookies.set(incoming, "theme", chosen, seconds=YEAR if chosen else 0)
        if locale in self._languages.names:
            self._cookies.set(incoming, COOKIE, locale, seconds=YEAR)
            await self._store_locale(incoming.who, locale)
        return Redirect(local(incoming.field("next")))

    async def _store_locale(self, who: Requester, locale: str) -> None:
        if who.acting_user is not None and who.locale != locale:
            await self._records.change(USER, who, who.acting_user, {"locale": locale})
