"""The accounts of the site, as administrators see them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

import orjson

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.core.csv_escape import cell
from crowdd.domain.projects.serializers import person
from crowdd.domain.server.administration import Administration
from crowdd.errors import ForbiddenError, InvalidValueError
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.html.forms import Form, Forms, WithForm
from crowdd.http.html.presenter import api_headers
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.storage.accounts.rows import RankedPerson
from crowdd.values import Values

_HERE = "/admin/users"
_COLUMNS = ("id", "name", "fullname", "email_addr", "created", "locale", "admin", "consent", "restrict")


class UsersPublic(Titled, WithForm):
    found: list[Values]
    users: list[Values]


class AdminUsers:
    """``/admin/users``: search, administrator rights, blocking, and an export of all accounts."""

    def __init__(self, administration: Administration, accounts: Accounts, forms: Forms) -> None:
        self._administration, self._accounts, self._forms = administration, accounts, forms
        self._confirm = Confirm(forms.csrf)

    def routes(self) -> Iterator[Route]:
        yield get(_HERE, admins_only(self.users))
        yield post(_HERE, admins_only(self.search))
        for action, handler, ask in (("add", self.add, self._ask_to_add), ("del", self.remove, self._ask_to_remove)):
            by_link = admins_only(self._confirm.first(handler, ask))
            yield get(f"{_HERE}/{action}/<int:user_id>", by_link, proof=True)
            yield post(f"{_HERE}/{action}/<int:user_id>", admins_only(handler), proof=True)
        yield post(f"{_HERE}/block/<int:user_id>", admins_only(self.block))
        yield post(f"{_HERE}/unblock/<int:user_id>", admins_only(self.unblock))
        yield get(f"{_HERE}/export", admins_only(self.export))

    async def users(self, incoming: Incoming) -> Response:
        """The administrators, and a form to look for others."""
        return await self._page(incoming, self._forms.blank(incoming, "user"), [])

    async def search(self, incoming: Incoming) -> Response:
        """The same page with the people whose names or address contain the text that was typed."""
        found = await self._administration.found(incoming.field("user"), incoming.who)
        return await self._page(incoming, self._forms.refused(incoming, {}, "user"), found)

    async def _page(self, incoming: Incoming, form: Form, found: list[RankedPerson]) -> Response:
        admins = await self._administration.admins(incoming.who)
        public = UsersPublic(title=_("People"), form=form, found=_shown(found), users=_shown(admins))
        return Page("admin/users.html", public)

    async def _ask_to_add(self, user_id: int) -> Question:
        row = await self._accounts.profile(user_id)
        text = _("%(name)s will see and change everything on this site.", name=row["name"])
        return Question(_("Make administrator?"), text, _("Make administrator"))

    async def _ask_to_remove(self, user_id: int) -> Question:
        row = await self._accounts.profile(user_id)
        text = _("%(name)s will keep the account but lose administrator rights.", name=row["name"])
        return Question(_("Remove administrator rights?"), text, _("Remove administrator rights"))

    async def add(self, incoming: Incoming, user_id: int) -> Response:
        row = await self._accounts.profile(user_id)
        if row["restrict"]:
            raise ForbiddenError(_("This person is blocked."))
        done = await self._accounts.set_admin(user_id, True, incoming.who)
        words = (
            _("%(name)s is now an administrator of this site.", name=row["name"]) if done else _("Nothing has changed.")
        )
        return Redirect(_HERE, words, "success" if done else "info")

    async def remove(self, incoming: Incoming, user_id: int) -> Response:
        """Removes the rights of another administrator. Nobody removes their own, so one is always left."""
        if user_id == incoming.who.user_id:
            raise ForbiddenError(_("You cannot remove your own administrator rights."))
        row = await self._accounts.profile(user_id)
        done = await self._accounts.set_admin(user_id, False, incoming.who)
        words = _("%(name)s is no longer an administrator.", name=row["name"]) if done else _("Nothing has changed.")
        return Redirect(_HERE, words, "success" if done else "info")

    async def block(self, incoming: Incoming, user_id: int) -> Response:
        done = await self._administration.block(user_id, incoming.who)
        words = _("The account is blocked and signed out everywhere.") if done else _("Nothing has changed.")
        return Redirect(_HERE, words, "success" if done else "info")

    async def unblock(self, incoming: Incoming, user_id: int) -> Response:
        done = await self._administration.unblock(user_id, incoming.who)
        words = _("This person may sign in again.") if done else _("Nothing has changed.")
        return Redirect(_HERE, words, "success" if done else "info")

    async def export(self, incoming: Incoming) -> Response:
        """All accounts as a file, in parts. ``last_id`` is the last account of the part before."""
        kind, after = incoming.query.get("format", "json"), incoming.query.get("last_id", "0")
        if kind not in ("json", "csv") or not (after.isascii() and after.isdigit() and len(after) < 19):
            raise InvalidValueError(_("format must be json or csv, and last_id must be a number."))
        rows = await self._administration.exported(int(after), incoming.who)
        body = orjson.dumps(rows) if kind == "json" else _csv(rows)
        type_ = "application/json" if kind == "json" else "text/csv; charset=utf-8"
        headers = {
            **api_headers(),
            "Content-Disposition": f'attachment; filename="users.{kind}"',
            "Cache-Control": "no-store",
        }
        return BytesResponse(body, type_, headers=headers)


def _shown(rows: Iterable[RankedPerson]) -> list[Values]:
    """Whole records (interface: admin-users) without API keys, which only their owners see."""
    return [{**person(row, private=True), "restrict": row["restrict"]} for row in rows]


def _csv(rows: Iterable[Values]) -> bytes:
    """A table for spreadsheets; no cell of it is a formula."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(_COLUMNS)
    table.writerows([cell(row[name]) for name in _COLUMNS] for row in rows)
    return text.getvalue().encode("utf-8-sig")
