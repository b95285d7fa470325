"""The field guide of a project as a page, and as data for the panel beside a task."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.projects.guides.reading import GuideReader, ShownFieldGuide
from crowdd.domain.projects.projects import Projects
from crowdd.errors import NotFoundError
from crowdd.http.html.locales import locale_of
from crowdd.http.pages.project.views import ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.languages import _


class FieldGuidePublic(ProjectPublic):
    field_guide: ShownFieldGuide


class FieldGuidePages:
    """``/project/<short_name>/fieldguide``, for everybody who may see the project."""

    def __init__(self, projects: Projects, guides: GuideReader, views: ProjectViews) -> None:
        self._projects, self._guides, self._views = projects, guides, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/fieldguide", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The field guide in the language of the reader. Raises NotFoundError for a project without one."""
        row = await self._projects.page(short_name, incoming.who)
        shown = await self._guides.field_guide(row["info"], locale_of(incoming))
        if shown is None:
            raise NotFoundError(_("This project has no field guide."))
        context = await self._views.context(incoming, row, _("Field guide"))
        return Page("project/field_guide.html", FieldGuidePublic(**context.public, field_guide=shown), context.private)
