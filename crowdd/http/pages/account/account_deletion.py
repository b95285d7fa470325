"""One's own data as a file, and leaving for good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.accounts.authentication import recent_proof
from crowdd.domain.server.services import Services
from crowdd.errors import ForbiddenError, FormError, ProofNeededError
from crowdd.http.errors import message_of
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.html.presenter import api_headers
from crowdd.http.pages.account.access import Entry, own_account
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage

_FIELDS = ("password", "confirm")


class LeavingPages:
    """/account/<name>/export and /account/<name>/delete."""

    def __init__(self, services: Services, forms: Forms, entry: Entry) -> None:
        self._services, self._forms, self._entry = services, forms, entry
        self._data, self._account_deletion = services.people.personal_data, services.people.account_deletion

    def routes(self) -> Iterator[Route]:
        yield get("/account/<name>/export", self.export_form)
        yield post("/account/<name>/export", self.export)
        yield get("/account/<name>/export/download", self.download)
        yield get("/account/<name>/delete", self.delete_form)
        yield post("/account/<name>/delete", self.delete)

    async def export_form(self, incoming: Incoming, name: str) -> Response:
        """Where the last request stands; front ends that send JSON begin one where there is none.

        Such a request cannot come from another site's page: it would have to be asked for first.
        """
        row = await own_account(self._services, incoming, name, admins=False)
        found = await self._data.status(row["id"])
        if found.state == "none" and incoming.content_type == "application/json":
            await self._data.request(row["id"], incoming.who)
            found = await self._data.status(row["id"])
        address = f"/account/{quote(row['name'])}/export/download" if found.state == "ready" else None
        shown = {
            "state": found.state,
            "requested": outward(found.requested),
            "ready": outward(found.ready),
            "bytes": found.bytes,
            "url": address,
        }
        form = self._forms.blank(incoming)
        return Page("account/export.html", title=_("Your data"), export=shown, form=form, _name=row["name"])

    async def export(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._services, incoming, name, admins=False)
        new = await self._data.request(row["id"], incoming.who)
        words = _("Your data export is being prepared.") if new else _("Your data export is already being prepared.")
        here = f"/account/{quote(row['name'])}/export"
        return Redirect(here, words, "success" if new else "info", more={"job": "enqueued"})

    async def download(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._services, incoming, name, admins=False)
        body = await self._data.read(await self._data.file(row["id"]))
        headers = {
            **api_headers(),
            "Cache-Control": "no-store",
            "Content-Disposition": 'attachment; filename="my-data.zip"',
        }
        return BytesResponse(body, "application/zip", headers=headers)

    async def delete_form(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._services, incoming, name)
        return await self._page(incoming, row, self._forms.blank(incoming, *_FIELDS))

    async def delete(self, incoming: Incoming, name: str) -> Response:
        """Ends the account, for whoever knows its password (without one: types its name)."""
        row = await own_account(self._services, incoming, name)
        recent_proof.require_session(incoming.who)
        own = row["id"] == incoming.who.user_id
        try:
            await self._require_proof(incoming, row, own)
            await self._account_deletion.begin(row, incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(incoming, row, form, flash=CORRECT, status="error")
        except ProofNeededError:
            raise
        except ForbiddenError as error:
            form = self._forms.blank(incoming, *_FIELDS)
            return await self._page(incoming, row, form, flash=message_of(error), status="error")
        if own:
            self._entry.forget(incoming)
        own_words = _("Your account is being deleted. Thank you for everything.")
        words = own_words if own else _("The account is being deleted.")
        return Redirect("/", words, more={"job": "enqueued"})

    async def _require_proof(self, incoming: Incoming, row: AccountPage, own: bool) -> None:
        """The password in the form is a proof; without one the session must have a recent one."""
        if own and row["has_password"]:
            signing_in, password = self._services.people.signing_in, incoming.field("password")
            await signing_in.require_password(row["id"], password, incoming.who, field="password")
            return
        recent_proof.require(incoming.who)
        if incoming.field("confirm") != row["name"]:
            raise FormError({"confirm": [_("Type the user name as it is written above.")]})

    async def _page(self, incoming: Incoming, row: AccountPage, form: dict[str, Any], **said: Any) -> Response:
        owned = await self._account_deletion.obstacles(row["id"])
        projects = [{"short_name": project["short_name"], "name": project["name"]} for project in owned]
        asks = row["id"] == incoming.who.user_id and row["has_password"]
        more: dict[str, Any] = {"_name": row["name"], "_asks_password": asks}
        return Page("account/delete.html", title=_("Delete account"), form=form, projects=projects, **said, **more)
