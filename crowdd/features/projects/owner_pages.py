"""The pages of a project's owners: co-owners, invitations by link, transfer of ownership, and the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote

from crowdd.features.accounts.rows import RankedPerson
from crowdd.features.projects.ownership import Ownership
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.serializers import person
from crowdd.features.projects.views import (
    NewInvitation,
    ProjectPrivate,
    ProjectPublic,
    ProjectViews,
    invitation_link,
    locked_out,
    new_link_message,
    open_until,
)
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.tables import RowList, WithTable, outward_rows, page_csv
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_AT = "/project/<short_name>"


class CoownersPublic(ProjectPublic, WithForm, Message, NewInvitation):
    """``invitation`` is when the open invitation expires."""

    coowners: list[Values]
    found: list[Values]
    invitation: str | None


class CoownersPrivate(ProjectPrivate):
    """``link`` is that of a new invitation, shown only once."""

    link: str | None


class TransferPublic(ProjectPublic, WithForm, Message):
    pass


class OwnersPages:
    """``/project/<short_name>/coowners`` and what is beside it."""

    def __init__(
        self, projects: Projects, ownership: Ownership, base_url: str, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._ownership, self._base_url = projects, ownership, base_url
        self._forms, self._views = forms, views
        self._confirm = Confirm(forms.csrf)

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/coowners", locked_out(self.coowners), manages=True)
        yield post(f"{_AT}/coowners", locked_out(self.find))
        add = self._confirm.first(self.add, self._ask_to_add)
        remove = self._confirm.first(self.remove, self._ask_to_remove)
        yield get(f"{_AT}/add_coowner/<name>", locked_out(add), action="write", manages=True)
        yield post(f"{_AT}/add_coowner/<name>", locked_out(self.add), manages=True)
        yield get(f"{_AT}/del_coowner/<name>", locked_out(remove), action="write", manages=True)
        yield post(f"{_AT}/del_coowner/<name>", locked_out(self.remove), manages=True)
        yield post(f"{_AT}/coowners/invite", locked_out(self.invite), manages=True)
        yield post(f"{_AT}/coowners/withdraw", locked_out(self.withdraw), manages=True)
        yield get(f"{_AT}/transferownership", locked_out(self.transfer_form), manages=True)
        yield post(f"{_AT}/transferownership", locked_out(self.transfer), manages=True)

    async def coowners(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.blank(incoming, "user"))

    async def find(self, incoming: Incoming, short_name: str) -> Response:
        """The same page with ``found``: the person with exactly this user name, if there is one."""
        row = await self._projects.owned(short_name, incoming.who)
        name = incoming.field("user").strip()
        wrong = {} if name else {"user": [_("Please fill this in.")]}
        user = await self._ownership.found(name) if name else None
        shown = [] if user is None else [_shown(user, row)]
        form = self._forms.refused(incoming, wrong, "user")
        return await self._page(incoming, row, form, MISTAKES if wrong else NO_MESSAGE, shown)

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        form: Form,
        message: Message = NO_MESSAGE,
        people: Iterable[Values] = (),
        link: str | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row)
        owners = await self._ownership.owners(row)
        invitation = open_until(await self._ownership.invitation(row))
        coowners = [_shown(each, row) for each in owners]
        made: NewInvitation = {} if link is None else {"invitation_url": link}
        public = CoownersPublic(
            **context.public, **made, coowners=coowners, form=form, found=list(people), invitation=invitation, **message
        )
        return Page("project/coowners.html", public, CoownersPrivate(**context.private, link=link))

    async def _ask_to_add(self, short_name: str, name: str) -> Question:
        text = _("%(name)s will see and change everything in this project.", name=name)
        return Question(_("Add co-owner?"), text, _("Add co-owner"))

    async def _ask_to_remove(self, short_name: str, name: str) -> Question:
        text = _("%(name)s will no longer be able to change this project.", name=name)
        return Question(_("Remove co-owner?"), text, _("Remove co-owner"))

    async def add(self, incoming: Incoming, short_name: str, name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._ownership.add(row, name, incoming.who)
        words = _("%(name)s is now a co-owner.", name=name)
        return _back(short_name, words if done else _("%(name)s is a co-owner already.", name=name), done)

    async def remove(self, incoming: Incoming, short_name: str, name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._ownership.remove(row, name, incoming.who)
        words = _(
            "%(name)s is no longer a co-owner. Open invitations have ended, and the project has a new secret key.",
            name=name,
        )
        return _back(short_name, words if done else _("%(name)s is not a co-owner.", name=name), done)

    # Invitations

    async def invite(self, incoming: Incoming, short_name: str) -> Response:
        """Makes an invitation. Its link is shown only once; programs get it as ``invitation_url``."""
        row = await self._projects.owned(short_name, incoming.who)
        key = await self._ownership.invite(row, incoming.who)
        link = invitation_link(self._base_url, row["short_name"], key)
        return await self._page(incoming, row, self._forms.blank(incoming, "user"), new_link_message(), link=link)

    async def withdraw(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._ownership.withdraw(row, incoming.who)
        return _back(short_name, _("The invitation is withdrawn."), True)

    # Transfer of ownership

    async def transfer_form(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        form = self._forms.filled(incoming, email_addr=None, keep=True)
        return await self._transfer_page(incoming, row, form)

    async def transfer(self, incoming: Incoming, short_name: str) -> Response:
        """Transfers to the person whose e-mail address or user name ``email_addr`` is. ``keep``: former owners stay."""
        row = await self._projects.owned(short_name, incoming.who)
        keep = incoming.flag("keep", False)
        try:
            name = await self._ownership.transfer(row, incoming.field("email_addr"), keep, incoming.who)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, "email_addr") | {"keep": keep}
            return await self._transfer_page(incoming, row, form, MISTAKES)
        return Redirect(f"/project/{quote(short_name)}/", _("The project belongs to %(name)s now.", name=name))

    async def _transfer_page(
        self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE
    ) -> Response:
        context = await self._views.context(incoming, row)
        public = TransferPublic(**context.public, form=form, **message)
        return Page("project/transferownership.html", public, context.private)


def _shown(each: RankedPerson, row: ProjectPage) -> Values:
    owns = {"is_coowner": each["id"] in row["owners_ids"], "is_creator": each["id"] == row["owner_id"]}
    return person(each) | {"id": each["id"]} | owns


def _back(short_name: str, words: str, done: bool) -> Response:
    return Redirect(f"/project/{quote(short_name)}/coowners", words, "success" if done else "info")


_LIST = RowList()
_COLUMNS = ("id", "at", "user_name", "via", "action", "kind", "object_id", "attribute", "before", "after")


class AuditPublic(ProjectPublic):
    auditlog: list[Values]
    next: int | None


class AuditPrivate(ProjectPrivate, WithTable):
    """``user``: the name by which the log is filtered."""

    user: str


class ProjectAuditPages:
    """``/project/<short_name>/auditlog``."""

    def __init__(self, projects: Projects, views: ProjectViews) -> None:
        self._projects, self._views = projects, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/auditlog", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """A page of the log. ``user`` (a name) is a filter."""
        row = await self._projects.owned(short_name, incoming.who)
        place, user = _LIST.place(incoming), incoming.query.get("user", "").strip()
        part = await self._projects.acts(row, incoming.who, place, user or None)
        log = outward_rows(part.rows)
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv(f"{short_name}_audit", _COLUMNS, log)
        context = await self._views.context(incoming, row)
        earlier = part.rows[-1]["id"] if part.next else None
        drawn = _LIST.drawn(place, {"user": user}, part, lambda act: act["id"])
        public = AuditPublic(**context.public, auditlog=log, next=earlier)
        return Page("project/auditlog.html", public, AuditPrivate(**context.private, **drawn, user=user))
