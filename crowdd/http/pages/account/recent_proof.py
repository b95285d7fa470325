"""Proving again who one is, before something is changed that protects the account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crowdd.domain.accounts.authentication import recent_proof
from crowdd.domain.accounts.authentication.passkeys import Challenge
from crowdd.domain.accounts.social.oauth import TITLES
from crowdd.domain.server.services import Services
from crowdd.errors import FormError
from crowdd.http.auth.cookies import CHALLENGE
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.pages.account.access import Entry, me, next_address
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

_FIELDS = ("password", "code", "credential")


class ProvePages:
    """/account/prove: the password, a code or a passkey; people with none of these use their provider."""

    def __init__(self, services: Services, forms: Forms, entry: Entry) -> None:
        self._services, self._forms, self._entry = services, forms, entry
        self._factors = services.people.second_factors

    def routes(self) -> Iterator[Route]:
        yield get("/account/prove", self.form)
        yield post("/account/prove", self.prove)

    async def form(self, incoming: Incoming) -> Response:
        recent_proof.require_session(incoming.who)
        return await self._page(incoming, self._forms.blank(incoming, *_FIELDS))

    async def prove(self, incoming: Incoming) -> Response:
        recent_proof.require_session(incoming.who)
        try:
            await self._check(incoming, me(incoming))
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(incoming, form, flash=CORRECT, status="error")
        await self._services.people.sessions.prove(incoming.who)
        return Redirect(next_address(incoming), more={"status": "success"})

    async def _check(self, incoming: Incoming, user_id: int) -> None:
        """Passes for one right proof; of several that were sent the strongest counts. Raises FormError."""
        if incoming.field("credential"):
            challenge = Challenge.unpacked(self._entry.cookies.encrypted(incoming, CHALLENGE))
            self._entry.cookies.drop(incoming, CHALLENGE)
            await self._factors.check_passkey(incoming.field("credential"), challenge, "prove", user_id)
        elif incoming.field("code"):
            await self._factors.check_code(user_id, incoming.field("code"), incoming.who, recovery=False)
        else:
            password, signing_in = incoming.field("password"), self._services.people.signing_in
            await signing_in.require_password(user_id, password, incoming.who, field="password")

    async def _page(self, incoming: Incoming, form: dict[str, Any], **said: Any) -> Response:
        row = await self._services.accounts.profile(me(incoming))
        methods = await self._factors.methods(row["id"])
        shown = {"password": row["has_password"], "code": methods.totp, "passkey": methods.passkey}
        ids: Mapping[str, Any] = row
        connected = [name for name in self._services.people.providers.found if ids[f"{name}_user_id"]]
        offered = [] if any(shown.values()) else [{"name": name, "title": TITLES[name]} for name in connected]
        more: dict[str, Any] = {"next": next_address(incoming), "methods": shown, "_providers": offered}
        return Page("account/prove.html", title=_("Confirm that it is you"), form=form, **more, **said)
