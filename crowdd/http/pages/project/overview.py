"""A project's own page."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.domain import Domain
from crowdd.http.answers import Answer, Page
from crowdd.http.incoming import Incoming
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.routing import Route, get

_POSTS = 2


class OverviewPages:
    """What a project is, how far it is, and the way in."""

    def __init__(self, domain: Domain, views: ProjectViews) -> None:
        self._projects, self._views = domain.projects, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._projects.page(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        posts = (await self._views.posts(incoming, row, _POSTS))[0] if row["n_blogposts"] else []
        prose = await self._views.prose([row["long_description"]], posts)
        return Page("project/index.html", **context, _posts=posts, _prose=prose)
