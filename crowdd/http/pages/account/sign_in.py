"""Sign-in and sign-out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.accounts.authentication.second_factor import SecondFactors
from crowdd.domain.accounts.authentication.sign_in import WRONG, SigningIn
from crowdd.domain.accounts.social.providers import Providers
from crowdd.errors import FormError
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.html.forms import Form, Forms, WithForm
from crowdd.http.pages.account.access import Entry, next_address
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, Shared, get, post
from crowdd.languages import _

_FIELDS = ("email", "password")


class SignInPublic(Titled, WithForm, Message):
    """``auth`` says which providers can be used."""

    auth: dict[str, bool]
    next: str | None


class SignInPrivate(TypedDict):
    """``passkeys`` says whether they work at the address of the site."""

    passkeys: bool


class SignInPages:
    """/account/signin and /account/signout."""

    def __init__(
        self, signing_in: SigningIn, providers: Providers, second_factors: SecondFactors, forms: Forms, entry: Entry
    ) -> None:
        self._signing_in, self._providers, self._forms, self._entry = signing_in, providers, forms, entry
        self._confirm = Confirm(forms.csrf)
        self._passkeys = second_factors.passkeys

    def routes(self) -> Iterator[Route]:
        yield get("/account/signin", self.form, hot=True, shared=Shared.CONSTANT)
        yield post("/account/signin", self.sign_in)
        yield get("/account/signout", self._confirm.first(self.sign_out, self._ask_to_sign_out))
        yield post("/account/signout", self.sign_out)

    async def form(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect(next_address(incoming))
        return self._page(incoming, self._forms.blank(incoming, *_FIELDS))

    async def sign_in(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect("/")
        try:
            email, password = incoming.field("email"), incoming.field("password")
            device = self._entry.cookies.device(incoming)
            account = await self._signing_in.sign_in(email, password, incoming.who, device)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return self._page(incoming, form, Message(flash=WRONG, status="error"))
        return await self._entry.arrive(incoming, account, _("Welcome back."))

    def _page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        next_ = next_address(incoming, "") or None
        public = SignInPublic(title=_("Sign in"), form=form, auth=self._providers.offered, next=next_, **message)
        return Page("account/signin.html", public, SignInPrivate(passkeys=self._passkeys.available))

    async def _ask_to_sign_out(self) -> Question:
        return Question(_("Sign out?"), _("You will be signed out in this browser."), _("Sign out"))

    async def sign_out(self, incoming: Incoming) -> Response:
        await self._entry.leave(incoming)
        message = _("You are signed out.")
        return Redirect("/", message, more={"message": message})
