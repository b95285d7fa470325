"""The pages of registration, the first administrator and e-mail confirmation, and the strength of a new password."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

import attrs
import orjson

from crowdd.core.devices import Authenticated
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.invitations import Invitations
from crowdd.features.accounts.passwords import PasswordPolicy, Strength
from crowdd.features.accounts.validation import Registration
from crowdd.features.signin.email_confirmation import PATH, REGISTER, EmailConfirmation
from crowdd.features.signin.providers import TITLES
from crowdd.features.signin.social_login import SocialLogin, nickname
from crowdd.features.signin.views import EarlierAnswers, Entry, me, next_address
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.auth.cookies import NEWCOMER
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.frames import api_headers
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, BytesResponse, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ForbiddenError, FormError, NotFoundError
from crowdd.kernel.languages import Languages, _, joined

_FIELDS = ("fullname", "name", "email_addr", "password", "confirm")


class RegisterPublic(Titled, WithForm, Message):
    pass


class RegisterPrivate(TypedDict):
    """``claimable`` is the number of answers that the account can take over; ``provider`` the title of one, or None.

    ``invitation`` is the key of one that works; ``closed``: somebody without one cannot sign up.
    """

    invitation: str
    closed: bool
    claimable: int
    next: str
    provider: str | None


class SentPublic(Titled):
    """``status`` is always ``sent``: the e-mail with the link is on its way."""

    status: str


@attrs.frozen(eq=False)
class RegisterPages:
    """/account/register and /account/first-admin."""

    _accounts: Accounts
    _social_login: SocialLogin
    _email_confirmation: EmailConfirmation
    _forms: Forms
    _entry: Entry
    _earlier_answers: EarlierAnswers
    _invitations: Invitations

    def routes(self) -> Iterator[Route]:
        yield get("/account/register", self.form)
        yield post("/account/register", self.register)
        yield get("/account/first-admin", self.first_admin_form)
        yield post("/account/first-admin", self.first_admin)

    async def form(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect("/")
        known = self._entry.newcomer(incoming)
        values = dict.fromkeys(_FIELDS) | ({"fullname": known.fullname, "name": nickname(known)} if known else {})
        form = self._forms.filled(incoming, **values)
        return await self._page(incoming, form)

    async def register(self, incoming: Incoming) -> Response:
        if incoming.who.signed_in:
            return Redirect("/")
        try:
            if self._email_confirmation.required:
                return await self._send(incoming)
            user_id = await self._register(incoming)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(incoming, form, MISTAKES)
        words = await self._earlier_answers.welcome(incoming, user_id, incoming.flag("claim", False))
        return await self._entry.enter(incoming, Authenticated(user_id), words)

    async def _send(self, incoming: Incoming) -> Response:
        """Sends the link that creates the account (interface: account-register-sent)."""
        known = self._entry.newcomer(incoming)
        await self._email_confirmation.register(_registration(incoming), known, incoming.who)
        self._entry.cookies.drop(incoming, NEWCOMER)
        if incoming.flag("claim", False):
            self._earlier_answers.note_claim(incoming)
        return Page("account/account_validation.html", SentPublic(title=_("Confirm your address"), status="sent"))

    async def _register(self, incoming: Incoming) -> int:
        """The id of the new account. Accounts that come from a provider need no password."""
        known = self._entry.newcomer(incoming)
        if known is None:
            return await self._accounts.register(_registration(incoming), incoming.who)
        user_id = await self._social_login.register(known, _registration(incoming), incoming.who)
        self._entry.cookies.drop(incoming, NEWCOMER)
        return user_id

    async def _page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        claimable = await self._earlier_answers.count(incoming)
        known = self._entry.newcomer(incoming)
        provider = None if known is None else TITLES[known.provider]
        key = _invitation(incoming)
        private = RegisterPrivate(
            invitation=key,
            closed=not await self._invitations.admits(key),
            claimable=claimable,
            next=next_address(incoming, ""),
            provider=provider,
        )
        return Page("account/register.html", RegisterPublic(title=_("Register"), form=form, **message), private)

    async def first_admin_form(self, incoming: Incoming) -> Response:
        await self._accounts.first_admin_open(incoming.query.get("key", ""))
        form = self._forms.blank(incoming, *_FIELDS)
        return Page("account/first_admin.html", RegisterPublic(title=_("First account"), form=form))

    async def first_admin(self, incoming: Incoming) -> Response:
        try:
            form = _registration(incoming)
            user_id = await self._accounts.make_first_admin(incoming.query.get("key", ""), form, incoming.who)
        except FormError as error:
            refused = self._forms.refused(incoming, error.errors, *_FIELDS)
            return Page("account/first_admin.html", RegisterPublic(title=_("First account"), form=refused, **MISTAKES))
        words = _("Welcome. You are now an administrator of this site.")
        return await self._entry.enter(incoming, Authenticated(user_id), words)


def _registration(incoming: Incoming) -> Registration:
    form_fields = {a.name: incoming.field(a.name) for a in attrs.fields(Registration)}
    return Registration(**form_fields | {"invitation": _invitation(incoming)})


def _invitation(incoming: Incoming) -> str:
    """The key of an invitation, from the form or from the address that its link has."""
    key = incoming.field("invitation") if incoming.changes_state else ""
    return key or incoming.query.get("invitation", "")


class ConfirmationPublic(Titled, WithForm):
    pass


class ConfirmationPrivate(TypedDict):
    """``new`` says whether the link creates an account."""

    new: bool


class ConfirmPages:
    """/account/register/confirmation and /account/confirm-email.

    A link in an e-mail shows a button: mail filters open links too, and another site could sign people in to an account
    of its own. Requests of front ends, which send JSON, take effect at once.
    """

    def __init__(
        self,
        accounts: Accounts,
        email_confirmation: EmailConfirmation,
        forms: Forms,
        entry: Entry,
        earlier_answers: EarlierAnswers,
    ) -> None:
        self._accounts, self._email_confirmation = accounts, email_confirmation
        self._forms, self._entry, self._earlier_answers = forms, entry, earlier_answers
        self._confirm = Confirm(forms.csrf)

    def routes(self) -> Iterator[Route]:
        yield get(PATH, self.open)
        yield post(PATH, self.confirm)
        yield get("/account/confirm-email", self.send_or_ask)
        yield post("/account/confirm-email", self.send)

    async def open(self, incoming: Incoming) -> Response:
        if incoming.content_type == "application/json":
            return await self.confirm(incoming)
        purpose = await self._email_confirmation.look(incoming.query.get("key", ""))
        public = ConfirmationPublic(title=_("Confirm your address"), form=self._forms.blank(incoming))
        return Page("account/confirmation.html", public, ConfirmationPrivate(new=purpose == REGISTER))

    async def confirm(self, incoming: Incoming) -> Response:
        try:
            done = await self._email_confirmation.confirm(incoming.query.get("key", ""), incoming.who)
        except FormError as error:
            sentences = [sentence for each in error.errors.values() for sentence in each]
            raise ForbiddenError(joined(*sentences, _("Please sign up again."))) from None
        if not done.new:
            return Redirect("/account/profile", _("Your address is confirmed."))
        claims = self._earlier_answers.take_claim(incoming)
        words = await self._earlier_answers.welcome(incoming, done.user_id, claims)
        return await self._entry.enter(incoming, Authenticated(done.user_id), words)

    async def send_or_ask(self, incoming: Incoming) -> Response:
        """Sends the e-mail for programs. A browser gets a question first, unless there is nothing to confirm."""
        row = await self._accounts.profile(me(incoming))
        if self._confirm.acts(incoming) or row["valid_email"] or not self._email_confirmation.required:
            return await self.send(incoming)
        text = _("We will send an e-mail with a link that confirms your address.")
        return self._confirm.page(incoming, Question(_("Confirm your address?"), text, _("Send the e-mail")))

    async def send(self, incoming: Incoming) -> Response:
        """Sends a link to the address of the signed-in person, unless it is confirmed."""
        row = await self._accounts.profile(me(incoming))
        if not self._email_confirmation.possible:
            raise NotFoundError("404 Not Found", code="not_configured")
        if row["valid_email"]:
            return Redirect("/account/profile", _("Your address is confirmed already."), "info")
        await self._email_confirmation.change(row, row["email_addr"], incoming.who)
        return Redirect("/account/profile", _("We sent you an e-mail. Open the link in it to confirm your address."))


class StrengthPages:
    """/account/password-strength: what the meter beside a password field shows. Nothing is stored."""

    def __init__(self, policy: PasswordPolicy, languages: Languages) -> None:
        self._policy, self._languages = policy, languages

    def routes(self) -> Iterator[Route]:
        yield post("/account/password-strength", self.assess)

    async def assess(self, incoming: Incoming) -> Response:
        """``score`` from 0 to 4, whether it is ``acceptable``, and ``words`` in the reader's language."""
        password, who = incoming.field("password"), incoming.who
        about = [incoming.field(name) for name in ("name", "fullname", "email_addr")] + [who.user_name, who.fullname]
        strength, min_length = await self._policy.assess(password, about), self._policy.min_length
        locale = locale_of(incoming)
        words = [self._languages.say(sentence, locale) for sentence in advice(strength, password, min_length)]
        acceptable = len(password) >= min_length and not strength.mistakes
        score = strength.score if acceptable else min(strength.score, 1)
        body = orjson.dumps({"score": score, "acceptable": acceptable, "words": " ".join(words)})
        return BytesResponse(body, "application/json", headers={**api_headers(), "Cache-Control": "no-store"})


def advice(strength: Strength, password: str, min_length: int) -> list[str]:
    """Advice about a password: why it is refused, otherwise how to improve it, otherwise that it is good."""
    if len(password) < min_length:
        return [_("Use %(num)s characters or more.", num=min_length), *strength.advice]
    if strength.mistakes:
        return list(dict.fromkeys([*strength.mistakes, *strength.advice]))
    return (
        [_("This is a good password.")]
        if strength.score >= 3
        else [_("This password is acceptable."), *strength.advice]
    )
