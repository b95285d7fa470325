"""Signing up, and the first administrator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.email_confirmation import EmailConfirmation
from crowdd.domain.accounts.registration import Registration
from crowdd.domain.accounts.social.oauth import TITLES
from crowdd.domain.accounts.social.social_login import SocialLogin, nickname
from crowdd.errors import FormError
from crowdd.http.auth.cookies import NEWCOMER
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.pages.account.access import Entry, next_address
from crowdd.http.pages.account.earlier_answers import EarlierAnswers
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

_FIELDS = ("fullname", "name", "email_addr", "password", "confirm")


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
    ) -> None:
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
        said = dict.fromkeys(_FIELDS) | ({"fullname": known.fullname, "name": nickname(known)} if known else {})
        form = self._forms.filled(incoming, **said)
        return Page("account/register.html", title=_("Register"), form=form, **await self._frame(incoming))

    async def register(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect("/")
        try:
            if self._email_confirmation.required:
                return await self._send(incoming)
            user_id = await self._register(incoming)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            said = {"flash": CORRECT, "status": "error", **await self._frame(incoming)}
            return Page("account/register.html", title=_("Register"), form=form, **said)
        words = await self._earlier_answers.welcome(incoming, user_id, incoming.flag("claim", False))
        return await self._entry.enter(incoming, user_id, words)

    async def _send(self, incoming: Incoming) -> Response:
        """The account waits for the link in a letter (interface: account-register-sent)."""
        known = self._entry.newcomer(incoming)
        await self._email_confirmation.register(_registration(incoming), known, incoming.who)
        self._entry.cookies.drop(incoming, NEWCOMER)
        if incoming.flag("claim", False):
            self._earlier_answers.note_claim(incoming)
        return Page("account/account_validation.html", title=_("Confirm your address"), status="sent")

    async def _register(self, incoming: Incoming) -> int:
        """Who comes from a provider needs no password."""
        known = self._entry.newcomer(incoming)
        if known is None:
            return await self._accounts.register(_registration(incoming), incoming.who)
        user_id = await self._social_login.register(known, _registration(incoming), incoming.who)
        self._entry.cookies.drop(incoming, NEWCOMER)
        return user_id

    async def _frame(self, incoming: Incoming) -> dict[str, Any]:
        """What only the page shows: answers that can be claimed, and where to go on."""
        claimable = await self._earlier_answers.count(incoming)
        known = self._entry.newcomer(incoming)
        return {
            "_claimable": claimable,
            "_next": next_address(incoming, ""),
            "_provider": known and TITLES[known.provider],
        }

    async def first_admin_form(self, incoming: Incoming) -> Response:
        await self._accounts.first_admin_open(incoming.query.get("key", ""))
        form = self._forms.blank(incoming, *_FIELDS)
        return Page("account/first_admin.html", title=_("First account"), form=form)

    async def first_admin(self, incoming: Incoming) -> Response:
        try:
            form = _registration(incoming)
            user_id = await self._accounts.make_first_admin(incoming.query.get("key", ""), form, incoming.who)
        except FormError as error:
            refused = self._forms.refused(incoming, error.errors, *_FIELDS)
            said: dict[str, Any] = {"flash": CORRECT, "status": "error"}
            return Page("account/first_admin.html", title=_("First account"), form=refused, **said)
        return await self._entry.enter(incoming, user_id, _("Welcome. You are now an administrator of this site."))


def _registration(incoming: Incoming) -> Registration:
    return Registration(**{a.name: incoming.field(a.name) for a in attrs.fields(Registration)})
