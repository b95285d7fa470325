"""The details of a project, its password and its picture: three forms at one address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypedDict
from urllib.parse import quote

from crowdd.domain.accounts.account_validation import as_stored
from crowdd.domain.accounts.authentication import recent_proof
from crowdd.domain.core.records import Records
from crowdd.domain.core.uploads import Upload
from crowdd.domain.projects import project_validation
from crowdd.domain.projects.projects import Projects
from crowdd.domain.projects.thumbnails import Thumbnails
from crowdd.domain.webhooks.webhooks import Webhooks
from crowdd.errors import (
    ConflictError,
    CostlyTextError,
    CrowddError,
    FormError,
    InvalidRequestError,
    InvalidValueError,
)
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm, crop_box
from crowdd.http.pages.project.views import EditorPictures, ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.project import PROJECT
from crowdd.languages import _
from crowdd.languages.content_languages import language_of
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

_AT = "/project/<short_name>/update"
_TEXTS = ("name", "short_name", "description", "long_description")
_BOXES = ("allow_anonymous_contributors", "zip_download")
_INFO_BOXES = ("answers_when_complete", "token_per_volunteer")
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
        webhooks: Webhooks,
        records: Records,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._thumbnails, self._webhooks = projects, thumbnails, webhooks
        self._records, self._forms, self._views = records, forms, views
        self._buttons: dict[str, Callable[[Incoming, ProjectPage], Awaitable[Response]]] = {
            "Upload": self._upload,
            "Password": self._password,
        }

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.form))
        yield post(_AT, locked_out(self.update))

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
                self._webhooks.require(address)
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
        lock = {"protect": row["lock_id"] is not None, "password": None}
        form = self._forms.filled(incoming, **stored, **lock)
        upload_form = self._forms.blank(incoming, *_UPLOAD) | {"id": row["id"]}
        if error is not None:
            sent = {name: incoming.field(name) for name in (*_TEXTS, "category_id", "webhook") if name in incoming.form}
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
    """The project's ``info`` with the language and the boxes of the form, without those that are not set."""
    wanted: Values = {name: _box(incoming, name, info.get(name) is True) for name in _INFO_BOXES}
    if "language" in incoming.form and incoming.field("language") != language_of(info):
        wanted["language"] = incoming.field("language")
    wanted = {name: value for name, value in wanted.items() if value or name in info}
    rest = {name: value for name, value in info.items() if name not in wanted}
    return rest | {name: value for name, value in wanted.items() if value}
