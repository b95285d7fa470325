"""Coming in: who may be here, and the cookies of somebody who is signed in."""

from __future__ import annotations

import attrs
import orjson

from crowdd.domain.accounts.access_revocation import Revoked
from crowdd.domain.accounts.social.oauth import ProviderIdentity
from crowdd.domain.core.security_log import NEW_DEVICE, SIGN_IN, SIGN_OUT
from crowdd.domain.server.services import Services
from crowdd.errors import AnonymousError, ForbiddenError
from crowdd.http.auth.cookies import NEWCOMER, SECOND_STEP, SESSION, Cookies
from crowdd.http.html.forms import local
from crowdd.http.request import Incoming
from crowdd.http.responses import Redirect, Response
from crowdd.languages import _, ngettext
from crowdd.storage.accounts.rows import AccountPage

_DAY = 86400
_CLAIM = "claim"
SECOND_PAGE = "/account/signin/second"
STEP_SECONDS = 300


@attrs.frozen
class SecondStep:
    """A sign-in that waits for a second factor, kept by its browser (encrypted)."""

    user_id: int
    at: float
    next: str

    def packed(self) -> str:
        """As a text, for a cookie; encrypted there."""
        return orjson.dumps(attrs.asdict(self)).decode()

    @classmethod
    def unpacked(cls, text: str) -> SecondStep | None:
        """From such a text; None without one."""
        return cls(**orjson.loads(text)) if text else None


class Entry:
    """Opens and closes sessions of browsers."""

    def __init__(self, services: Services, cookies: Cookies) -> None:
        self._people, self._security_log, self.cookies = services.people, services.security_log, cookies
        self._seconds = services.settings.accounts.session_days * _DAY
        self._link_seconds = services.settings.accounts.link_hours * 3600
        self._by_cookie = services.settings.volunteers.anonymous == "cookie"

    async def arrive(self, incoming: Incoming, user_id: int, flash: str) -> Response:
        """Lets somebody in who has a right password or link: at once, or after the second step where it is needed."""
        if not await self.owes_second_step(incoming, user_id, next_address(incoming)):
            return await self.enter(incoming, user_id, flash)
        said = {"flash": _("Confirm that it is you with your second factor."), "status": "second_factor"}
        return Redirect(SECOND_PAGE, more=said)

    async def owes_second_step(self, incoming: Incoming, user_id: int, next_: str) -> bool:
        """Whether the account has a second factor; then this browser remembers for five minutes who is to give it."""
        if not await self._people.second_factors.required(user_id):
            return False
        step = SecondStep(user_id, await self._people.now(), next_)
        self.cookies.set_encrypted(incoming, SECOND_STEP, step.packed(), seconds=STEP_SECONDS)
        return True

    async def second_step(self, incoming: Incoming) -> SecondStep | None:
        """Who owes a second factor in this browser; None when nobody does (any more)."""
        step = SecondStep.unpacked(self.cookies.encrypted(incoming, SECOND_STEP))
        if step is None or not 0 <= await self._people.now() - step.at < STEP_SECONDS:
            return None
        return step

    async def enter(self, incoming: Incoming, user_id: int, flash: str) -> Response:
        """Opens a session under a new token, whatever the browser had before."""
        self._note(incoming, user_id)
        device, agent = self.cookies.device(incoming), incoming.header("user-agent")
        await self._people.new_devices.note(user_id, device, agent)
        token = await self._people.sessions.open(user_id, agent, incoming.who)
        self.cookies.set(incoming, SESSION, token, seconds=self._seconds)
        self.cookies.remember(incoming, user_id)
        return Redirect(next_address(incoming), flash)

    def _note(self, incoming: Incoming, user_id: int) -> None:
        """Tell the security log; the way in is the page that was asked for."""
        way = incoming.request.route
        self._security_log.count(SIGN_IN, incoming.who, user_id=user_id, detail=way)
        if user_id not in self.cookies.device(incoming).people:
            self._security_log.count(NEW_DEVICE, incoming.who, user_id=user_id, detail=way)

    async def welcome(self, incoming: Incoming, user_id: int, claims: bool) -> str:
        """What somebody new is told; his earlier answers in this browser are his, if he said so."""
        words = _("Thanks for signing up.")
        moved = await self._people.answer_claims.claim(user_id, self.volunteer(incoming), incoming.who) if claims else 0
        return claimed_words(moved) if moved else words

    def note_claim(self, incoming: Incoming) -> None:
        """Remembers, for as long as the link in the letter works, that the earlier answers are to be claimed."""
        self.cookies.set_signed(incoming, _CLAIM, "yes", seconds=self._link_seconds)

    def take_claim(self, incoming: Incoming) -> bool:
        """Whether that was said in this browser; once."""
        said = self.cookies.signed(incoming, _CLAIM) == "yes"
        if said:
            self.cookies.drop(incoming, _CLAIM)
        return said

    async def leave(self, incoming: Incoming) -> None:
        """Ends the session of this browser."""
        await self._people.sessions.close(incoming.who)
        if incoming.who.signed_in:
            self._security_log.count(SIGN_OUT, incoming.who)
        self.forget(incoming)

    def forget(self, incoming: Incoming) -> None:
        """Takes the cookie of a session that has ended, and what scripts stored in the browser meanwhile.

        Other cookies stay: language, theme and the known device belong to the browser, not to the session.
        """
        incoming.request.setHeader("Clear-Site-Data", '"storage"')
        self.cookies.drop(incoming, SESSION)

    def newcomer(self, incoming: Incoming) -> ProviderIdentity | None:
        """Whom a provider sent to this browser, while he has no account yet."""
        text = self.cookies.encrypted(incoming, NEWCOMER)
        return ProviderIdentity.unpacked(text) if text else None

    def volunteer(self, incoming: Incoming) -> str:
        """Who this browser is without an account; "" when it is nobody."""
        return self.cookies.volunteer(incoming) if self._by_cookie else ""


def claimed_words(answers: int) -> str:
    """What is said after answers were put under somebody's name."""
    return ngettext("One answer is now under your name.", "%(num)s answers are now under your name.", answers)


def changed_words(revoked: Revoked) -> str:
    """What is said after a new password: what else has ended."""
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
    """Where to go after this: ``next`` as far as it leads to a page of this site."""
    return local(incoming.query.get("next", "") or (incoming.field("next") if incoming.changes_state else ""), fallback)


def me(incoming: Incoming) -> int:
    """The signed-in person; AnonymousError when nobody is."""
    if incoming.who.user_id is None:
        raise AnonymousError(_("Sign in first."))
    return incoming.who.user_id


async def own_account(services: Services, incoming: Incoming, name: str, *, admins: bool = True) -> AccountPage:
    """The record of the account that an address names, for its person and (unless told otherwise) administrators."""
    mine = me(incoming)
    found = await services.accounts.find_by_name(name)
    if found["id"] != mine and not (admins and incoming.who.admin):
        raise ForbiddenError(_("This account belongs to someone else."))
    return await services.accounts.profile(found["id"])
