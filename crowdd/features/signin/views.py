"""What the pages of accounts share: sessions, the second step, the account of an address, and answers to claim.

Answers to claim are those that a browser gave without an account.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypedDict

import attrs
import orjson

from crowdd.core.devices import Authenticated, Device
from crowdd.core.security_log import NEW_DEVICE, SIGN_IN, SIGN_OUT, SecurityLog
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.accounts.sessions import Sessions
from crowdd.features.signin.access_revocation import NewPassword, Way
from crowdd.features.signin.answer_claims import AnswerClaims
from crowdd.features.signin.providers import ProviderIdentity
from crowdd.features.signin.same_person import SamePerson
from crowdd.features.signin.second_factors import SecondFactors
from crowdd.features.signin.sign_in import NewDevices
from crowdd.http.auth.cookies import NEWCOMER, SECOND_STEP, SESSION, Cookies
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.html.forms import local
from crowdd.http.request import Incoming
from crowdd.http.responses import Redirect, Response
from crowdd.kernel.errors import AnonymousError, ForbiddenError
from crowdd.kernel.languages import _, joined, ngettext
from crowdd.kinds.types import iso

_DAY = 86400
SECOND_PAGE = "/account/signin/second"
STEP_SECONDS = 300


class NamedPrivate(TypedDict):
    """A page below /account/<name>. ``name`` is the user name of the account."""

    name: str


@attrs.frozen
class SecondStep:
    """A sign-in that waits for a second factor."""

    account: Authenticated
    at: float
    next: str

    def packed(self) -> str:
        """The text for the cookie, which encrypts it."""
        return orjson.dumps([*attrs.astuple(self.account), self.at, self.next]).decode()

    @classmethod
    def unpacked(cls, text: str) -> SecondStep | None:
        """The sign-in from such a text; None for an empty one."""
        if not text:
            return None
        user_id, access_version, at, next_ = orjson.loads(text)
        return cls(Authenticated(user_id, access_version), at, next_)


class SecondSteps:
    """Sign-ins that wait for a second factor. The browser keeps them in an encrypted cookie."""

    def __init__(self, second_factors: SecondFactors, now: Callable[[], Awaitable[float]], cookies: Cookies) -> None:
        self._second_factors, self._now, self._cookies = second_factors, now, cookies

    async def begin(self, incoming: Incoming, account: Authenticated, next_: str) -> bool:
        """Whether the account has a second factor. If so, this browser has five minutes to present it."""
        if not await self._second_factors.required(account.user_id):
            return False
        step = SecondStep(account, await self._now(), next_)
        self._cookies.set_encrypted(incoming, SECOND_STEP, step.packed(), seconds=STEP_SECONDS)
        return True

    async def current(self, incoming: Incoming) -> SecondStep | None:
        """The sign-in that waits in this browser; None without one, or when its time is over."""
        step = SecondStep.unpacked(self._cookies.encrypted(incoming, SECOND_STEP))
        if step is None or not 0 <= await self._now() - step.at < STEP_SECONDS:
            return None
        return step


@attrs.frozen(eq=False)
class Entry:
    """Opens, renews and closes sessions of browsers."""

    _sessions: Sessions
    _new_devices: NewDevices
    _security_log: SecurityLog
    _second_steps: SecondSteps
    _same_person: SamePerson
    _volunteers: VolunteerCookies
    _session_days: int

    @property
    def cookies(self) -> Cookies:
        return self._volunteers.cookies

    async def arrive(self, incoming: Incoming, account: Authenticated, flash: str) -> Response:
        """Signs in a person whose password or link is right, after the second step if the account has one."""
        if not await self._second_steps.begin(incoming, account, next_address(incoming)):
            return await self.enter(incoming, account, flash)
        message = {"flash": _("Confirm that it is you with your second factor."), "status": "second_factor"}
        return Redirect(SECOND_PAGE, more=message)

    async def enter(self, incoming: Incoming, account: Authenticated, flash: str) -> Response:
        """Opens a session under a new token, also if the browser already has a session.

        From now on, the account and the volunteer that the browser is without it are one person. Raises AnonymousError
        when the account has a new password since its person proved who they are.
        """
        device, agent = self.cookies.device(incoming), incoming.header("user-agent")
        if incoming.who.user_id == account.user_id:  # who goes on here after a new password is known
            device = device.with_person(account)
        token = await self._sessions.open(account, agent, incoming.who)
        self._note(incoming, account, device)
        await self._new_devices.note(account, device, agent)
        self.cookies.set(incoming, SESSION, token, seconds=self._session_days * _DAY)
        self.cookies.remember(incoming, account)
        if volunteer := await self._volunteers.ensure(incoming):
            await self._same_person.link(account.user_id, volunteer)
        return Redirect(next_address(incoming), flash)

    def _note(self, incoming: Incoming, account: Authenticated, device: Device) -> None:
        """Write the sign-in to the security log, with the route that was used."""
        way, user_id = incoming.request.route, account.user_id
        self._security_log.count(SIGN_IN, incoming.who, user_id=user_id, detail=way)
        if not device.knows(account):
            self._security_log.count(NEW_DEVICE, incoming.who, user_id=user_id, detail=way)

    async def prove(self, incoming: Incoming) -> None:
        """Records in the session that the person has just confirmed who they are."""
        await self._sessions.prove(incoming.who)

    async def leave(self, incoming: Incoming) -> None:
        """Ends the session of this browser."""
        await self._sessions.close(incoming.who)
        if incoming.who.signed_in:
            self._security_log.count(SIGN_OUT, incoming.who)
        self.forget(incoming)

    def forget(self, incoming: Incoming) -> None:
        """Deletes the cookie of a session that has ended, and what scripts stored in the browser.

        Other cookies stay: language, theme and the known device belong to the browser, not to the session.
        """
        incoming.request.setHeader("Clear-Site-Data", '"storage"')
        self.cookies.drop(incoming, SESSION)

    def newcomer(self, incoming: Incoming) -> ProviderIdentity | None:
        """The identity that a provider confirmed to this browser and that has no account yet."""
        text = self.cookies.encrypted(incoming, NEWCOMER)
        return ProviderIdentity.unpacked(text) if text else None


class WayInRecord(TypedDict):
    """A way into an account that its person may keep: ``id`` is what a form names it by, ``kind`` what it is.

    ``name`` is that of a provider, or what somebody called a passkey; "" for what has no name.
    """

    id: str
    kind: str
    name: str
    created: str
    last_used: str | None


def shown_ways(ways: Iterable[Way]) -> list[WayInRecord]:
    """The ways in as forms show them."""
    return [
        WayInRecord(
            id=way.id,
            kind=way.row["kind"],
            name=way.title if way.row["kind"] == "provider" else way.row["name"],
            created=iso(way.row["created"]),
            last_used=None if way.row["last_used"] is None else iso(way.row["last_used"]),
        )
        for way in ways
    ]


def changed_words(done: NewPassword) -> str:
    """The message after a password change. It says what else has ended."""
    if not done.recovered:
        return _("Your password has been changed. You are signed out everywhere else.")
    words = _("Your password has been changed. You are signed out everywhere else, and you have a new API key.")
    return joined(words, _("Removed from your account: %(ways)s.", ways=done.ended)) if done.ended else words


def next_address(incoming: Incoming, fallback: str = "/") -> str:
    """The address in ``next`` if it is a page of this site, otherwise ``fallback``."""
    return local(incoming.query.get("next", "") or (incoming.field("next") if incoming.changes_state else ""), fallback)


def me(incoming: Incoming) -> int:
    """The id of the signed-in account. Raises AnonymousError if nobody is signed in."""
    if incoming.who.user_id is None:
        raise AnonymousError(_("Sign in first."))
    return incoming.who.user_id


async def own_account(accounts: Accounts, incoming: Incoming, name: str, *, admins: bool = True) -> AccountPage:
    """The record of the account that an address names. Only its owner and, with ``admins``, administrators get it."""
    mine = me(incoming)
    account = await accounts.find_by_name(name)
    if account["id"] != mine and not (admins and incoming.who.admin):
        raise ForbiddenError(_("This account belongs to someone else."))
    return await accounts.profile(account["id"])


_CLAIM = "claim"


class EarlierAnswers:
    """The anonymous answers of a browser."""

    def __init__(self, answer_claims: AnswerClaims, volunteers: VolunteerCookies, link_hours: int) -> None:
        self._answer_claims, self._volunteers, self._cookies = answer_claims, volunteers, volunteers.cookies
        self._link_seconds = link_hours * 3600

    async def count(self, incoming: Incoming, user_id: int | None = None) -> int:
        """How many answers of this browser an account (a new one for None) can take over."""
        return await self._answer_claims.offered(self._volunteers.current(incoming), user_id)

    async def claim(self, incoming: Incoming, user_id: int) -> int:
        """Moves the answers to the account and returns how many they are."""
        return await self._answer_claims.claim(user_id, self._volunteers.current(incoming), incoming.who)

    async def welcome(self, incoming: Incoming, user_id: int, claims: bool) -> str:
        """The message for a new account. With ``claims`` the account takes over the answers of this browser."""
        moved = await self.claim(incoming, user_id) if claims else 0
        return claimed_words(moved) if moved else _("Thanks for signing up.")

    def note_claim(self, incoming: Incoming) -> None:
        """Remember, for as long as the link in the e-mail works, that the new account takes over the answers."""
        self._cookies.set_signed(incoming, _CLAIM, "yes", seconds=self._link_seconds)

    def take_claim(self, incoming: Incoming) -> bool:
        """Whether ``note_claim`` was called for this browser. Forgets it."""
        noted = self._cookies.signed(incoming, _CLAIM) == "yes"
        if noted:
            self._cookies.drop(incoming, _CLAIM)
        return noted


def claimed_words(answers: int) -> str:
    """The message after answers were moved to an account."""
    return ngettext("One answer is now under your name.", "%(num)s answers are now under your name.", answers)
