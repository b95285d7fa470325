"""Who asks: the one place where a request becomes a Requester."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypedDict

import attrs

from crowdd.core.recent_proof import Freshness
from crowdd.core.secrets import API_TOKEN_PREFIX, Secrets
from crowdd.core.security_log import SecurityLog
from crowdd.database.access import Row
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.sessions import Sessions
from crowdd.features.signin.api_tokens import ApiTokens
from crowdd.http.auth.cookies import SESSION, Cookies
from crowdd.http.auth.csrf import Csrf
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.reader_language import preferred_locale
from crowdd.http.request import Incoming
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import AnonymousError, ForbiddenError
from crowdd.kernel.languages import SOURCE
from crowdd.kernel.requester import Requester, draft_key, network
from crowdd.kernel.values import parse_number

_MAX_AGENT, _MAX_KEY = 200, 199
# Headers that say who asks, or for whom a page was made. A request without them is a stranger's, and most are.
_OF_SOMEBODY = frozenset({"authorization", "cookie", "x-draft-key", "x-presenter", "x-volunteer"})
# Where an API key speaks for its person. Elsewhere (settings, sessions, administration) only a session does.
_KEYED = re.compile(r"/(?:api|project)(?:/.*)?|/account/[^/]+/export(?:/.*)?", re.DOTALL)


class _Sender(TypedDict):
    """What a request says of its requester."""

    network: str
    agent: str
    unlocked: tuple[str, ...]
    via: str
    presenter: int | None


class _Person(TypedDict):
    """What the row of an account says of its requester."""

    user_id: int
    user_name: str
    fullname: str
    admin: bool
    locale: str
    access_version: int


@attrs.frozen
class Identity:
    """Finds the requester: API token, API key, session cookie, volunteer cookie, address (in this order)."""

    settings: Settings
    secrets: Secrets
    accounts: Accounts
    sessions: Sessions
    tokens: ApiTokens
    cookies: Cookies
    csrf: Csrf
    volunteers: VolunteerCookies
    security_log: SecurityLog

    async def find(self, incoming: Incoming, *, key_header: bool = True, renew: bool = True) -> Requester:
        """The requester; with a wrong key an anonymous one. ``key_header`` false: Authorization holds no API key here.
        ``renew`` false: nobody does anything, so their session is not extended.

        Raises ForbiddenError for a write to /api whose cookie may have been sent by another site's page, and
        AnonymousError when a page says by X-Volunteer that it was made for another account: nobody's answer must be
        stored as a stranger's because their session ended meanwhile.
        """
        if _OF_SOMEBODY.isdisjoint(incoming.headers) and "api_key" not in incoming.query:
            return self._anonymous(incoming, self._sender(incoming), "")
        who = await self._find(incoming, key_header=key_header, renew=renew)
        meant = incoming.header("x-volunteer")
        if meant and meant != str(who.user_id):
            raise AnonymousError("You have been signed out.", code="signed_out", hint="Sign in again.")
        return who

    async def find_again(self, incoming: Incoming) -> Requester:
        """The requester of a response that goes on, as they are by now. Raises as ``find``."""
        opened = incoming.who.unlocked if incoming.header("x-project-password") else ()  # X-Draft-Key is read again
        who = await self.find(incoming, renew=False)
        return attrs.evolve(who, unlocked=(*who.unlocked, *opened))

    async def _find(self, incoming: Incoming, *, key_header: bool, renew: bool) -> Requester:
        known = self._sender(incoming)
        known["unlocked"] = (*self.cookies.unlocked(incoming), *_link(incoming))
        known["presenter"] = _presenter(incoming)
        key = _key(incoming, key_header, in_query=self.settings.accounts.key_in_query)
        if key and not _KEYED.fullmatch(incoming.path):
            key = ""
        if key.startswith(API_TOKEN_PREFIX):
            return await self._by_token(incoming, key, known)
        key_hash = self.accounts.key_hash(key) if 0 < len(key) <= _MAX_KEY else b""
        row = await self.accounts.by_key(key_hash) if key_hash else None
        incoming.wrong_key = bool(key) and row is None
        if row is not None:
            incoming.key_name = f"account {row['id']}"
            manages = self.settings.accounts.keys_manage_projects
            who = Requester(**known, **_person(row), by_key=True, manages_projects=manages)
            self.security_log.key_used(key_hash, who)
            return who
        if incoming.cookie(SESSION) and not key:
            person, session = await self.sessions.find(incoming.cookie(SESSION), renew=renew)
            if person is not None:
                incoming.by_cookie = True
                self._refuse_forged(incoming)
                fresh = Freshness(self.settings.accounts).of_session(person)
                volunteer = self.volunteers.current(incoming)
                return Requester(**known, **_person(person), volunteer=volunteer, session=session, **fresh)
        return self._anonymous(incoming, known, self.volunteers.current(incoming))

    def _sender(self, incoming: Incoming) -> _Sender:
        """What a request says that names nobody."""
        return {
            "network": self.secrets.pseudonym(network(incoming.address)),
            "agent": incoming.header("user-agent")[:_MAX_AGENT],
            "unlocked": (),
            "via": "api" if incoming.is_api else "web",
            "presenter": None,
        }

    def _anonymous(self, incoming: Incoming, known: _Sender, volunteer: str) -> Requester:
        locale = SOURCE if incoming.is_api else preferred_locale(incoming)
        if known["unlocked"] or known["presenter"] is not None or volunteer:
            return Requester(**known, locale=locale, volunteer=volunteer)
        return _stranger(known["network"], known["agent"], known["via"], locale)

    async def _by_token(self, incoming: Incoming, token: str, known: _Sender) -> Requester:
        """The person of an API token, which is good below /api and /project; anonymous with one that does not work."""
        row = await self.tokens.find(token) if incoming.is_api or incoming.path.startswith("/project/") else None
        if row is None:
            incoming.wrong_key = True
            return self._anonymous(incoming, known, self.volunteers.current(incoming))
        incoming.key_name = f"token {row['token_id']}"
        manages = self.settings.accounts.keys_manage_projects and row["scope"] == "everything"
        scope, project_id = row["scope"], row["project_id"]
        return Requester(**known, **_person(row), scope=scope, only_project=project_id, manages_projects=manages)

    async def note_admin_use(self, who: Requester) -> None:
        """Notes that a session is used below /admin, once a minute."""
        if who.session and who.admin and who.admin_stale:
            await self.sessions.used_by_admin(who)

    async def welcome(self, incoming: Incoming) -> None:
        """Gives a browser that asks for a page a volunteer cookie; one that is signed in has it for afterwards."""
        who = incoming.who
        if who.volunteer or (who.signed_in and not who.session):
            return
        if volunteer := await self.volunteers.ensure(incoming):
            incoming.who = attrs.evolve(who, volunteer=volunteer)

    def _refuse_forged(self, incoming: Incoming) -> None:
        """A form of another site can post with our cookie where SameSite is off or unknown; it cannot post JSON.

        A configured front end may send files, too: a browser never lies about the origin.
        """
        if not (incoming.is_api and incoming.changes_state):
            return
        hint = "Send Content-Type: application/json, or use an API key."
        trusted = incoming.header("origin") in self.csrf.origins or incoming.header("sec-fetch-site") == "same-origin"
        plain = incoming.content_type != "application/json" and not trusted
        if plain or not self.csrf.same_site(incoming):
            raise ForbiddenError("A cookie may not be used for this request.", code="cross_site", hint=hint)
        if self.settings.http.cross_site_cookies:
            self.csrf.check(incoming)


@lru_cache(maxsize=2000)
def _stranger(network: str, agent: str, via: str, locale: str) -> Requester:
    return Requester(network=network, agent=agent, via=via, locale=locale)


def _key(incoming: Incoming, key_header: bool, *, in_query: bool) -> str:
    """The API key or token of a request, "" without one.

    A header of two words (Bearer …, Basic …) is for somebody else, unless the second is one of our tokens. The query
    may hold a key below /api only: a link to a page must not open it as another account. It never holds a token.
    """
    header = incoming.header("authorization").strip() if key_header else ""
    scheme, _, word = header.partition(" ")
    if scheme.lower() == "bearer" and word.strip().startswith(API_TOKEN_PREFIX):
        return word.strip()
    if header and " " not in header:
        return header
    key = incoming.query.get("api_key", "") if in_query and incoming.is_api else ""
    return "" if key.startswith(API_TOKEN_PREFIX) else key


def _link(incoming: Incoming) -> tuple[str, ...]:
    """The key of a draft that a program sends as X-Draft-Key: the word of its "try it" link."""
    word = incoming.header("x-draft-key")
    key = draft_key(word) if word else ""
    return (key,) if key else ()


def _person(row: Row) -> _Person:
    return {
        "user_id": row["id"],
        "user_name": row["name"],
        "fullname": row["fullname"],
        "admin": row["admin"],
        "locale": row["locale"],
        "access_version": row["access_version"],
    }


def _presenter(incoming: Incoming) -> int | None:
    mark = incoming.header("x-presenter")
    if not mark:
        return None
    return parse_number(mark, 15) or 0
