"""The page of a project: who is at work, who answered most, and what volunteers agreed on."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.core.text.rendered_text import Laid
from crowdd.features.presenters.overview import ProjectOverviews
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectAttention, ProjectOverview
from crowdd.features.projects.views import ProjectPrivate, ProjectViews, locked_out
from crowdd.features.questions.answer_fields import Unfit
from crowdd.features.results import result_display
from crowdd.http.auth.cookies import Cookies
from crowdd.http.reader_language import text_language
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, Shared, get
from crowdd.kernel.requester import draft_key
from crowdd.kernel.values import Values

_POSTS = 2
TRY_SECONDS = 30 * 86400


class OverviewPrivate(ProjectPrivate):
    """``overview`` has what the page tells of the project, ``agreed`` finished tasks that volunteers agreed on.

    ``attention`` and ``unfit`` are for owners; ``accuracy`` is that of the requester. Programs get none of these.
    """

    posts: list[Values]
    prose: Laid
    overview: ProjectOverview
    agreed: list[Values]
    attention: ProjectAttention | None
    unfit: Unfit | None
    accuracy: Values | None


class OverviewPages:
    """``/project/<short_name>/``: what the project is, its progress, and links to contribute."""

    def __init__(self, projects: Projects, overviews: ProjectOverviews, views: ProjectViews, cookies: Cookies) -> None:
        self._projects, self._overviews, self._views, self._cookies = projects, overviews, views, cookies

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/", locked_out(self.page), hot=True, shared=Shared.NEW_VISITORS)

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The page. ``try``, the word of a draft's link, lets this browser try the draft from now on."""
        if "try" in incoming.query:
            word, before = incoming.query["try"], incoming.who
            incoming.who = await self._projects.with_link(short_name, word, before)
            if incoming.who is not before:
                self._cookies.unlock(incoming, draft_key(word), TRY_SECONDS)
            if not incoming.wants_json:
                return Redirect(f"/project/{quote(short_name)}/")
        row = await self._projects.shown(short_name, incoming.who, text_language(incoming))
        context = await self._views.context(incoming, row)
        if incoming.wants_json:
            return Page("project/index.html", context.public)
        posts = (await self._views.posts(incoming.who, row, _POSTS))[0] if row["n_blogposts"] else []
        prose = await self._views.prose([row["long_description"]], posts)
        overview = await self._overviews.of(row, incoming.who)
        asked = result_display.read_asked(row["info"])
        private = OverviewPrivate(
            **context.private,
            posts=posts,
            prose=prose,
            overview=overview.row,
            agreed=[result_display.show_task(task, asked) for task in overview.agreed],
            attention=overview.attention,
            unfit=overview.unfit,
            accuracy=overview.accuracy,
        )
        return Page("project/index.html", context.public, private)
