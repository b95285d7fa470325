"""The pages of sign-in, sign-out and forgotten passwords, and the page on which people confirm who they are.

People confirm it before they change what protects their account. (Interface: account-forgot, account-reset.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

import attrs

from crowdd.core import recent_proof
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.signin.passkeys import Challenge
from crowdd.features.signin.password_reset import Recovery
from crowdd.features.signin.providers import TITLES, Providers
from crowdd.features.signin.second_factors import SecondFactors
from crowdd.features.signin.sign_in import WRONG, SigningIn
from crowdd.features.signin.views import Entry, WayInRecord, changed_words, me, next_address, shown_ways
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.auth.cookies import CHALLENGE
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, Shared, get, post
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import _

_PROOF_FIELDS = ("password", "code", "credential")


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


@attrs.frozen(eq=False)
class ProvePages:
    """/account/prove: the password, a code or a passkey; people with none of these use their provider."""

    _accounts: Accounts
    _factors: SecondFactors
    _signing_in: SigningIn
    _providers: Providers
    _forms: Forms
    _entry: Entry

    def routes(self) -> Iterator[Route]:
        yield get("/account/prove", self.form)
        yield post("/account/prove", self.prove)

    async def form(self, incoming: Incoming) -> Response:
        recent_proof.require_session(incoming.who)
        return await self._page(incoming, self._forms.blank(incoming, *_PROOF_FIELDS))

    async def prove(self, incoming: Incoming) -> Response:
        recent_proof.require_session(incoming.who)
        try:
            await self._check(incoming, me(incoming))
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_PROOF_FIELDS)
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


_SIGN_IN_FIELDS = ("email", "password")


class SignInPublic(Titled, WithForm, Message):
    """``auth`` says which providers can be used."""

    auth: dict[str, bool]
    next: str | None


class SignInPrivate(TypedDict):
    """``passkeys`` says whether they work at the address of the site."""

    passkeys: bool


class SignInPages:
    """/account/signin and /account/signout."""

    def __init__(
        self, signing_in: SigningIn, providers: Providers, second_factors: SecondFactors, forms: Forms, entry: Entry
    ) -> None:
        self._signing_in, self._providers, self._forms, self._entry = signing_in, providers, forms, entry
        self._confirm = Confirm(forms.csrf)
        self._passkeys = second_factors.passkeys

    def routes(self) -> Iterator[Route]:
        yield get("/account/signin", self.form, hot=True, shared=Shared.CONSTANT)
        yield post("/account/signin", self.sign_in)
        yield get("/account/signout", self._confirm.first(self.sign_out, self._ask_to_sign_out))
        yield post("/account/signout", self.sign_out)

    async def form(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect(next_address(incoming))
        return self._page(incoming, self._forms.blank(incoming, *_SIGN_IN_FIELDS))

    async def sign_in(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect("/")
        try:
            email, password = incoming.field("email"), incoming.field("password")
            device = self._entry.cookies.device(incoming)
            account = await self._signing_in.sign_in(email, password, incoming.who, device)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_SIGN_IN_FIELDS)
            return self._page(incoming, form, Message(flash=WRONG, status="error"))
        return await self._entry.arrive(incoming, account, _("Welcome back."))

    def _page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        next_ = next_address(incoming, "") or None
        public = SignInPublic(title=_("Sign in"), form=form, auth=self._providers.offered, next=next_, **message)
        return Page("account/signin.html", public, SignInPrivate(passkeys=self._passkeys.available))

    async def _ask_to_sign_out(self) -> Question:
        return Question(_("Sign out?"), _("You will be signed out in this browser."), _("Sign out"))

    async def sign_out(self, incoming: Incoming) -> Response:
        await self._entry.leave(incoming)
        message = _("You are signed out.")
        return Redirect("/", message, more={"message": message})
