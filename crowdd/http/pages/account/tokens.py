"""A person's API tokens: made with a name and a scope, listed, revoked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from crowdd.domain.accounts.api_tokens import SCOPES
from crowdd.domain.server.services import Services
from crowdd.errors import FormError, InvalidValueError
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.pages.account.access import own_account
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage

_AT = "/account/<name>/tokens"
_FIELDS = ("name", "scope", "project", "days")
_SHOWN = ("id", "name", "scope", "project", "created", "expires", "last_used", "expired")


class TokenPages:
    """/account/<name>/tokens."""

    def __init__(self, services: Services, forms: Forms) -> None:
        self._services, self._forms, self._tokens = services, forms, services.people.api_tokens

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.list, proof=True)
        yield post(_AT, self.change, proof=True)

    async def list(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._services, incoming, name, admins=False)
        return await self._page(row, self._forms.blank(incoming, *_FIELDS))

    async def change(self, incoming: Incoming, name: str) -> Response:
        """Makes a token, which this answer alone shows, or revokes the one that ``revoke`` numbers."""
        row = await own_account(self._services, incoming, name, admins=False)
        if incoming.field("revoke"):
            return await self._revoke(incoming, row)
        label, scope, project, days = (incoming.field(field).strip() for field in _FIELDS)
        try:
            made = await self._tokens.create(row["id"], label, scope, project, days, incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(row, form, flash=CORRECT, status="error")
        words = _("The token was created. Copy it now: it is not shown again.")
        blank = self._forms.blank(incoming, *_FIELDS)
        return await self._page(row, blank, token=made, flash=words, status="success")

    async def _revoke(self, incoming: Incoming, row: AccountPage) -> Response:
        try:
            number = Integer().parse(incoming.field("revoke"))
        except InvalidValueError:
            raise InvalidValueError("revoke is the number of a token.") from None
        await self._tokens.revoke(row["id"], number, incoming.who)
        return Redirect(f"/account/{quote(row['name'])}/tokens", _("The token has been revoked."))

    async def _page(self, row: AccountPage, form: dict[str, Any], token: str | None = None, **said: Any) -> Response:
        found: Sequence[Mapping[str, Any]] = await self._tokens.listed(row["id"])
        shown = [{key: outward(each[key]) for key in _SHOWN} for each in found]
        more: dict[str, Any] = {
            "tokens": shown,
            "token": token,
            "form": form,
            "scopes": list(SCOPES),
            "_name": row["name"],
        }
        return Page("account/tokens.html", title=_("API tokens"), **more, **said)
