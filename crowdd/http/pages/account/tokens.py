"""The API tokens of an account: list, creation with a name and a scope, revocation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.api_tokens import SCOPES, ApiTokens
from crowdd.errors import FormError, InvalidValueError
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.account.access import NamedPrivate, own_account
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage
from crowdd.values import Values

_AT = "/account/<name>/tokens"
_FIELDS = ("name", "scope", "project", "days")
_SHOWN = ("id", "name", "scope", "project", "created", "expires", "last_used", "expired")


class TokensPublic(Titled, WithForm, Message):
    """``token`` is the new token right after it was made."""

    tokens: list[Values]
    token: str | None
    scopes: list[str]


class TokenPages:
    """/account/<name>/tokens."""

    def __init__(self, accounts: Accounts, api_tokens: ApiTokens, forms: Forms) -> None:
        self._accounts, self._tokens, self._forms = accounts, api_tokens, forms

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.list, proof=True)
        yield post(_AT, self.change, proof=True)

    async def list(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        return await self._page(row, self._forms.blank(incoming, *_FIELDS))

    async def change(self, incoming: Incoming, name: str) -> Response:
        """Creates a token, which is shown only once, or revokes the one with the number in ``revoke``."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        if incoming.field("revoke"):
            return await self._revoke(incoming, row)
        label, scope, project, days = (incoming.field(field).strip() for field in _FIELDS)
        try:
            made = await self._tokens.create(row["id"], label, scope, project, days, incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(row, form, MISTAKES)
        words = _("The token was created. Copy it now: it is not shown again.")
        blank = self._forms.blank(incoming, *_FIELDS)
        return await self._page(row, blank, Message(flash=words, status="success"), made)

    async def _revoke(self, incoming: Incoming, row: AccountPage) -> Response:
        try:
            number = Integer().parse(incoming.field("revoke"))
        except InvalidValueError:
            raise InvalidValueError("revoke must be the number of a token.") from None
        await self._tokens.revoke(row["id"], number, incoming.who)
        return Redirect(f"/account/{quote(row['name'])}/tokens", _("The token has been revoked."))

    async def _page(
        self, row: AccountPage, form: Form, message: Message = NO_MESSAGE, token: str | None = None
    ) -> Response:
        token_rows: Sequence[Mapping[str, Any]] = await self._tokens.listed(row["id"])
        shown = [{key: outward(each[key]) for key in _SHOWN} for each in token_rows]
        public = TokensPublic(
            title=_("API tokens"), tokens=shown, token=token, form=form, scopes=list(SCOPES), **message
        )
        return Page("account/tokens.html", public, NamedPrivate(name=row["name"]))
