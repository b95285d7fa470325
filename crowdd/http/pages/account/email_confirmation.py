"""The links that confirm an e-mail address, and sending one again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.authentication.sessions import Authenticated
from crowdd.domain.accounts.email_confirmation import PATH, REGISTER, EmailConfirmation
from crowdd.errors import ForbiddenError, FormError, NotFoundError
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.pages.account.access import Entry, me
from crowdd.http.pages.account.earlier_answers import EarlierAnswers
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _, joined


class ConfirmationPublic(Titled, WithForm):
    pass


class ConfirmationPrivate(TypedDict):
    """``new`` says whether the link creates an account."""

    new: bool


class ConfirmPages:
    """/account/register/confirmation and /account/confirm-email.

    A link in an e-mail shows a button: mail filters open links too, and another site could sign people in to an account
    of its own. Requests of front ends, which send JSON, take effect at once.
    """

    def __init__(
        self,
        accounts: Accounts,
        email_confirmation: EmailConfirmation,
        forms: Forms,
        entry: Entry,
        earlier_answers: EarlierAnswers,
    ) -> None:
        self._accounts, self._email_confirmation = accounts, email_confirmation
        self._forms, self._entry, self._earlier_answers = forms, entry, earlier_answers
        self._confirm = Confirm(forms.csrf)

    def routes(self) -> Iterator[Route]:
        yield get(PATH, self.open)
        yield post(PATH, self.confirm)
        yield get("/account/confirm-email", self.send_or_ask)
        yield post("/account/confirm-email", self.send)

    async def open(self, incoming: Incoming) -> Response:
        if incoming.content_type == "application/json":
            return await self.confirm(incoming)
        purpose = await self._email_confirmation.look(incoming.query.get("key", ""))
        public = ConfirmationPublic(title=_("Confirm your address"), form=self._forms.blank(incoming))
        return Page("account/confirmation.html", public, ConfirmationPrivate(new=purpose == REGISTER))

    async def confirm(self, incoming: Incoming) -> Response:
        try:
            done = await self._email_confirmation.confirm(incoming.query.get("key", ""), incoming.who)
        except FormError as error:
            sentences = [sentence for each in error.errors.values() for sentence in each]
            raise ForbiddenError(joined(*sentences, _("Please sign up again."))) from None
        if not done.new:
            return Redirect("/account/profile", _("Your address is confirmed."))
        claims = self._earlier_answers.take_claim(incoming)
        words = await self._earlier_answers.welcome(incoming, done.user_id, claims)
        return await self._entry.enter(incoming, Authenticated(done.user_id), words)

    async def send_or_ask(self, incoming: Incoming) -> Response:
        """Sends the e-mail for programs. A browser gets a question first, unless there is nothing to confirm."""
        row = await self._accounts.profile(me(incoming))
        if self._confirm.acts(incoming) or row["valid_email"] or not self._email_confirmation.required:
            return await self.send(incoming)
        text = _("We will send an e-mail with a link that confirms your address.")
        return self._confirm.page(incoming, Question(_("Confirm your address?"), text, _("Send the e-mail")))

    async def send(self, incoming: Incoming) -> Response:
        """Sends a link to the address of the signed-in person, unless it is confirmed."""
        row = await self._accounts.profile(me(incoming))
        if not self._email_confirmation.possible:
            raise NotFoundError("404 Not Found", code="not_configured")
        if row["valid_email"]:
            return Redirect("/account/profile", _("Your address is confirmed already."), "info")
        await self._email_confirmation.change(row, row["email_addr"], incoming.who)
        return Redirect("/account/profile", _("We sent you an e-mail. Open the link in it to confirm your address."))
