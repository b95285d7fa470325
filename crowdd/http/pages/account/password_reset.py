"""Forgotten passwords (interface: account-forgot, account-reset)."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.accounts.authentication.password_reset import Recovery
from crowdd.errors import FormError
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.account.access import Entry, changed_words
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

_FORGOT = ("email_addr",)
_RESET = ("current_password", "new_password", "confirm")
_ASKED = _("If there is an account with this address, we have sent it an e-mail with a link to choose a new password.")


class RecoveryPublic(Titled, WithForm, Message):
    pass


class RecoveryPages:
    """/account/forgot-password and /account/reset-password."""

    def __init__(self, recovery: Recovery, forms: Forms, entry: Entry) -> None:
        self._recovery, self._forms, self._entry = recovery, forms, entry

    def routes(self) -> Iterator[Route]:
        yield get("/account/forgot-password", self.forgot_form)
        yield post("/account/forgot-password", self.forgot)
        yield get("/account/reset-password", self.reset_form)
        yield post("/account/reset-password", self.reset)

    async def forgot_form(self, incoming: Incoming) -> Response:
        form = self._forms.blank(incoming, *_FORGOT)
        return Page("account/password_forgot.html", RecoveryPublic(title=_("Forgotten password"), form=form))

    async def forgot(self, incoming: Incoming) -> Response:
        """The same answer for an address that is known and one that is not."""
        try:
            await self._recovery.ask(incoming.field("email_addr"), incoming.who)
            form, message = self._forms.blank(incoming, *_FORGOT), Message(flash=_ASKED, status="success")
        except FormError as error:
            form, message = self._forms.refused(incoming, error.errors, *_FORGOT), MISTAKES
        return Page("account/password_forgot.html", RecoveryPublic(title=_("Forgotten password"), form=form, **message))

    async def reset_form(self, incoming: Incoming) -> Response:
        await self._recovery.open(_key(incoming), incoming.who)
        return self._reset_page(self._forms.blank(incoming, *_RESET))

    async def reset(self, incoming: Incoming) -> Response:
        new, confirm = incoming.field("new_password"), incoming.field("confirm")
        try:
            done = await self._recovery.reset(_key(incoming), new, confirm, incoming.who)
        except FormError as error:
            return self._reset_page(self._forms.refused(incoming, error.errors, *_RESET), MISTAKES)
        return await self._entry.arrive(incoming, done.user_id, changed_words(done.revoked))

    def _reset_page(self, form: Form, message: Message = NO_MESSAGE) -> Response:
        return Page("account/password_reset.html", RecoveryPublic(title=_("New password"), form=form, **message))


def _key(incoming: Incoming) -> str:
    return incoming.query.get("key", "") or (incoming.field("key") if incoming.changes_state else "")
