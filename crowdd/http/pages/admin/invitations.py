"""Invitations to sign up: administrators make, list and withdraw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict

from crowdd.domain.accounts.invitations import MAX_DAYS, Invitations
from crowdd.errors import ConflictError, FormError, TooManyRequestsError
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.locales import locale_of
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import NAMES, _
from crowdd.values import Values

HERE = "/admin/site/invitations"
_FIELDS = ("note", "days", "email", "language")
_DAYS = 14


class InvitationsPublic(Titled, WithForm, Message):
    """``link`` is that of the invitation that was just made, unless an e-mail brings it: it is shown this once."""

    invitations: list[Values]
    link: str | None


class InvitationsPrivate(TypedDict):
    """``needed``: whether nobody signs up without an invitation; ``names`` are the languages of e-mails by code."""

    needed: bool
    names: Mapping[str, str]
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
        return await self._page(incoming, self._blank(incoming))

    def _blank(self, incoming: Incoming) -> Form:
        return self._forms.filled(incoming, note=None, days=_DAYS, email=None, language=locale_of(incoming))

    async def make(self, incoming: Incoming) -> Response:
        """Makes an invitation for ``note`` that works for ``days``. It goes to ``email``, or its link is shown once."""
        note, days, email = (incoming.field(name).strip() for name in ("note", "days", "email"))
        number = int(days) if days.isascii() and days.isdigit() and len(days) < 9 else 0 if days else _DAYS
        locale = incoming.field("language") or locale_of(incoming)
        try:
            key = await self._invitations.make(incoming.who, note, number, email, locale)
        except FormError as error:
            return await self._page(incoming, self._forms.refused(incoming, error.errors, *_FIELDS), MISTAKES)
        except (ConflictError, TooManyRequestsError) as error:
            form = self._forms.refused(incoming, {}, *_FIELDS)
            return await self._page(incoming, form, Message(flash=message_of(error), status="error"))
        link = f"{self._base_url}/account/register?invitation={key}"
        if email and self._invitations.mail_is_on:
            words = _("The invitation is on its way to %(address)s.", address=email)
            return await self._page(incoming, self._blank(incoming), Message(flash=words, status="success"))
        words = _("Invitation created. Copy the link now: it is shown only once.")
        message = Message(flash=words, status="success")
        if email:
            words = _("Mail is switched off ([mail] host in crowdd.conf). Copy the link: it is shown only once.")
            message = Message(flash=words, status="warning")
        return await self._page(incoming, self._blank(incoming), message, link)

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
        private = InvitationsPrivate(needed=await self._invitations.needed(), max_days=MAX_DAYS, names=NAMES)
        return Page("admin/invitations.html", public, private)
