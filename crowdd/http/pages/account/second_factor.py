"""Second factors at sign-in: the second step, and passkeys instead of a password."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.accounts.authentication import recent_proof
from crowdd.domain.accounts.authentication.passkeys import Challenge
from crowdd.domain.accounts.authentication.second_factor import SecondFactors
from crowdd.domain.accounts.authentication.sessions import Authenticated
from crowdd.errors import FormError, InvalidValueError, NotFoundError
from crowdd.http.auth.cookies import CHALLENGE, SECOND_STEP
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.account.access import SECOND_PAGE, STEP_SECONDS, Entry, SecondStep, SecondSteps, me
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, JsonResponse, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _, joined

_FIELDS = ("code", "credential")
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
        return await self._page(step, self._forms.blank(incoming, *_FIELDS))

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
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
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
