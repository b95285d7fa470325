"""The pages of a project's details, picture and password, which are forms at one address, and of its deletion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypedDict
from urllib.parse import quote

from crowdd.core import recent_proof
from crowdd.core.outbound.client import Outgoing
from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.core.uploads import Upload
from crowdd.features.accounts.validation import as_stored
from crowdd.features.projects import papers, project_validation
from crowdd.features.projects.pictures import Thumbnails
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import EditorPictures, ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.auth.cookies import Cookies
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm, crop_box, local
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import (
    ConflictError,
    CostlyTextError,
    CrowddError,
    FormError,
    InvalidRequestError,
    InvalidValueError,
)
from crowdd.kernel.languages import _
from crowdd.kernel.languages.content_languages import language_of
from crowdd.kernel.values import Values
from crowdd.kinds.project import PROJECT

_DETAILS_AT = "/project/<short_name>/update"
_TEXTS = ("name", "short_name", "description", "long_description")
_BOXES = ("allow_anonymous_contributors", "zip_download")
_INFO_BOXES = ("answers_when_complete", "token_per_volunteer", "shared_comments")
_SENT = (*_TEXTS, "category_id", "webhook", papers.KEY)  # shown again as they were sent
_PART = "Part"  # the button of a form with some of the fields: a box that it lacks stays as it is
_UPLOAD = ("id", "avatar", "x1", "y1", "x2", "y2")


class UpdatePublic(ProjectPublic, WithForm, Message):
    upload_form: Form


class RefusedPrivate(TypedDict, total=False):
    """``pictured`` says, for a refused form, whether the picture that came with it was stored."""

    pictured: bool


class UpdatePrivate(ProjectPrivate, EditorPictures, RefusedPrivate):
    categories: list[Values]
    language: str


class UpdatePages:
    """``/project/<short_name>/update``. ``btn`` is ``Upload`` (the picture), ``Password``, ``Part`` (the fields that
    the body names) or anything else (all).
    """

    def __init__(
        self,
        projects: Projects,
        thumbnails: Thumbnails,
        outgoing: Outgoing,
        records: Records,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._thumbnails, self._outgoing = projects, thumbnails, outgoing
        self._records, self._forms, self._views = records, forms, views
        self._buttons: dict[str, Callable[[Incoming, ProjectPage], Awaitable[Response]]] = {
            "Upload": self._upload,
            "Password": self._password,
        }

    def routes(self) -> Iterator[Route]:
        yield get(_DETAILS_AT, locked_out(self.form))
        yield post(_DETAILS_AT, locked_out(self.update))

    async def form(self, incoming: Incoming, short_name: str) -> Response:
        return await self._page(incoming, await self._projects.owned(short_name, incoming.who))

    async def update(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        carry_out = self._buttons.get(incoming.field("btn"), self._details)
        try:
            return await carry_out(incoming, row)
        except FormError as error:
            return await self._page(incoming, row, error)

    async def _details(self, incoming: Incoming, row: ProjectPage) -> Response:
        before: Mapping[str, Any] = row
        texts: Values = {name: incoming.text(name, before[name]).strip() for name in _TEXTS}
        wrong = project_validation.mistakes(texts["name"], texts["short_name"], texts["description"])
        if wrong := {name: words for name, words in wrong.items() if texts[name] != before[name]}:
            raise FormError(wrong)  # names that are stored may go on as they are
        self._require_lock(incoming, row)
        pictured = await self._pictured(incoming, row)
        changes = texts | {name: _box(incoming, name, before[name]) for name in _BOXES}
        if category := incoming.field("category_id"):
            changes["category_id"] = category
        part = incoming.field("btn") == _PART
        info = _info(incoming, row["info"])
        if part:
            changes = {name: value for name, value in changes.items() if name in incoming.form}
        elif info != row["info"]:
            changes["info"] = info
        if "webhook" in incoming.form:
            changes["webhook"] = self._webhook(incoming)
        try:
            await self._changed(incoming, row, changes)
        except FormError as error:
            raise (_PicturedError(error.errors) if pictured else error) from None
        if part and (info_changes := _differences(row["info"], info)):
            await self._projects.tell(row, info_changes, incoming.who)
        await self._lock(incoming, row)
        if part and "name" not in incoming.form:
            return Redirect(f"/project/{quote(row['short_name'])}/settings", _("The setting is saved."))
        words, status = await self._views.left_out.after(texts["long_description"], _("Project updated!"))
        short_name = as_stored(PROJECT.field("short_name").type, texts["short_name"])
        return Redirect(f"/project/{quote(short_name)}/", words, status)

    async def _pictured(self, incoming: Incoming, row: ProjectPage) -> bool:
        """Stores the picture that came with the texts, and returns whether there was one. Raises FormError."""
        file = _picture(incoming)
        if file is None:
            return False
        await self._thumbnails.set(row, file, crop_box(incoming), incoming.who)
        return True

    def _webhook(self, incoming: Incoming) -> str | None:
        address = incoming.field("webhook").strip()
        try:
            if address:
                self._outgoing.target(address)
        except CrowddError as error:
            raise FormError({"webhook": [message_of(error)]}) from None
        return address or None

    async def _changed(self, incoming: Incoming, row: ProjectPage, changes: Values) -> None:
        if not changes:
            return
        try:
            await self._records.change(PROJECT, incoming.who, row["id"], changes)
        except ConflictError as error:
            raise FormError(project_validation.taken(error)) from None
        except CostlyTextError as error:
            raise FormError({error.attribute: [error.sentence]}) from None
        except (InvalidRequestError, InvalidValueError) as error:
            raise FormError({"category_id": [message_of(error)]}) from None

    async def _password(self, incoming: Incoming, row: ProjectPage) -> Response:
        self._require_lock(incoming, row)
        await self._lock(incoming, row)
        locks = incoming.flag("protect", row["lock_id"] is not None)
        words = _("The project now requires its password.") if locks else _("The project requires no password.")
        return Redirect(f"/project/{quote(row['short_name'])}/settings", words)

    def _require_lock(self, incoming: Incoming, row: ProjectPage) -> None:
        """Passes when the password may be changed as the form says, before anything else is.

        Raises FormError, and as ``recent_proof.require_to_manage`` when it changes.
        """
        wants = "protect" in incoming.form and incoming.flag("protect", False)
        if wants and row["lock_id"] is None and not incoming.field("password"):
            raise FormError({"password": [_("Enter a password.")]})
        if _changes_lock(incoming, row):
            recent_proof.require_to_manage(incoming.who)

    async def _lock(self, incoming: Incoming, row: ProjectPage) -> None:
        """Sets or removes the password. A form without the box, or without a new password, changes nothing."""
        if _changes_lock(incoming, row):
            wants = incoming.flag("protect", row["lock_id"] is not None)
            await self._projects.set_password(row, incoming.who, incoming.field("password") if wants else None)

    async def _upload(self, incoming: Incoming, row: ProjectPage) -> Response:
        file = _picture(incoming)
        if file is None:
            raise FormError({"avatar": [_("Choose a picture first.")]})
        await self._thumbnails.set(row, file, crop_box(incoming), incoming.who)
        return Redirect(f"/project/{quote(row['short_name'])}/update", _("Your picture has been updated."))

    async def _page(self, incoming: Incoming, row: ProjectPage, error: FormError | None = None) -> Response:
        """The form as stored, or as it was sent with its mistakes. In JSON the picture is a form of its own."""
        values: Mapping[str, Any] = row
        stored = {name: values[name] for name in ("id", *_TEXTS, *_BOXES, "category_id", "webhook")}
        stored |= {name: row["info"].get(name) is True for name in _INFO_BOXES}
        stored |= {papers.KEY: papers.as_lines(row["info"])}
        lock = {"protect": row["lock_id"] is not None, "password": None}
        form = self._forms.filled(incoming, **stored, **lock)
        upload_form = self._forms.blank(incoming, *_UPLOAD) | {"id": row["id"]}
        if error is not None:
            sent = {name: incoming.field(name) for name in _SENT if name in incoming.form}
            boxes = {name: _box(incoming, name, form[name]) for name in (*_BOXES, *_INFO_BOXES, "protect")}
            form |= sent | boxes
            row = await self._projects.owned(row["short_name"], incoming.who)  # the picture may be a new one
            form["errors"] = {name: error.errors[name] for name in error.errors if name != "avatar"}
            upload_form["errors"] = {name: error.errors[name] for name in error.errors if name == "avatar"}
        context = await self._views.context(incoming, row)
        message = NO_MESSAGE if error is None else MISTAKES
        refused: RefusedPrivate = {} if error is None else {"pictured": isinstance(error, _PicturedError)}
        public = UpdatePublic(**context.public, form=form, upload_form=upload_form, **message)
        private = UpdatePrivate(
            **context.private,
            **await self._views.pictures(incoming, row, form["long_description"]),
            **refused,
            categories=[{"id": each["id"], "name": each["name"]} for each in await self._projects.categories()],
            language=incoming.field("language") if "language" in incoming.form else language_of(row["info"]),
        )
        return Page("project/update.html", public, private)


class _PicturedError(FormError):
    """The texts were refused, but the picture that came with them is stored."""


def _changes_lock(incoming: Incoming, row: ProjectPage) -> bool:
    """Whether the form sets another password, or removes it."""
    locked = row["lock_id"] is not None
    if "protect" not in incoming.form and incoming.field("btn") != "Password":
        return False
    return bool(incoming.field("password")) if incoming.flag("protect", locked) else locked


def _picture(incoming: Incoming) -> Upload | None:
    """The file of the form's picture, when one was chosen."""
    file = incoming.upload("avatar") if incoming.content_type == "multipart/form-data" else None
    return file if file is not None and file.content else None


def _differences(before: Values, after: Values) -> Values:
    """The keys whose values differ, with the new ones; None for a key that is gone."""
    return {name: after.get(name) for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _box(incoming: Incoming, name: str, stored: bool) -> bool:
    """A box of the form. In a form with some of the fields, one that is missing stays as it is."""
    missing = name not in incoming.form and incoming.field("btn") == _PART
    return stored if missing else incoming.flag(name, stored)


def _info(incoming: Incoming, info: Values) -> Values:
    """The project's ``info`` with language, papers and boxes of the form, without those that are not set.

    Raises FormError for papers without a DOI.
    """
    wanted: Values = {name: _box(incoming, name, info.get(name) is True) for name in _INFO_BOXES}
    if "language" in incoming.form and incoming.field("language") != language_of(info):
        wanted["language"] = incoming.field("language")
    if papers.KEY in incoming.form and incoming.field(papers.KEY).strip() != papers.as_lines(info):
        wanted[papers.KEY] = papers.from_lines(incoming.field(papers.KEY))
    wanted = {name: value for name, value in wanted.items() if value or name in info}
    rest = {name: value for name, value in info.items() if name not in wanted}
    return rest | {name: value for name, value in wanted.items() if value}


_DELETION_AT = "/project/<short_name>/delete"


class DeletePublic(ProjectPublic, WithForm, Message):
    csrf: str


class DeletingPages:
    """``/project/<short_name>/delete``."""

    def __init__(self, projects: Projects, records: Records, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._records, self._forms, self._views = projects, records, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_DELETION_AT, locked_out(self.form), manages=True)
        yield post(_DELETION_AT, locked_out(self.delete), manages=True)

    async def form(self, incoming: Incoming, short_name: str) -> Response:
        return await self._page(incoming, await self._owned(incoming, short_name), {})

    async def delete(self, incoming: Incoming, short_name: str) -> Response:
        """Deletes the project. ``confirm`` is its short name; programs may leave it out while there is no result."""
        row = await self._owned(incoming, short_name)
        if not _may_leave_out(incoming, row) and incoming.field("confirm").strip() != row["short_name"]:
            words = _("Type the short name of the project exactly.")
            return await self._page(incoming, row, {"confirm": [words]}, Message(flash=words, status="error"))
        await self._records.delete(PROJECT, incoming.who, row["id"])
        return Redirect(f"/account/{quote(incoming.who.user_name)}/", _("Project deleted."))

    async def _owned(self, incoming: Incoming, short_name: str) -> ProjectPage:
        """The project, for its owner and for administrators; co-owners cannot delete it."""
        row = await self._projects.owned(short_name, incoming.who)
        rights.require(incoming.who, row["roles"], PROJECT.rights.delete)
        return row

    async def _page(
        self, incoming: Incoming, row: ProjectPage, errors: dict[str, list[str]], message: Message = NO_MESSAGE
    ) -> Response:
        context = await self._views.context(incoming, row)
        form = self._forms.refused(incoming, errors, "confirm") if errors else self._forms.blank(incoming, "confirm")
        public = DeletePublic(**context.public, csrf=form["csrf"], form=form, **message)
        return Page("project/delete.html", public, context.private)


def _may_leave_out(incoming: Incoming, row: ProjectPage) -> bool:
    """Whether ``confirm`` may be missing: existing front ends send none and only delete projects without results."""
    left_out = incoming.content_type == "application/json" and incoming.form.get("confirm") is None
    return left_out and not row["n_completed_tasks"]


UNLOCKED_SECONDS = 1800


class PasswordPublic(Titled, WithForm, Message):
    project: dict[str, str]


class PasswordPages:
    """Opens a locked project in one browser."""

    def __init__(self, projects: Projects, forms: Forms, cookies: Cookies) -> None:
        self._projects, self._forms, self._cookies = projects, forms, cookies

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/password", self.password_form)
        yield post("/project/<short_name>/password", self.password)

    async def password_form(self, incoming: Incoming, short_name: str) -> Response:
        return self._password_page(short_name, self._forms.blank(incoming, "password"))

    async def password(self, incoming: Incoming, short_name: str) -> Response:
        """Opens the project in this browser for half an hour."""
        lock = await self._projects.lock_opened_by(short_name, incoming.field("password"), incoming.who)
        if lock is None:
            wrong = {"password": [_("This password is wrong. Try again.")]}
            form = self._forms.refused(incoming, wrong, "password")
            return self._password_page(short_name, form, Message(flash=wrong["password"][0], status="error"))
        self._cookies.unlock(incoming, lock, UNLOCKED_SECONDS)
        return Redirect(local(incoming.query.get("next", ""), f"/project/{quote(short_name)}/"))

    def _password_page(self, short_name: str, form: Form, message: Message = NO_MESSAGE) -> Response:
        project = {"name": short_name, "short_name": short_name}
        public = PasswordPublic(title=_("Password"), project=project, form=form, **message)
        return Page("project/password.html", public)
