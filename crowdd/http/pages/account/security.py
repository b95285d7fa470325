"""The protection of an account: the overview, the authenticator app, recovery codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired, TypedDict
from urllib.parse import quote

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.api_tokens import ApiTokens
from crowdd.domain.accounts.authentication.second_factor import SecondFactors
from crowdd.domain.accounts.authentication.sessions import Sessions
from crowdd.errors import FormError
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.qr_codes import QrCode, qr_code
from crowdd.http.pages.account.access import NamedPrivate, own_account
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.types import iso
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage

_AT = "/account/<name>"


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
        yield get(f"{_AT}/security", self.overview)
        yield get(f"{_AT}/authenticator", self.authenticator, proof=True)
        yield post(f"{_AT}/authenticator", self.change_authenticator, proof=True)
        yield get(f"{_AT}/recovery-codes", self.codes, proof=True)
        yield post(f"{_AT}/recovery-codes", self.new_codes, proof=True)

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
            drawing = qr_code(enrolment.uri)
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
