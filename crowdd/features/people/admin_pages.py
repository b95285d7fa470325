"""The administrators' pages of accounts, and of invitations to sign up."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import TypedDict

import orjson

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.text.words import csv_cell
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.invitations import MAX_DAYS, Invitations
from crowdd.features.accounts.list_statements import ORDERS, ROLES
from crowdd.features.accounts.rows import RankedPerson
from crowdd.features.projects.serializers import person
from crowdd.features.projects.views import admins_only
from crowdd.features.site.administration import MAX_FOUND, Administration
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.frames import api_headers
from crowdd.http.html.tables import RowList, WithTable, outward_rows, page_csv
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, BytesResponse, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ConflictError, ForbiddenError, FormError, InvalidValueError, TooManyRequestsError
from crowdd.kernel.languages import NAMES, _
from crowdd.kernel.values import Values, parse_number
from crowdd.kinds.kind import outward

_HERE = "/admin/users"
_LIST, _OF_ROLE, _SEARCHED = RowList(tuple(ORDERS)), RowList(), RowList()
_LISTED = ("id", "name", "fullname", "email_addr", "created", "admin", "restrict", "n_answers")
_COLUMNS = ("id", "name", "fullname", "email_addr", "created", "locale", "admin", "consent", "restrict")


class UsersPublic(Titled, WithForm):
    found: list[Values]
    users: list[Values]


class UsersPrivate(WithTable):
    """``rows`` are the accounts of the page; ``chosen`` has the filters: words or a role."""

    rows: list[Values]
    chosen: dict[str, str]
    is_full: bool


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
        """The administrators for programs; for people a page of all accounts, which ``words`` and ``role`` filter."""
        if incoming.wants_json:
            return await self._for_programs(incoming, self._forms.blank(incoming, "user"), [])
        return await self._for_people(incoming, incoming.query.get("words", "").strip())

    async def search(self, incoming: Incoming) -> Response:
        """The same with the people whose names or address contain the text that was typed."""
        if not incoming.wants_json:
            return await self._for_people(incoming, incoming.field("user").strip())
        people = await self._administration.found(incoming.field("user"), incoming.who)
        return await self._for_programs(incoming, self._forms.refused(incoming, {}, "user"), people)

    async def _for_programs(self, incoming: Incoming, form: Form, people: list[RankedPerson]) -> Response:
        admins = await self._administration.admins(incoming.who)
        return Page("admin/users.html", _public(form, people, admins))

    async def _for_people(self, incoming: Incoming, words: str) -> Response:
        rows, drawn = await (self._searched if words else self._listed)(incoming, words)
        if incoming.query.get("csv"):
            return page_csv("users", _LISTED, rows)
        chosen = {"words": words, "role": incoming.query.get("role", "")}
        private = UsersPrivate(**drawn, rows=rows, chosen=chosen, is_full=len(rows) >= MAX_FOUND)
        return Page("admin/users.html", _public(self._forms.blank(incoming, "user"), [], []), private)

    async def _listed(self, incoming: Incoming, _words: str) -> tuple[list[Values], WithTable]:
        """A page of all accounts or of those with a role, which are in the order of ids."""
        role = incoming.query.get("role") or None
        if role is not None and role not in ROLES:
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="role", choices=", ".join(ROLES)))
        row_list = _OF_ROLE if role else _LIST
        place = row_list.place(incoming)
        part = await self._administration.people(incoming.who, place, role)
        return outward_rows(part.rows), row_list.drawn(place, {"role": role or ""}, part, lambda row: row["id"])

    async def _searched(self, incoming: Incoming, words: str) -> tuple[list[Values], WithTable]:
        """What was found, on one page."""
        rows = outward_rows(await self._administration.found_listed(words, incoming.who))
        place = Keyset()
        return rows, _SEARCHED.drawn(place, {"words": words}, KeysetPage(rows, False, False), lambda row: row["id"])

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
        kind, after = incoming.query.get("format", "json"), parse_number(incoming.query.get("last_id", "0"))
        if kind not in ("json", "csv") or after is None:
            raise InvalidValueError(_("format must be json or csv, and last_id must be a number."))
        rows = await self._administration.exported(after, incoming.who)
        body = orjson.dumps(rows) if kind == "json" else _csv(rows)
        type_ = "application/json" if kind == "json" else "text/csv; charset=utf-8"
        headers = {
            **api_headers(),
            "Content-Disposition": f'attachment; filename="users.{kind}"',
            "Cache-Control": "no-store",
        }
        return BytesResponse(body, type_, headers=headers)


def _public(form: Form, people: list[RankedPerson], admins: list[RankedPerson]) -> UsersPublic:
    return UsersPublic(title=_("People"), form=form, found=_shown(people), users=_shown(admins))


def _shown(rows: Iterable[RankedPerson]) -> list[Values]:
    """Whole records (interface: admin-users) without API keys, which only their owners see."""
    return [{**person(row, private=True), "restrict": row["restrict"]} for row in rows]


def _csv(rows: Iterable[Values]) -> bytes:
    """A table for spreadsheets; no cell of it is a formula."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(_COLUMNS)
    table.writerows([csv_cell(row[name]) for name in _COLUMNS] for row in rows)
    return text.getvalue().encode("utf-8-sig")


HERE = "/admin/site/invitations"
_FIELDS = ("note", "days", "email", "language")
_DAYS = 14


class InvitationsPublic(Titled, WithForm, Message):
    """``link`` is that of the invitation that was just made, unless an e-mail brings it: it is shown this once."""

    invitations: list[Values]
    link: str | None


class InvitationsPrivate(TypedDict):
    """``needed``: whether nobody signs up without an invitation; ``names`` are the languages of e-mails by code."""

    needed: bool
    names: Mapping[str, str]
    max_days: int


class AdminInvitations:
    """``/admin/site/invitations``."""

    def __init__(self, invitations: Invitations, base_url: str, forms: Forms) -> None:
        self._invitations, self._base_url, self._forms = invitations, base_url, forms

    def routes(self) -> Iterator[Route]:
        yield get(HERE, admins_only(self.page))
        yield post(HERE, admins_only(self.make))
        yield post(f"{HERE}/<invitation>/withdraw", admins_only(self.withdraw))

    async def page(self, incoming: Incoming) -> Response:
        return await self._page(incoming, self._blank(incoming))

    def _blank(self, incoming: Incoming) -> Form:
        return self._forms.filled(incoming, note=None, days=_DAYS, email=None, language=locale_of(incoming))

    async def make(self, incoming: Incoming) -> Response:
        """Makes an invitation for ``note`` that works for ``days``. It goes to ``email``, or its link is shown once."""
        note, days, email = (incoming.field(name).strip() for name in ("note", "days", "email"))
        number = (parse_number(days, 8) or 0) if days else _DAYS
        locale = incoming.field("language") or locale_of(incoming)
        try:
            key = await self._invitations.make(incoming.who, note, number, email, locale)
        except FormError as error:
            return await self._page(incoming, self._forms.refused(incoming, error.errors, *_FIELDS), MISTAKES)
        except (ConflictError, TooManyRequestsError) as error:
            form = self._forms.refused(incoming, {}, *_FIELDS)
            return await self._page(incoming, form, Message(flash=message_of(error), status="error"))
        link = f"{self._base_url}/account/register?invitation={key}"
        if email and self._invitations.mail_is_on:
            words = _("The invitation is on its way to %(address)s.", address=email)
            return await self._page(incoming, self._blank(incoming), Message(flash=words, status="success"))
        words = _("Invitation created. Copy the link now: it is shown only once.")
        message = Message(flash=words, status="success")
        if email:
            words = _("Mail is switched off ([mail] host in crowdd.conf). Copy the link: it is shown only once.")
            message = Message(flash=words, status="warning")
        return await self._page(incoming, self._blank(incoming), message, link)

    async def withdraw(self, incoming: Incoming, invitation: str) -> Response:
        await self._invitations.withdraw(incoming.who, invitation)
        return Redirect(HERE, _("The invitation is withdrawn. Its link no longer works."))

    async def _page(
        self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE, link: str | None = None
    ) -> Response:
        rows = await self._invitations.list(incoming.who)
        public = InvitationsPublic(
            title=_("Invitations"),
            form=form,
            invitations=[{name: outward(value) for name, value in row.items()} for row in rows],
            link=link,
            **message,
        )
        private = InvitationsPrivate(needed=await self._invitations.needed(), max_days=MAX_DAYS, names=NAMES)
        return Page("admin/invitations.html", public, private)
