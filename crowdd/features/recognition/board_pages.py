"""Leaderboards by time, of the site and of a project."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.serializers import person
from crowdd.features.projects.views import ProjectPublic, ProjectViews, locked_out
from crowdd.features.recognition.contributions import Boards, shown_places
from crowdd.features.recognition.rows import BoardPlace
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values


class BoardPublic(Titled):
    """``top_users`` have ``rank``, ``answers`` and ``seconds``. ``week``: of this week, otherwise of all time."""

    top_users: list[Values]
    week: bool


class ProjectBoardPublic(ProjectPublic):
    top_users: list[Values]
    week: bool


class BoardPages:
    """``/leaderboard/week``, ``/leaderboard/time`` and ``/project/<short_name>/leaderboard``."""

    def __init__(self, boards: Boards, projects: Projects, views: ProjectViews) -> None:
        self._boards, self._projects, self._views = boards, projects, views

    def routes(self) -> Iterator[Route]:
        yield get("/leaderboard/week", self.week)
        yield get("/leaderboard/time", self.ever)
        yield get("/project/<short_name>/leaderboard", locked_out(self.of_project))
        yield get("/project/<short_name>/leaderboard/week", locked_out(self.of_project_week))

    async def week(self, incoming: Incoming) -> Response:
        """Who gave most time this week."""
        return await self._of_site(incoming, week=True)

    async def ever(self, incoming: Incoming) -> Response:
        """Who gave most time until now."""
        return await self._of_site(incoming, week=False)

    async def _of_site(self, incoming: Incoming, *, week: bool) -> Response:
        rows = shown_places(await self._boards.of_site(week=week), incoming.who.user_name)
        return Page("stats/board.html", BoardPublic(title=_("Leaderboard"), top_users=_people(rows), week=week))

    async def of_project(self, incoming: Incoming, short_name: str) -> Response:
        """Who gave most answers to a project."""
        return await self._of_project(incoming, short_name, week=False)

    async def of_project_week(self, incoming: Incoming, short_name: str) -> Response:
        """The same of this week."""
        return await self._of_project(incoming, short_name, week=True)

    async def _of_project(self, incoming: Incoming, short_name: str, *, week: bool) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        context = await self._views.context(incoming, row, _("Leaderboard"))
        rows = shown_places(await self._boards.of_project(row["id"], week=week), incoming.who.user_name)
        public = ProjectBoardPublic(**context.public, top_users=_people(rows), week=week)
        return Page("project/leaderboard.html", public, context.private)


def _people(rows: list[BoardPlace]) -> list[Values]:
    return [person(row) | {"rank": row["rank"], "answers": row["answers"], "seconds": row["seconds"]} for row in rows]
