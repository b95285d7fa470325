"""A person's passkeys: registered with a name, listed, removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.accounts.authentication.passkeys import Challenge
from crowdd.domain.server.services import Services
from crowdd.errors import FormError, InvalidValueError
from crowdd.http.auth.cookies import CHALLENGE
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.pages.account.access import Entry, own_account
from crowdd.http.pages.account.security import shown_once
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage

_AT = "/account/<name>/passkeys"
_FIELDS = ("name", "credential")
_SHOWN = ("id", "name", "created", "last_used")


class PasskeyPages:
    """/account/<name>/passkeys."""

    def __init__(self, services: Services, forms: Forms, entry: Entry) -> None:
        self._services, self._forms, self._entry = services, forms, entry
        self._factors = services.people.second_factors

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.list, proof=True)
        yield post(_AT, self.change, proof=True)

    async def list(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._services, incoming, name, admins=False)
        return await self._page(row, self._forms.blank(incoming, *_FIELDS))

    async def change(self, incoming: Incoming, name: str) -> Response:
        """Registers the ``credential`` that a browser made, or removes the passkey that ``remove`` numbers."""
        row = await own_account(self._services, incoming, name, admins=False)
        if incoming.field("remove"):
            return await self._remove(incoming, row)
        challenge = Challenge.unpacked(self._entry.cookies.encrypted(incoming, CHALLENGE))
        self._entry.cookies.drop(incoming, CHALLENGE)
        try:
            label, credential = incoming.field("name"), incoming.field("credential")
            codes = await self._factors.add_passkey(row["id"], label, credential, challenge, incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(row, form, flash=CORRECT, status="error")
        words = _("You can sign in with this passkey from now on.")
        return shown_once(row, codes, words, self._forms.blank(incoming))

    async def _remove(self, incoming: Incoming, row: AccountPage) -> Response:
        try:
            number = Integer().parse(incoming.field("remove"))
        except InvalidValueError:
            raise InvalidValueError("remove is the number of a passkey.") from None
        await self._factors.remove_passkey(row["id"], number, incoming.who)
        return Redirect(f"/account/{quote(row['name'])}/passkeys", _("The passkey has been removed."))

    async def _page(self, row: AccountPage, form: dict[str, Any], **said: Any) -> Response:
        found = await self._factors.passkeys.of_user(row["id"])
        shown = [{key: outward(getattr(each, key)) for key in _SHOWN} for each in found]
        available = self._factors.passkeys.available
        more: dict[str, Any] = {"passkeys": shown, "form": form, "available": available, "_name": row["name"]}
        return Page("account/passkeys.html", title=_("Passkeys"), **more, **said)
