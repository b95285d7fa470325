"""Coming in: who may be here, and the cookies of somebody who is signed in."""

from __future__ import annotations

from crowdd.domain.domain import Domain
from crowdd.domain.people.identities import ProviderIdentity
from crowdd.errors import AnonymousError, ForbiddenError
from crowdd.http.answers import Answer, Redirect
from crowdd.http.cookies import NEWCOMER, SESSION, VOLUNTEER, Cookies
from crowdd.http.forms import local
from crowdd.http.incoming import Incoming
from crowdd.storage.database import Row

_DAY = 86400


class Entry:
    """Opens and closes sessions of browsers."""

    def __init__(self, domain: Domain, cookies: Cookies) -> None:
        self._people, self.cookies = domain.people, cookies
        self._seconds = domain.settings.accounts.session_days * _DAY
        self._by_cookie = domain.settings.volunteers.anonymous == "cookie"

    async def enter(self, incoming: Incoming, user_id: int, flash: str) -> Answer:
        """Opens a session under a new token, whatever the browser had before."""
        token = await self._people.sessions.open(user_id, incoming.header("user-agent"), incoming.who)
        self.cookies.set(incoming, SESSION, token, seconds=self._seconds)
        self.cookies.remember(incoming, user_id)
        return Redirect(next_address(incoming), flash)

    async def leave(self, incoming: Incoming) -> None:
        """Ends the session of this browser."""
        await self._people.sessions.close(incoming.who)
        self.forget(incoming)

    def forget(self, incoming: Incoming) -> None:
        """Takes the cookie of a session that has ended."""
        self.cookies.drop(incoming, SESSION)

    def newcomer(self, incoming: Incoming) -> ProviderIdentity | None:
        """Whom a provider sent to this browser, while he has no account yet."""
        text = self.cookies.sealed(incoming, NEWCOMER)
        return ProviderIdentity.unpacked(text) if text else None

    def volunteer(self, incoming: Incoming) -> str:
        """Who this browser is without an account; "" when it is nobody."""
        return self.cookies.signed(incoming, VOLUNTEER) if self._by_cookie else ""


def next_address(incoming: Incoming, fallback: str = "/") -> str:
    """Where to go after this: ``next`` as far as it leads to a page of this site."""
    return local(incoming.query.get("next", "") or (incoming.field("next") if incoming.changes_state else ""), fallback)


def me(incoming: Incoming) -> int:
    """The signed-in person; AnonymousError when nobody is."""
    if incoming.who.user_id is None:
        raise AnonymousError("Sign in first.")
    return incoming.who.user_id


async def own_account(domain: Domain, incoming: Incoming, name: str, *, admins: bool = True) -> Row:
    """The record of the account that an address names, for its person and (unless told otherwise) administrators."""
    mine = me(incoming)
    found = await domain.accounts.find_by_name(name)
    if found["id"] != mine and not (admins and incoming.who.admin):
        raise ForbiddenError("This is somebody else's account.")
    return await domain.accounts.profile(found["id"])
