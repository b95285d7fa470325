"""The page of the site's announcements, and the pages that write, change and delete them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

from crowdd.core.records.listing_statements import Query
from crowdd.core.records.records import Records
from crowdd.core.text.rendered_text import Laid, Prose
from crowdd.features.projects.views import MAX_CHARACTERS, LeftOut, OmittedPicture, admins_only, field_errors
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import CostlyTextError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.announcement import ANNOUNCEMENT

NEWEST: Final = Query(ANNOUNCEMENT, order="created", descending=True, limit=100)


class AnnouncementsPublic(TypedDict):
    announcements: list[Values]


class AnnouncementsPrivate(TypedDict):
    prose: Laid


class Announcements:
    """``/announcements/``: published announcements, the newest first. Administrators see the same list."""

    def __init__(self, records: Records, prose: Prose) -> None:
        self._records, self._prose = records, prose

    def routes(self) -> Iterator[Route]:
        yield get("/announcements/", self.announcements)

    async def announcements(self, incoming: Incoming) -> Response:
        rows = await self._records.list(NEWEST, Requester())
        prose = await self._prose.of((row["body"] for row in rows), ANNOUNCEMENT.field("body").heading)
        return Page(
            "announcements/index.html", AnnouncementsPublic(announcements=rows), AnnouncementsPrivate(prose=prose)
        )


_HERE = "/admin/announcement"
_FIELDS = ("title", "body", "media_url", "published")
_MAXIMUM = {"title": MAX_CHARACTERS, "body": None}
_YES = frozenset({"y", "yes", "true", "on", "1"})


class AdminAnnouncementsPublic(Titled):
    announcements: list[Values]
    csrf: str


class EditPublic(Titled, WithForm, Message):
    pass


class EditPrivate(TypedDict):
    left_out: list[OmittedPicture]


class AdminAnnouncements:
    """``/admin/announcement`` and what is below."""

    def __init__(self, records: Records, forms: Forms, left_out: LeftOut) -> None:
        self._records, self._forms, self._left_out = records, forms, left_out

    def routes(self) -> Iterator[Route]:
        yield get(_HERE, admins_only(self.announcements))
        yield get(f"{_HERE}/new", admins_only(self.new_form))
        yield post(f"{_HERE}/new", admins_only(self.new))
        yield get(f"{_HERE}/<int:announcement_id>/update", admins_only(self.update_form))
        yield post(f"{_HERE}/<int:announcement_id>/update", admins_only(self.update))
        yield post(f"{_HERE}/<int:announcement_id>/delete", admins_only(self.delete))

    async def announcements(self, incoming: Incoming) -> Response:
        """The newest hundred, also those that are not published yet."""
        rows = await self._records.list(NEWEST, incoming.who)
        csrf = self._forms.csrf.token(incoming)
        return Page(
            "admin/announcement.html",
            AdminAnnouncementsPublic(title=_("Announcements"), announcements=rows, csrf=csrf),
        )

    async def new_form(self, incoming: Incoming) -> Response:
        return await self._form_page(_("New announcement"), self._forms.blank(incoming, *_FIELDS) | {"published": True})

    async def new(self, incoming: Incoming) -> Response:
        wrong = field_errors(incoming, _MAXIMUM)
        if wrong:
            return await self._again(incoming, _("New announcement"), wrong)
        body = _written(incoming)
        if "published" not in body and incoming.content_type != "application/json":
            body["published"] = False  # a box that is not ticked sends nothing
        try:
            await self._records.create(ANNOUNCEMENT, incoming.who, body)
        except CostlyTextError as error:
            return await self._again(incoming, _("New announcement"), {error.attribute: [error.sentence]})
        return Redirect(_HERE, *await self._left_out.after(body["body"], _("Announcement created.")))

    async def update_form(self, incoming: Incoming, announcement_id: int) -> Response:
        row = await self._records.get(ANNOUNCEMENT, incoming.who, announcement_id)
        form = self._forms.blank(incoming) | {name: row[name] for name in ("id", *_FIELDS)}
        return await self._form_page(_("Change an announcement"), form)

    async def update(self, incoming: Incoming, announcement_id: int) -> Response:
        await self._records.get(ANNOUNCEMENT, incoming.who, announcement_id)
        wrong = field_errors(incoming, _MAXIMUM)
        if wrong:
            return await self._again(incoming, _("Change an announcement"), wrong, id=announcement_id)
        body = _written(incoming)
        if "published" not in body and incoming.content_type != "application/json":
            body["published"] = False
        try:
            await self._records.change(ANNOUNCEMENT, incoming.who, announcement_id, body)
        except CostlyTextError as error:
            wrong = {error.attribute: [error.sentence]}
            return await self._again(incoming, _("Change an announcement"), wrong, id=announcement_id)
        return Redirect(_HERE, *await self._left_out.after(body["body"], _("Announcement changed.")))

    async def delete(self, incoming: Incoming, announcement_id: int) -> Response:
        await self._records.delete(ANNOUNCEMENT, incoming.who, announcement_id)
        return Redirect(_HERE, _("Announcement deleted."))

    async def _again(self, incoming: Incoming, title: str, wrong: dict[str, list[str]], **values: int) -> Response:
        form = self._forms.refused(incoming, wrong, *_FIELDS) | values
        form["published"] = _ticked(incoming)
        return await self._form_page(title, form, MISTAKES)

    async def _form_page(self, title: str, form: Form, message: Message = NO_MESSAGE) -> Response:
        left_out = await self._left_out.of(form["body"])
        return Page(
            "admin/edit_announcement.html",
            EditPublic(title=title, form=form, **message),
            EditPrivate(left_out=left_out),
        )


def _written(incoming: Incoming) -> Values:
    """The body of the record. It has only the fields that were sent: front ends may leave out fields."""
    body: Values = {name: incoming.field(name).strip() for name in ("title", "body")}
    if "media_url" in incoming.form:
        body["media_url"] = incoming.field("media_url").strip() or None
    if incoming.form.get("published") is not None:
        body["published"] = _ticked(incoming)
    return body


def _ticked(incoming: Incoming) -> bool:
    return incoming.field("published").lower() in _YES
