"""Sessions of browsers: sign-in, second step, sign-out, and the account that an address names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypedDict

import attrs
import orjson

from crowdd.domain.accounts.access_revocation import Revoked
from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.authentication.new_device import NewDevices
from crowdd.domain.accounts.authentication.second_factor import SecondFactors
from crowdd.domain.accounts.authentication.sessions import Sessions
from crowdd.domain.accounts.same_person import SamePerson
from crowdd.domain.accounts.social.oauth import ProviderIdentity
from crowdd.domain.core.security_log import NEW_DEVICE, SIGN_IN, SIGN_OUT, SecurityLog
from crowdd.errors import AnonymousError, ForbiddenError
from crowdd.http.auth.cookies import NEWCOMER, SECOND_STEP, SESSION, Cookies
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.html.forms import local
from crowdd.http.request import Incoming
from crowdd.http.responses import Redirect, Response
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage

_DAY = 86400
SECOND_PAGE = "/account/signin/second"
STEP_SECONDS = 300


class NamedPrivate(TypedDict):
    """A page below /account/<name>. ``name`` is the user name of the account."""

    name: str


@attrs.frozen
class SecondStep:
    """A sign-in that waits for a second factor."""

    user_id: int
    at: float
    next: str

    def packed(self) -> str:
        """The text for the cookie, which encrypts it."""
        return orjson.dumps(attrs.asdict(self)).decode()

    @classmethod
    def unpacked(cls, text: str) -> SecondStep | None:
        """The sign-in from such a text; None for an empty one."""
        return cls(**orjson.loads(text)) if text else None


class SecondSteps:
    """Sign-ins that wait for a second factor. The browser keeps them in an encrypted cookie."""

    def __init__(self, second_factors: SecondFactors, now: Callable[[], Awaitable[float]], cookies: Cookies) -> None:
        self._second_factors, self._now, self._cookies = second_factors, now, cookies

    async def begin(self, incoming: Incoming, user_id: int, next_: str) -> bool:
        """Whether the account has a second factor. If so, this browser has five minutes to present it."""
        if not await self._second_factors.required(user_id):
            return False
        step = SecondStep(user_id, await self._now(), next_)
        self._cookies.set_encrypted(incoming, SECOND_STEP, step.packed(), seconds=STEP_SECONDS)
        return True

    async def current(self, incoming: Incoming) -> SecondStep | None:
        """The sign-in that waits in this browser; None without one, or when its time is over."""
        step = SecondStep.unpacked(self._cookies.encrypted(incoming, SECOND_STEP))
        if step is None or not 0 <= await self._now() - step.at < STEP_SECONDS:
            return None
        return step


class Entry:
    """Opens, renews and closes sessions of browsers."""

    def __init__(
        self,
        sessions: Sessions,
        new_devices: NewDevices,
        security_log: SecurityLog,
        second_steps: SecondSteps,
        same_person: SamePerson,
        volunteers: VolunteerCookies,
        session_days: int,
    ) -> None:
        self._sessions, self._new_devices, self._security_log = sessions, new_devices, security_log
        self._second_steps, self._same_person, self._volunteers = second_steps, same_person, volunteers
        self.cookies = volunteers.cookies
        self._seconds = session_days * _DAY

    async def arrive(self, incoming: Incoming, user_id: int, flash: str) -> Response:
        """Signs in a person whose password or link is right, after the second step if the account has one."""
        if not await self._second_steps.begin(incoming, user_id, next_address(incoming)):
            return await self.enter(incoming, user_id, flash)
        message = {"flash": _("Confirm that it is you with your second factor."), "status": "second_factor"}
        return Redirect(SECOND_PAGE, more=message)

    async def enter(self, incoming: Incoming, user_id: int, flash: str) -> Response:
        """Opens a session under a new token, also if the browser already has a session.

        From now on, the account and the volunteer that the browser is without it are one person.
        """
        self._note(incoming, user_id)
        device, agent = self.cookies.device(incoming), incoming.header("user-agent")
        await self._new_devices.note(user_id, device, agent)
        token = await self._sessions.open(user_id, agent, incoming.who)
        self.cookies.set(incoming, SESSION, token, seconds=self._seconds)
        self.cookies.remember(incoming, user_id)
        if volunteer := await self._volunteers.ensure(incoming):
            await self._same_person.link(user_id, volunteer)
        return Redirect(next_address(incoming), flash)

    def _note(self, incoming: Incoming, user_id: int) -> None:
        """Write the sign-in to the security log, with the route that was used."""
        way = incoming.request.route
        self._security_log.count(SIGN_IN, incoming.who, user_id=user_id, detail=way)
        if user_id not in self.cookies.device(incoming).people:
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


def changed_words(revoked: Revoked) -> str:
    """The message after a password change. It says what else has ended."""
    if revoked.providers:
        return _(
            "Your password has been changed. You are signed out everywhere else, you have a new API key, and"
            " %(providers)s can no longer be used to sign in.",
            providers=", ".join(revoked.providers),
        )
    if revoked.new_key:
        return _("Your password has been changed. You are signed out everywhere else, and you have a new API key.")
    return _("Your password has been changed. You are signed out everywhere else.")


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
