"""The pages of the second step of sign-in, and of the passkeys of an account: list, registration, removal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.core import recent_proof
from crowdd.core.devices import Authenticated
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.signin.passkeys import Challenge
from crowdd.features.signin.second_factors import SecondFactors
from crowdd.features.signin.security_pages import shown_once
from crowdd.features.signin.views import (
    SECOND_PAGE,
    STEP_SECONDS,
    Entry,
    NamedPrivate,
    SecondStep,
    SecondSteps,
    me,
    own_account,
)
from crowdd.http.auth.cookies import CHALLENGE, SECOND_STEP
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, JsonResponse, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _, joined
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer

_SECOND_STEP_FIELDS = ("code", "credential")
_PURPOSES = ("signin", "second", "prove", "register")
_AGAIN = _("This sign-in took too long. Start again.")


class SecondStepMethods(TypedDict):
    """The second factors that an account has."""

    code: bool
    passkey: bool
    recovery_code: bool


class SecondStepPublic(Titled, WithForm, Message):
    methods: SecondStepMethods


class SecondStepPages:
    """/account/signin/second, /account/signin/passkey and /account/passkey/options."""

    def __init__(self, second_factors: SecondFactors, second_steps: SecondSteps, forms: Forms, entry: Entry) -> None:
        self._second_steps, self._forms, self._entry = second_steps, forms, entry
        self._factors, self._passkeys = second_factors, second_factors.passkeys

    def routes(self) -> Iterator[Route]:
        yield get(SECOND_PAGE, self.form)
        yield post(SECOND_PAGE, self.second)
        yield post("/account/signin/passkey", self.passkey)
        yield post("/account/passkey/options", self.options)

    async def form(self, incoming: Incoming) -> Response:
        step = await self._second_steps.current(incoming)
        if step is None:
            return Redirect("/account/signin", _AGAIN, "error")
        return await self._page(step, self._forms.blank(incoming, *_SECOND_STEP_FIELDS))

    async def second(self, incoming: Incoming) -> Response:
        """Opens the session after a code of the app, a recovery code or a passkey."""
        step = await self._second_steps.current(incoming)
        if step is None:
            return Redirect("/account/signin", _AGAIN, "error")
        try:
            if incoming.field("credential"):
                await self._by_passkey(incoming, "second", step.account.user_id)
            else:
                await self._factors.check_code(step.account.user_id, incoming.field("code"), incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_SECOND_STEP_FIELDS)
            return await self._page(step, form, MISTAKES)
        self._entry.cookies.drop(incoming, SECOND_STEP)
        await self._entry.enter(incoming, step.account, "")
        return Redirect(step.next, _("Welcome back."))

    async def passkey(self, incoming: Incoming) -> Response:
        """Signs in with a passkey alone. Its device has verified the person."""
        if incoming.who.signed_in:
            return Redirect("/")
        try:
            account = await self._by_passkey(incoming, "signin")
        except FormError as error:
            words = joined(*(sentence for sentences in error.errors.values() for sentence in sentences))
            return Redirect("/account/signin", words, "error")
        return await self._entry.enter(incoming, account, _("Welcome back."))

    async def _by_passkey(self, incoming: Incoming, purpose: str, user_id: int | None = None) -> Authenticated:
        challenge = Challenge.unpacked(self._entry.cookies.encrypted(incoming, CHALLENGE))
        self._entry.cookies.drop(incoming, CHALLENGE)
        return await self._factors.check_passkey(incoming.field("credential"), challenge, purpose, user_id)

    async def options(self, incoming: Incoming) -> Response:
        """The options for the browser's passkey API. A cookie keeps the challenge. ``purpose`` is one of _PURPOSES."""
        purpose = incoming.field("purpose")
        if not self._passkeys.available:
            raise NotFoundError("404 Not Found", code="not_configured")
        if purpose not in _PURPOSES:
            raise InvalidValueError(f"purpose must be one of {', '.join(_PURPOSES)}.")
        challenge = await self._passkeys.challenge(purpose, await self._whose(incoming, purpose))
        if purpose == "register":
            options = await self._passkeys.creation_options(challenge, me(incoming), incoming.who.user_name)
        else:
            options = await self._passkeys.request_options(challenge)
        self._entry.cookies.set_encrypted(incoming, CHALLENGE, challenge.packed(), seconds=STEP_SECONDS)
        return JsonResponse({"purpose": purpose, "options": options}, headers={"Cache-Control": "no-store"})

    async def _whose(self, incoming: Incoming, purpose: str) -> int | None:
        if purpose == "signin":
            return None
        if purpose == "second":
            step = await self._second_steps.current(incoming)
            if step is None:
                raise NotFoundError(_AGAIN)
            return step.account.user_id
        recent_proof.require_session(incoming.who)
        return me(incoming)

    async def _page(self, step: SecondStep, form: Form, message: Message = NO_MESSAGE) -> Response:
        methods = await self._factors.methods(step.account.user_id)
        shown = SecondStepMethods(code=methods.totp, passkey=methods.passkey, recovery_code=methods.codes > 0)
        public = SecondStepPublic(title=_("Second factor"), form=form, methods=shown, **message)
        return Page("account/second_step.html", public)


_AT = "/account/<name>/passkeys"
_PASSKEY_FIELDS = ("name", "credential")
_SHOWN = ("id", "name", "created", "last_used", "address_proved")


class PasskeysPublic(Titled, WithForm, Message):
    passkeys: list[Values]
    available: bool


class PasskeysPrivate(NamedPrivate):
    obstacle: str


class PasskeyPages:
    """/account/<name>/passkeys."""

    def __init__(self, accounts: Accounts, second_factors: SecondFactors, forms: Forms, entry: Entry) -> None:
        self._accounts, self._factors, self._forms, self._entry = accounts, second_factors, forms, entry

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.list, proof=True)
        yield post(_AT, self.change, proof=True)

    async def list(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        return await self._page(row, self._forms.blank(incoming, *_PASSKEY_FIELDS))

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
            form = self._forms.refused(incoming, error.errors, *_PASSKEY_FIELDS)
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
        obstacle = self._factors.passkeys.obstacle
        public = PasskeysPublic(title=_("Passkeys"), passkeys=shown, form=form, available=not obstacle, **message)
        return Page("account/passkeys.html", public, PasskeysPrivate(name=row["name"], obstacle=obstacle))
