"""Registration, and the account of the first administrator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

import attrs

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.authentication.sessions import Authenticated
from crowdd.domain.accounts.email_confirmation import EmailConfirmation
from crowdd.domain.accounts.invitations import Invitations
from crowdd.domain.accounts.registration import Registration
from crowdd.domain.accounts.social.oauth import TITLES
from crowdd.domain.accounts.social.social_login import SocialLogin, nickname
from crowdd.errors import FormError
from crowdd.http.auth.cookies import NEWCOMER
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.account.access import Entry, next_address
from crowdd.http.pages.account.earlier_answers import EarlierAnswers
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

_FIELDS = ("fullname", "name", "email_addr", "password", "confirm")


class RegisterPublic(Titled, WithForm, Message):
    pass


class RegisterPrivate(TypedDict):
    """``claimable`` is the number of answers that the account can take over; ``provider`` the title of one, or None.

    ``invitation`` is the key of one that works; ``closed``: somebody without one cannot sign up.
    """

    invitation: str
    closed: bool
    claimable: int
    next: str
    provider: str | None


class SentPublic(Titled):
    """``status`` is always ``sent``: the e-mail with the link is on its way."""

    status: str


class RegisterPages:
    """/account/register and /account/first-admin."""

    def __init__(
        self,
        accounts: Accounts,
        social_login: SocialLogin,
        email_confirmation: EmailConfirmation,
        forms: Forms,
        entry: Entry,
        earlier_answers: EarlierAnswers,
        invitations: Invitations,
    ) -> None:
        self._invitations = invitations
        self._accounts, self._social_login, self._email_confirmation = accounts, social_login, email_confirmation
        self._forms, self._entry, self._earlier_answers = forms, entry, earlier_answers

    def routes(self) -> Iterator[Route]:
        yield get("/account/register", self.form)
        yield post("/account/register", self.register)
        yield get("/account/first-admin", self.first_admin_form)
        yield post("/account/first-admin", self.first_admin)

    async def form(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect("/")
        known = self._entry.newcomer(incoming)
        values = dict.fromkeys(_FIELDS) | ({"fullname": known.fullname, "name": nickname(known)} if known else {})
        form = self._forms.filled(incoming, **values)
        return await self._page(incoming, form)

    async def register(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect("/")
        try:
            if self._email_confirmation.required:
                return await self._send(incoming)
            user_id = await self._register(incoming)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(incoming, form, MISTAKES)
        words = await self._earlier_answers.welcome(incoming, user_id, incoming.flag("claim", False))
        return await self._entry.enter(incoming, Authenticated(user_id), words)

    async def _send(self, incoming: Incoming) -> Response:
        """Sends the link that creates the account (interface: account-register-sent)."""
        known = self._entry.newcomer(incoming)
        await self._email_confirmation.register(_registration(incoming), known, incoming.who)
        self._entry.cookies.drop(incoming, NEWCOMER)
        if incoming.flag("claim", False):
            self._earlier_answers.note_claim(incoming)
        return Page("account/account_validation.html", SentPublic(title=_("Confirm your address"), status="sent"))

    async def _register(self, incoming: Incoming) -> int:
        """The id of the new account. Accounts that come from a provider need no password."""
        known = self._entry.newcomer(incoming)
        if known is None:
            return await self._accounts.register(_registration(incoming), incoming.who)
        user_id = await self._social_login.register(known, _registration(incoming), incoming.who)
        self._entry.cookies.drop(incoming, NEWCOMER)
        return user_id

    async def _page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        claimable = await self._earlier_answers.count(incoming)
        known = self._entry.newcomer(incoming)
        provider = None if known is None else TITLES[known.provider]
        key = _invitation(incoming)
        private = RegisterPrivate(
            invitation=key,
            closed=not await self._invitations.admits(key),
            claimable=claimable,
            next=next_address(incoming, ""),
            provider=provider,
        )
        return Page("account/register.html", RegisterPublic(title=_("Register"), form=form, **message), private)

    async def first_admin_form(self, incoming: Incoming) -> Response:
        await self._accounts.first_admin_open(incoming.query.get("key", ""))
        form = self._forms.blank(incoming, *_FIELDS)
        return Page("account/first_admin.html", RegisterPublic(title=_("First account"), form=form))

    async def first_admin(self, incoming: Incoming) -> Response:
        try:
            form = _registration(incoming)
            user_id = await self._accounts.make_first_admin(incoming.query.get("key", ""), form, incoming.who)
        except FormError as error:
            refused = self._forms.refused(incoming, error.errors, *_FIELDS)
            return Page("account/first_admin.html", RegisterPublic(title=_("First account"), form=refused, **MISTAKES))
        words = _("Welcome. You are now an administrator of this site.")
        return await self._entry.enter(incoming, Authenticated(user_id), words)


def _registration(incoming: Incoming) -> Registration:
    form_fields = {a.name: incoming.field(a.name) for a in attrs.fields(Registration)}
    return Registration(**form_fields | {"invitation": _invitation(incoming)})


def _invitation(incoming: Incoming) -> str:
    """The key of an invitation, from the form or from the address that its link has."""
    key = incoming.field("invitation") if incoming.changes_state else ""
    return key or incoming.query.get("invitation", "")
