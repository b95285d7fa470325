"""The export of one's own data, and the deletion of an account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

import attrs

from crowdd.core import recent_proof
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.people.account_deletion import AccountDeletion
from crowdd.features.people.personal_data import PersonalData
from crowdd.features.signin.sign_in import SigningIn
from crowdd.features.signin.views import Entry, NamedPrivate, own_account
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.frames import api_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, BytesResponse, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ForbiddenError, FormError, ProofNeededError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.types import iso

_FIELDS = ("password", "confirm")


class Export(TypedDict):
    """A data export. ``state`` is none, waiting or ready; ``url`` is there when it is ready."""

    state: str
    requested: str | None
    ready: str | None
    bytes: int | None
    url: str | None


class ExportPublic(Titled, WithForm):
    export: Export


class DeletePublic(Titled, WithForm, Message):
    """``projects`` are those that the account still owns, which prevent its deletion."""

    projects: list[Values]


class DeletePrivate(NamedPrivate):
    asks_password: bool


@attrs.frozen(eq=False)
class LeavingPages:
    """/account/<name>/export and /account/<name>/delete."""

    _accounts: Accounts
    _data: PersonalData
    _account_deletion: AccountDeletion
    _signing_in: SigningIn
    _forms: Forms
    _entry: Entry

    def routes(self) -> Iterator[Route]:
        yield get("/account/<name>/export", self.export_form)
        yield post("/account/<name>/export", self.export)
        yield get("/account/<name>/export/download", self.download)
        yield get("/account/<name>/delete", self.delete_form)
        yield post("/account/<name>/delete", self.delete)

    async def export_form(self, incoming: Incoming, name: str) -> Response:
        """The state of the export. For front ends that send JSON this starts an export if there is none.

        A page of another site cannot send such a request: the browser would ask this site for permission first.
        """
        row = await own_account(self._accounts, incoming, name, admins=False)
        export_status = await self._data.status(row["id"])
        if export_status.state == "none" and incoming.content_type == "application/json":
            await self._data.request(row["id"], incoming.who)
            export_status = await self._data.status(row["id"])
        address = f"/account/{quote(row['name'])}/export/download" if export_status.state == "ready" else None
        export = Export(
            state=export_status.state,
            requested=None if export_status.requested is None else iso(export_status.requested),
            ready=None if export_status.ready is None else iso(export_status.ready),
            bytes=export_status.bytes,
            url=address,
        )
        public = ExportPublic(title=_("Your data"), export=export, form=self._forms.blank(incoming))
        return Page("account/export.html", public, NamedPrivate(name=row["name"]))

    async def export(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        new = await self._data.request(row["id"], incoming.who)
        words = _("Your data export is being prepared.") if new else _("Your data export is already being prepared.")
        here = f"/account/{quote(row['name'])}/export"
        return Redirect(here, words, "success" if new else "info", more={"job": "enqueued"})

    async def download(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        body = await self._data.read(await self._data.file(row["id"]))
        headers = {
            **api_headers(),
            "Cache-Control": "no-store",
            "Content-Disposition": 'attachment; filename="my-data.zip"',
        }
        return BytesResponse(body, "application/zip", headers=headers)

    async def delete_form(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name)
        return await self._page(incoming, row, self._forms.blank(incoming, *_FIELDS))

    async def delete(self, incoming: Incoming, name: str) -> Response:
        """Starts the deletion. The owner gives the password; without a password they type the user name."""
        row = await own_account(self._accounts, incoming, name)
        recent_proof.require_session(incoming.who)
        own = row["id"] == incoming.who.user_id
        try:
            await self._require_proof(incoming, row, own)
            await self._account_deletion.begin(row, incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(incoming, row, form, MISTAKES)
        except ProofNeededError:
            raise
        except ForbiddenError as error:
            form = self._forms.blank(incoming, *_FIELDS)
            return await self._page(incoming, row, form, Message(flash=message_of(error), status="error"))
        if own:
            self._entry.forget(incoming)
        own_words = _("Your account is being deleted. Thank you for everything.")
        words = own_words if own else _("The account is being deleted.")
        return Redirect("/", words, more={"job": "enqueued"})

    async def _require_proof(self, incoming: Incoming, row: AccountPage, own: bool) -> None:
        """Accepts the password in the form, or a recent proof of the session. Raises FormError, ProofNeededError."""
        if own and row["has_password"]:
            signing_in, password = self._signing_in, incoming.field("password")
            await signing_in.require_password(row["id"], password, incoming.who, field="password")
            return
        recent_proof.require(incoming.who)
        if incoming.field("confirm") != row["name"]:
            raise FormError({"confirm": [_("Type the user name as it is written above.")]})

    async def _page(self, incoming: Incoming, row: AccountPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        owned = await self._account_deletion.obstacles(row["id"])
        projects = [{"short_name": project["short_name"], "name": project["name"]} for project in owned]
        asks = row["id"] == incoming.who.user_id and row["has_password"]
        public = DeletePublic(title=_("Delete account"), form=form, projects=projects, **message)
        return Page("account/delete.html", public, DeletePrivate(name=row["name"], asks_password=asks))
