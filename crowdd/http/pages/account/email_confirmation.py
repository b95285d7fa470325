"""Links that confirm an address, and asking for one."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.accounts.email_confirmation import PATH, REGISTER
from crowdd.domain.server.services import Services
from crowdd.errors import ForbiddenError, FormError, NotFoundError
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.html.forms import Forms
from crowdd.http.pages.account.access import Entry, me
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _


class ConfirmPages:
    """/account/register/confirmation and /account/confirm-email.

    Opening a link in a letter shows a button: programs that look into mail open links, too, and another site could
    sign somebody in to an account of its own. Front ends, which send JSON, have it done at once.
    """

    def __init__(self, services: Services, forms: Forms, entry: Entry) -> None:
        self._accounts, self._email_confirmation = services.accounts, services.people.email_confirmation
        self._forms, self._entry, self._confirm = forms, entry, Confirm(forms.csrf)

    def routes(self) -> Iterator[Route]:
        yield get(PATH, self.open)
        yield post(PATH, self.confirm)
        yield get("/account/confirm-email", self.send_or_ask)
        yield post("/account/confirm-email", self.send)

    async def open(self, incoming: Incoming) -> Response:
        if incoming.content_type == "application/json":
            return await self.confirm(incoming)
        purpose = await self._email_confirmation.look(incoming.query.get("key", ""))
        form = self._forms.blank(incoming)
        return Page("account/confirmation.html", title=_("Confirm your address"), form=form, _new=purpose == REGISTER)

    async def confirm(self, incoming: Incoming) -> Response:
        try:
            done = await self._email_confirmation.confirm(incoming.query.get("key", ""), incoming.who)
        except FormError as error:
            words = " ".join(sentence for sentences in error.errors.values() for sentence in sentences)
            raise ForbiddenError(f"{words} Please sign up again.") from None
        if not done.new:
            return Redirect("/account/profile", _("Your address is confirmed."))
        claims = self._entry.take_claim(incoming)
        return await self._entry.enter(
            incoming, done.user_id, await self._entry.welcome(incoming, done.user_id, claims)
        )

    async def send_or_ask(self, incoming: Incoming) -> Response:
        """Writes at once for programs; a browser is asked first, where there is something to confirm."""
        row = await self._accounts.profile(me(incoming))
        if self._confirm.acts(incoming) or row["valid_email"] or not self._email_confirmation.required:
            return await self.send(incoming)
        text = _("We will send an e-mail with a link that confirms your address.")
        return self._confirm.page(incoming, Question(_("Confirm your address?"), text, _("Send the e-mail")))

    async def send(self, incoming: Incoming) -> Response:
        """Writes to the address of the signed-in person, unless it is confirmed."""
        row = await self._accounts.profile(me(incoming))
        if not self._email_confirmation.possible:
            raise NotFoundError("404 Not Found", code="not_configured")
        if row["valid_email"]:
            return Redirect("/account/profile", _("Your address is confirmed already."), "info")
        await self._email_confirmation.change(row, row["email_addr"], incoming.who)
        return Redirect("/account/profile", _("We sent you an e-mail. Open the link in it to confirm your address."))
