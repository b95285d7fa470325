"""Forgotten passwords (interface: account-forgot, account-reset)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.accounts.authentication.password_reset import Recovery
from crowdd.errors import FormError
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.account.access import Entry, WayInRecord, changed_words, shown_ways
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

_FORGOT = ("email_addr",)
_RESET = ("current_password", "new_password", "confirm")
_ASKED = _("If there is an account with this address, we have sent it an e-mail with a link to choose a new password.")


class RecoveryPublic(Titled, WithForm, Message):
    pass


class ResetPrivate(TypedDict):
    """``keep``: the ids of the boxes that are ticked."""

    keep: list[str]


class ResetPublic(RecoveryPublic):
    """``ways_in``: what a person may keep; the ``id`` of each that is theirs is sent as ``keep``."""

    ways_in: list[WayInRecord]


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
        return await self._reset_page(incoming, self._forms.blank(incoming, *_RESET))

    async def reset(self, incoming: Incoming) -> Response:
        new, confirm = incoming.field("new_password"), incoming.field("confirm")
        try:
            done = await self._recovery.reset(_key(incoming), new, confirm, incoming.all_sent("keep"), incoming.who)
        except FormError as error:
            return await self._reset_page(incoming, self._forms.refused(incoming, error.errors, *_RESET), MISTAKES)
        return await self._entry.arrive(incoming, done.account, changed_words(done))

    async def _reset_page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        """The form. A refused one has the boxes ticked that were."""
        ways = shown_ways(await self._recovery.choices(_key(incoming)))
        public = ResetPublic(title=_("New password"), form=form, ways_in=ways, **message)
        keep = incoming.all_sent("keep") if incoming.changes_state else []
        return Page("account/password_reset.html", public, ResetPrivate(keep=keep))


def _key(incoming: Incoming) -> str:
    return incoming.query.get("key", "") or (incoming.field("key") if incoming.changes_state else "")
