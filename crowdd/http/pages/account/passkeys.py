"""The passkeys of an account: list, registration, removal."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.authentication.passkeys import Challenge
from crowdd.domain.accounts.authentication.second_factor import SecondFactors
from crowdd.errors import FormError, InvalidValueError
from crowdd.http.auth.cookies import CHALLENGE
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.account.access import Entry, NamedPrivate, own_account
from crowdd.http.pages.account.security import shown_once
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage
from crowdd.values import Values

_AT = "/account/<name>/passkeys"
_FIELDS = ("name", "credential")
_SHOWN = ("id", "name", "created", "last_used", "address_proved")


class PasskeysPublic(Titled, WithForm, Message):
    passkeys: list[Values]
    available: bool


class PasskeyPages:
    """/account/<name>/passkeys."""

    def __init__(self, accounts: Accounts, second_factors: SecondFactors, forms: Forms, entry: Entry) -> None:
        self._accounts, self._factors, self._forms, self._entry = accounts, second_factors, forms, entry

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.list, proof=True)
        yield post(_AT, self.change, proof=True)

    async def list(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        return await self._page(row, self._forms.blank(incoming, *_FIELDS))

    async def change(self, incoming: Incoming, name: str) -> Response:
        """Registers the ``credential`` that a browser made, or removes the passkey that ``remove`` numbers."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        if incoming.field("remove"):
            return await self._remove(incoming, row)
        challenge = Challenge.unpacked(self._entry.cookies.encrypted(incoming, CHALLENGE))
        self._entry.cookies.drop(incoming, CHALLENGE)
        try:
            label, credential = incoming.field("name"), incoming.field("credential")
            codes = await self._factors.add_passkey(row["id"], label, credential, challenge, incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(row, form, MISTAKES)
        words = (
            _("You can sign in with this passkey from now on.")
            if row["valid_email"]
            else _("From now on you need this passkey after your password. Your e-mail address is not confirmed yet.")
        )
        return shown_once(row, codes, words, self._forms.blank(incoming))

    async def _remove(self, incoming: Incoming, row: AccountPage) -> Response:
        try:
            number = Integer().parse(incoming.field("remove"))
        except InvalidValueError:
            raise InvalidValueError("remove must be the number of a passkey.") from None
        await self._factors.remove_passkey(row["id"], number, incoming.who)
        return Redirect(f"/account/{quote(row['name'])}/passkeys", _("The passkey has been removed."))

    async def _page(self, row: AccountPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        user_passkeys = await self._factors.passkeys.of_user(row["id"])
        shown = [{key: outward(getattr(each, key)) for key in _SHOWN} for each in user_passkeys]
        available = self._factors.passkeys.available
        public = PasskeysPublic(title=_("Passkeys"), passkeys=shown, form=form, available=available, **message)
        return Page("account/passkeys.html", public, NamedPrivate(name=row["name"]))
