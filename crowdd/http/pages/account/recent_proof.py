"""The page on which people confirm who they are before they change what protects their account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.authentication import recent_proof
from crowdd.domain.accounts.authentication.passkeys import Challenge
from crowdd.domain.accounts.authentication.second_factor import SecondFactors
from crowdd.domain.accounts.authentication.sign_in import SigningIn
from crowdd.domain.accounts.social.oauth import TITLES
from crowdd.domain.accounts.social.providers import Providers
from crowdd.errors import FormError
from crowdd.http.auth.cookies import CHALLENGE
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.account.access import Entry, me, next_address
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

_FIELDS = ("password", "code", "credential")


class ProofMethods(TypedDict):
    """The proofs that an account has."""

    password: bool
    code: bool
    passkey: bool


class ProvePublic(Titled, WithForm, Message):
    """``next`` is the address to return to; ``methods`` are those that the account has."""

    next: str
    methods: ProofMethods


class ProvePrivate(TypedDict):
    """``providers`` can confirm the person instead."""

    providers: list[dict[str, str]]


class ProvePages:
    """/account/prove: the password, a code or a passkey; people with none of these use their provider."""

    def __init__(
        self,
        accounts: Accounts,
        second_factors: SecondFactors,
        signing_in: SigningIn,
        providers: Providers,
        forms: Forms,
        entry: Entry,
    ) -> None:
        self._accounts, self._factors, self._signing_in = accounts, second_factors, signing_in
        self._providers, self._forms, self._entry = providers, forms, entry

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
            return await self._page(incoming, form, MISTAKES)
        await self._entry.prove(incoming)
        return Redirect(next_address(incoming), more={"status": "success"})

    async def _check(self, incoming: Incoming, user_id: int) -> None:
        """Accepts one correct proof. If several are sent, only the strongest is checked. Raises FormError."""
        if incoming.field("credential"):
            challenge = Challenge.unpacked(self._entry.cookies.encrypted(incoming, CHALLENGE))
            self._entry.cookies.drop(incoming, CHALLENGE)
            await self._factors.check_passkey(incoming.field("credential"), challenge, "prove", user_id)
        elif incoming.field("code"):
            await self._factors.check_code(user_id, incoming.field("code"), incoming.who, recovery=False)
        else:
            password, signing_in = incoming.field("password"), self._signing_in
            await signing_in.require_password(user_id, password, incoming.who, field="password")

    async def _page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        row = await self._accounts.profile(me(incoming))
        methods = await self._factors.methods(row["id"])
        shown = ProofMethods(password=row["has_password"], code=methods.totp, passkey=methods.passkey)
        ids: Mapping[str, Any] = row
        connected = [name for name in self._providers.found if ids[f"{name}_user_id"]]
        offered = [] if any(shown.values()) else [{"name": name, "title": TITLES[name]} for name in connected]
        public = ProvePublic(
            title=_("Confirm that it is you"), form=form, next=next_address(incoming), methods=shown, **message
        )
        return Page("account/prove.html", public, ProvePrivate(providers=offered))
