"""Invitations to sign up: administrators make, list and withdraw them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.accounts.invitations import MAX_DAYS, Invitations
from crowdd.errors import ConflictError, InvalidValueError
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.values import Values

HERE = "/admin/site/invitations"
_FIELDS = ("note", "days")
_DAYS = 14


class InvitationsPublic(Titled, WithForm, Message):
    """``link`` is that of the invitation that was just made: it is shown this once."""

    invitations: list[Values]
    link: str | None


class InvitationsPrivate(TypedDict):
    """``needed``: whether nobody signs up without an invitation."""

    needed: bool
    max_days: int


class AdminInvitations:
    """``/admin/site/invitations``."""

    def __init__(self, invitations: Invitations, base_url: str, forms: Forms) -> None:
        self._invitations, self._base_url, self._forms = invitations, base_url, forms

    def routes(self) -> Iterator[Route]:
        yield get(HERE, admins_only(self.page))
        yield post(HERE, admins_only(self.make))
        yield post(f"{HERE}/<invitation>/withdraw", admins_only(self.withdraw))

    async def page(self, incoming: Incoming) -> Response:
        return await self._page(incoming, self._forms.filled(incoming, note=None, days=_DAYS))

    async def make(self, incoming: Incoming) -> Response:
        """Makes an invitation for ``note`` that works for ``days``, and shows its link once."""
        note, days = incoming.field("note").strip(), incoming.field("days").strip() or str(_DAYS)
        try:
            number = int(days) if days.isascii() and days.isdigit() and len(days) < 9 else 0
            key = await self._invitations.make(incoming.who, note, number)
        except InvalidValueError as error:
            wrong = "note" if 1 <= number <= MAX_DAYS else "days"
            form = self._forms.refused(incoming, {wrong: [message_of(error)]}, *_FIELDS)
            return await self._page(incoming, form, MISTAKES)
        except ConflictError as error:
            form = self._forms.refused(incoming, {}, *_FIELDS)
            return await self._page(incoming, form, Message(flash=message_of(error), status="error"))
        form = self._forms.filled(incoming, note=None, days=_DAYS)
        link = f"{self._base_url}/account/register?invitation={key}"
        message = Message(flash=_("Invitation created. Copy the link now: it is shown only once."), status="success")
        return await self._page(incoming, form, message, link)

    async def withdraw(self, incoming: Incoming, invitation: str) -> Response:
        await self._invitations.withdraw(incoming.who, invitation)
        return Redirect(HERE, _("The invitation is withdrawn. Its link no longer works."))

    async def _page(
        self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE, link: str | None = None
    ) -> Response:
        rows = await self._invitations.list(incoming.who)
        public = InvitationsPublic(
            title=_("Invitations"),
            form=form,
            invitations=[{name: outward(value) for name, value in row.items()} for row in rows],
            link=link,
            **message,
        )
        private = InvitationsPrivate(needed=await self._invitations.needed(), max_days=MAX_DAYS)
        return Page("admin/invitations.html", public, private)
