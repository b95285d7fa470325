"""What protects an account, in one place: the overview, the authenticator app, recovery codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import segno

from crowdd.domain.server.services import Services
from crowdd.errors import FormError
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.pages.account.access import own_account
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage

_AT = "/account/<name>"


class SecurityPages:
    """/account/<name>/security, /account/<name>/authenticator and /account/<name>/recovery-codes."""

    def __init__(self, services: Services, forms: Forms) -> None:
        self._services, self._forms = services, forms
        self._factors = services.people.second_factors

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/security", self.overview)
        yield get(f"{_AT}/authenticator", self.authenticator, proof=True)
        yield post(f"{_AT}/authenticator", self.change_authenticator, proof=True)
        yield get(f"{_AT}/recovery-codes", self.codes, proof=True)
        yield post(f"{_AT}/recovery-codes", self.new_codes, proof=True)

    async def overview(self, incoming: Incoming, name: str) -> Response:
        row = await self._own(incoming, name)
        methods, people = await self._factors.methods(row["id"]), self._services.people
        security = {
            "password": row["has_password"],
            "authenticator": methods.totp,
            "passkeys": len(await self._factors.passkeys.of_user(row["id"])),
            "recovery_codes": methods.codes,
            "tokens": len(await people.api_tokens.listed(row["id"])),
            "sessions": len(await people.sessions.listed(row["id"], incoming.who)),
        }
        more: dict[str, Any] = {"_name": row["name"], "_offers_passkeys": self._factors.passkeys.available}
        return Page("account/security.html", title=_("Security"), security=security, **more)

    async def authenticator(self, incoming: Incoming, name: str) -> Response:
        """The secret that waits for its first code, or since when an app is set up."""
        row = await self._own(incoming, name)
        return await self._page(incoming, row, self._forms.blank(incoming, "code"))

    async def change_authenticator(self, incoming: Incoming, name: str) -> Response:
        """Confirms the app by its first ``code``, or with ``btn`` Remove takes it away."""
        row = await self._own(incoming, name)
        if incoming.field("btn") == "Remove":
            await self._factors.remove_totp(row["id"], incoming.who)
            return Redirect(_security(row), _("The authenticator app has been removed."))
        try:
            codes = await self._factors.add_totp(row["id"], incoming.field("code"), incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, "code")
            return await self._page(incoming, row, form, flash=CORRECT, status="error")
        return shown_once(row, codes, _("The authenticator app is set up."), self._forms.blank(incoming))

    async def _page(self, incoming: Incoming, row: AccountPage, form: dict[str, Any], **said: Any) -> Response:
        since = await self._factors.totp.since(row["id"])
        shown: dict[str, Any] = {"since": outward(since), "secret": None, "uri": None}
        drawing = None
        if since is None:
            enrolment = await self._factors.totp.enrolment(row["id"], row["name"])
            shown |= {"secret": enrolment.secret, "uri": enrolment.uri}
            drawing = qr_code(enrolment.uri)
        more: dict[str, Any] = {"authenticator": shown, "form": form, "_qr": drawing, "_name": row["name"]}
        return Page("account/authenticator.html", title=_("Authenticator app"), **more, **said)

    async def codes(self, incoming: Incoming, name: str) -> Response:
        """How many codes are left; the codes themselves are shown only when they are made."""
        row = await self._own(incoming, name)
        methods = await self._factors.methods(row["id"])
        more: dict[str, Any] = {"form": self._forms.blank(incoming), "left": methods.codes, "codes": []}
        more |= {"_name": row["name"], "_any": methods.totp or methods.passkey}
        return Page("account/recovery_codes.html", title=_("Recovery codes"), **more)

    async def new_codes(self, incoming: Incoming, name: str) -> Response:
        row = await self._own(incoming, name)
        codes = await self._factors.new_codes(row["id"], incoming.who)
        words = _("You have new recovery codes. The earlier ones no longer work.")
        return shown_once(row, codes, words, self._forms.blank(incoming))

    async def _own(self, incoming: Incoming, name: str) -> AccountPage:
        return await own_account(self._services, incoming, name, admins=False)


def shown_once(row: AccountPage, codes: list[str], flash: str, form: dict[str, Any]) -> Response:
    """The page of new recovery codes; the overview where there are none to show."""
    if not codes:
        return Redirect(_security(row), flash)
    shown: dict[str, Any] = {"codes": codes, "left": len(codes), "form": form, "_name": row["name"], "_any": True}
    shown |= {"flash": flash, "status": "success", "next": _security(row)}
    return Page("account/recovery_codes.html", title=_("Recovery codes"), **shown)


def qr_code(text: str) -> dict[str, Any]:
    """A QR code as a path of SVG: ``size`` of its square with the quiet zone, and ``path``."""
    matrix = segno.make(text, error="m", micro=False).matrix_iter(border=4)
    rows = [list(row) for row in matrix]
    dark = (f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, module in enumerate(row) if module)
    return {"size": len(rows), "path": "".join(dark)}


def _security(row: AccountPage) -> str:
    return f"/account/{quote(row['name'])}/security"
