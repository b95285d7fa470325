"""Feeds of what projects write, and of new projects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from html import escape
from urllib.parse import quote

from crowdd.features.projects.project_lists import ProjectLists, Wanted
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectViews
from crowdd.http.html.feeds import Entry, Feed
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.routing import Handler, Route, get
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, ForbiddenError, NotFoundError
from crowdd.kernel.languages.content_languages import language_of
from crowdd.kernel.requester import Requester
from crowdd.kinds.blogpost import BLOGPOST

_BLOG, _CATEGORY = "/project/<short_name>/blog/feed", "/project/category/<category>/feed"
_NEWEST = 20


class FeedPages:
    """``…/feed.atom`` and ``…/feed.json`` of blogs and categories: what strangers may see, the same for everybody."""

    def __init__(self, projects: Projects, project_lists: ProjectLists, views: ProjectViews) -> None:
        self._projects, self._project_lists, self._views = projects, project_lists, views

    def routes(self) -> Iterator[Route]:
        for kind, write in (("atom", Feed.atom), ("json", Feed.json)):
            yield get(f"{_BLOG}.{kind}", self._blog(write), page=False)
            yield get(f"{_CATEGORY}.{kind}", self._category(write), page=False)

    def _blog(self, write: Callable[[Feed], BytesResponse]) -> Handler:
        async def blog(incoming: Incoming, short_name: str) -> Response:
            row = await self._shown(short_name)
            posts, _ = await self._views.posts(Requester(), row, _NEWEST)
            laid, page = await self._views.prose([], posts), self._views.address(row)
            heading, moment = BLOGPOST.field("body").heading, datetime.fromisoformat
            entries = [
                Entry(
                    f"{page}{post['id']}",
                    post["title"],
                    str(laid[post["body"], heading].html),
                    moment(post["created"]),
                    moment(post["updated"]),
                )
                for post in posts
            ]
            address, language = f"{page}blog/feed", language_of(row["info"])
            return write(Feed(row["name"], f"{page}blog", address, self._views.base_url, entries, language))

        return blog

    async def _shown(self, short_name: str) -> ProjectPage:
        """The project. Raises NotFoundError where a stranger may not see it."""
        try:
            row = await self._projects.page(short_name, Requester())
        except ForbiddenError:
            raise NotFoundError(NOT_FOUND) from None
        if not row["published"]:
            raise NotFoundError(NOT_FOUND)
        return row

    def _category(self, write: Callable[[Feed], BytesResponse]) -> Handler:
        async def category(incoming: Incoming, category: str) -> Response:
            newest = Wanted("first_published", descending=True)
            try:
                chosen, _, listed = await self._project_lists.category(category, Requester(), 1, newest)
            except (AnonymousError, ForbiddenError):  # a list of somebody's own
                raise NotFoundError(NOT_FOUND) from None
            site = self._views.base_url.rstrip("/")
            page = f"{site}/project/category/{quote(category)}/"
            entries = [
                Entry(
                    f"{site}/project/{quote(row['short_name'])}/",
                    row["name"],
                    f"<p>{escape(row['description'])}</p>",
                    row["first_published"] or row["created"],
                    row["first_published"] or row["created"],
                )
                for row in listed.rows
            ]
            return write(Feed(str(chosen["name"]), page, f"{page}feed", self._views.base_url, entries))

        return category
