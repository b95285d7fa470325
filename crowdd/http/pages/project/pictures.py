"""Pictures for the texts of a project: list, upload, deletion."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.projects.project_pictures import ProjectPictures
from crowdd.domain.projects.projects import Projects
from crowdd.errors import FormError
from crowdd.http import queries
from crowdd.http.html.forms import MISTAKES, Forms, WithForm
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

_AT = "/project/<short_name>/pictures"
_MAX_ID = 2**63 - 1


class PicturesPublic(ProjectPublic, WithForm, Message):
    pictures: list[Values]
    next: int | None


class PicturesPrivate(ProjectPrivate):
    """``story`` is the long description of the project."""

    may_add: bool
    story: str


class PicturePages:
    """``/project/<short_name>/pictures``."""

    def __init__(
        self, projects: Projects, project_pictures: ProjectPictures, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._pictures, self._forms, self._views = projects, project_pictures, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.add))
        yield post(f"{_AT}/<int:picture_id>/delete", locked_out(self.remove))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The newest, or those before one (``before``)."""
        return await self._page(incoming, await self._projects.owned(short_name, incoming.who), {})

    async def add(self, incoming: Incoming, short_name: str) -> Response:
        """Stores the file ``picture``. Programs get its ``path``, by which a text shows it."""
        row = await self._projects.owned(short_name, incoming.who)
        sent = incoming.upload("picture") if incoming.content_type == "multipart/form-data" else None
        try:
            made = await self._pictures.add(incoming.who, row, sent)
        except FormError as error:
            return await self._page(incoming, row, error.errors)
        return Redirect(_path(short_name), _("The picture is uploaded."), more={"picture": made})

    async def remove(self, incoming: Incoming, short_name: str, picture_id: int) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._pictures.remove(incoming.who, row, min(picture_id, _MAX_ID))
        return Redirect(_path(short_name), _("The picture is deleted."))

    async def _page(self, incoming: Incoming, row: ProjectPage, errors: dict[str, list[str]]) -> Response:
        before = incoming.query.get("before")
        page = await self._pictures.page(incoming.who, row, queries.number(before, "last_id", 0) if before else None)
        form = self._forms.refused(incoming, errors) if errors else self._forms.blank(incoming)
        message = MISTAKES if errors else NO_MESSAGE
        context = await self._views.context(incoming, row, _("Pictures"))
        public = PicturesPublic(**context.public, **message, form=form, pictures=page.pictures, next=page.next)
        may_add, story = self._pictures.may_add(row), row["long_description"]
        return Page("project/pictures.html", public, PicturesPrivate(**context.private, may_add=may_add, story=story))


def _path(short_name: str) -> str:
    return f"/project/{quote(short_name)}/pictures"
