"""The pages of an account's protection: authenticator app, recovery codes, sessions, API tokens, answers to claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired, TypedDict
from urllib.parse import quote

from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.accounts.sessions import Sessions
from crowdd.features.signin.api_tokens import SCOPES, ApiTokens
from crowdd.features.signin.second_factors import SecondFactors
from crowdd.features.signin.views import EarlierAnswers, Entry, NamedPrivate, claimed_words, own_account
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.images import QrCode, shown_code
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer, iso

_SECURITY_AT = "/account/<name>"


class Security(TypedDict):
    """What protects an account; the numbers are counts."""

    password: bool
    authenticator: bool
    passkeys: int
    recovery_codes: int
    tokens: int
    sessions: int


class SecurityPublic(Titled):
    security: Security


class SecurityPrivate(NamedPrivate):
    """``offers_passkeys`` says whether passkeys work at the address of the site."""

    offers_passkeys: bool


class Authenticator(TypedDict):
    """An authenticator app: ``since`` when it is set up, or the ``secret`` and its ``uri`` for setting it up."""

    since: str | None
    secret: str | None
    uri: str | None


class AuthenticatorPublic(Titled, WithForm, Message):
    authenticator: Authenticator


class AuthenticatorPrivate(NamedPrivate):
    qr: QrCode | None


class CodesPublic(Titled, WithForm, Message):
    """``left`` is the number of unused codes; ``codes`` are shown only once, after their creation."""

    left: int
    codes: list[str]
    next: NotRequired[str]


class CodesPrivate(NamedPrivate):
    """``any`` says whether the account has a second factor."""

    any: bool


class SecurityPages:
    """/account/<name>/security, /account/<name>/authenticator and /account/<name>/recovery-codes."""

    def __init__(
        self, accounts: Accounts, second_factors: SecondFactors, api_tokens: ApiTokens, sessions: Sessions, forms: Forms
    ) -> None:
        self._accounts, self._factors, self._forms = accounts, second_factors, forms
        self._api_tokens, self._sessions = api_tokens, sessions

    def routes(self) -> Iterator[Route]:
        yield get(f"{_SECURITY_AT}/security", self.overview)
        yield get(f"{_SECURITY_AT}/authenticator", self.authenticator, proof=True)
        yield post(f"{_SECURITY_AT}/authenticator", self.change_authenticator, proof=True)
        yield get(f"{_SECURITY_AT}/recovery-codes", self.codes, proof=True)
        yield post(f"{_SECURITY_AT}/recovery-codes", self.new_codes, proof=True)

    async def overview(self, incoming: Incoming, name: str) -> Response:
        row = await self._own(incoming, name)
        methods = await self._factors.methods(row["id"])
        security = Security(
            password=row["has_password"],
            authenticator=methods.totp,
            passkeys=len(await self._factors.passkeys.of_user(row["id"])),
            recovery_codes=methods.codes,
            tokens=len(await self._api_tokens.listed(row["id"])),
            sessions=len(await self._sessions.listed(row["id"], incoming.who)),
        )
        private = SecurityPrivate(name=row["name"], offers_passkeys=self._factors.passkeys.available)
        return Page("account/security.html", SecurityPublic(title=_("Security"), security=security), private)

    async def authenticator(self, incoming: Incoming, name: str) -> Response:
        """The secret for setting up an app, or since when one is set up."""
        row = await self._own(incoming, name)
        return await self._page(incoming, row, self._forms.blank(incoming, "code"))

    async def change_authenticator(self, incoming: Incoming, name: str) -> Response:
        """Confirms the app by its first ``code``. With ``btn`` Remove it removes the app."""
        row = await self._own(incoming, name)
        if incoming.field("btn") == "Remove":
            await self._factors.remove_totp(row["id"], incoming.who)
            return Redirect(_security(row), _("The authenticator app has been removed."))
        try:
            codes = await self._factors.add_totp(row["id"], incoming.field("code"), incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, "code")
            return await self._page(incoming, row, form, MISTAKES)
        return shown_once(row, codes, _("The authenticator app is set up."), self._forms.blank(incoming))

    async def _page(self, incoming: Incoming, row: AccountPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        since = await self._factors.totp.since(row["id"])
        shown = Authenticator(since=None if since is None else iso(since), secret=None, uri=None)
        drawing = None
        if since is None:
            enrolment = await self._factors.totp.enrolment(row["id"], row["name"], incoming.who)
            shown["secret"], shown["uri"] = enrolment.secret, enrolment.uri
            drawing = shown_code(enrolment.uri)
        public = AuthenticatorPublic(title=_("Authenticator app"), authenticator=shown, form=form, **message)
        return Page("account/authenticator.html", public, AuthenticatorPrivate(name=row["name"], qr=drawing))

    async def codes(self, incoming: Incoming, name: str) -> Response:
        """How many codes are left; the codes themselves are shown only when they are made."""
        row = await self._own(incoming, name)
        methods = await self._factors.methods(row["id"])
        form = self._forms.blank(incoming)
        public = CodesPublic(title=_("Recovery codes"), form=form, left=methods.codes, codes=[])
        private = CodesPrivate(name=row["name"], any=methods.totp or methods.passkey)
        return Page("account/recovery_codes.html", public, private)

    async def new_codes(self, incoming: Incoming, name: str) -> Response:
        row = await self._own(incoming, name)
        codes = await self._factors.new_codes(row["id"], incoming.who)
        words = _("You have new recovery codes. The earlier ones no longer work.")
        return shown_once(row, codes, words, self._forms.blank(incoming))

    async def _own(self, incoming: Incoming, name: str) -> AccountPage:
        return await own_account(self._accounts, incoming, name, admins=False)


def shown_once(row: AccountPage, codes: list[str], flash: str, form: Form) -> Response:
    """The page with new recovery codes; without new codes a redirect to the overview."""
    if not codes:
        return Redirect(_security(row), flash)
    public = CodesPublic(
        title=_("Recovery codes"),
        codes=codes,
        left=len(codes),
        form=form,
        flash=flash,
        status="success",
        next=_security(row),
    )
    return Page("account/recovery_codes.html", public, CodesPrivate(name=row["name"], any=True))


def _security(row: AccountPage) -> str:
    return f"/account/{quote(row['name'])}/security"


class SessionsPublic(Titled, WithForm):
    sessions: list[Values]


class ClaimPublic(Titled, WithForm):
    """``answers`` is the number of anonymous answers that the account can take over."""

    answers: int


class DevicePages:
    """/account/<name>/sessions and /account/<name>/claim."""

    def __init__(
        self, accounts: Accounts, sessions: Sessions, forms: Forms, entry: Entry, earlier_answers: EarlierAnswers
    ) -> None:
        self._accounts, self._sessions, self._forms, self._entry = accounts, sessions, forms, entry
        self._earlier_answers = earlier_answers

    def routes(self) -> Iterator[Route]:
        yield get("/account/<name>/sessions", self.list)
        yield post("/account/<name>/sessions", self.end, proof=True)
        yield get("/account/<name>/claim", self.claim_form)
        yield post("/account/<name>/claim", self.claim)

    async def list(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        sessions = await self._sessions.listed(row["id"], incoming.who)
        shown = [{key: outward(value) for key, value in session.items()} for session in sessions]
        form = self._forms.blank(incoming, "session")
        public = SessionsPublic(title=_("Sessions"), sessions=shown, form=form)
        return Page("account/sessions.html", public, NamedPrivate(name=row["name"]))

    async def end(self, incoming: Incoming, name: str) -> Response:
        """Ends the session that the field ``session`` numbers, or with "all" every one."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        wanted = incoming.field("session")
        if wanted == "all":
            await self._sessions.end_all(row["id"])
            self._entry.forget(incoming)
            return Redirect("/account/signin", _("You are signed out everywhere."))
        try:
            ended = await self._sessions.end(row["id"], Integer().parse(wanted))
        except InvalidValueError:
            raise InvalidValueError('session must be the number of a session, or "all".') from None
        if not ended:
            raise NotFoundError(_("This session has already ended."))
        return Redirect(f"/account/{quote(row['name'])}/sessions", _("The session was signed out."))

    async def claim_form(self, incoming: Incoming, name: str) -> Response:
        """How many anonymous answers of this browser the account can take over."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        answers = await self._earlier_answers.count(incoming, row["id"])
        form = self._forms.blank(incoming)
        public = ClaimPublic(title=_("Your earlier answers"), answers=answers, form=form)
        return Page("account/claim.html", public, NamedPrivate(name=row["name"]))

    async def claim(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        claimed = await self._earlier_answers.claim(incoming, row["id"])
        return Redirect("/account/profile", claimed_words(claimed))


_TOKENS_AT = "/account/<name>/tokens"
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
        yield get(_TOKENS_AT, self.list, proof=True)
        yield post(_TOKENS_AT, self.change, proof=True)

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
