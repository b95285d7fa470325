"""The home page of a volunteer: where to continue, the results of their answers, and news."""

from __future__ import annotations

from datetime import date

import attrs

from crowdd.database.access import Database
from crowdd.features.community.favourites import Participation
from crowdd.features.news import home_statements
from crowdd.features.news.news import News
from crowdd.features.news.rows import CameOf, NewsRow, UnansweredTask
from crowdd.features.projects.rows import ProjectSummary
from crowdd.kernel.requester import Requester

_CAME, _REPLIES, _NEWS, _CONTINUED = 3, 2, 4, 4


@attrs.frozen
class OwnHome:
    """``project`` is the one to go on with, None where nothing waits, with a ``task`` that they have not answered.

    ``others`` wait, too. ``settled`` of the last ``recent`` answers have a result; of ``came`` it is shown. ``week``:
    answers on each of seven days from ``since`` on.
    """

    project: ProjectSummary | None
    task: UnansweredTask | None
    others: list[ProjectSummary]
    recent: int
    settled: int
    came: list[CameOf]
    replies: list[NewsRow]
    news: list[NewsRow]
    week: list[int]
    since: date


class OwnHomes:
    """Reads it in at most five statements."""

    def __init__(self, db: Database, participation: Participation, news: News) -> None:
        self._db, self._participation, self._news = db, participation, news

    async def of(self, who: Requester) -> OwnHome | None:
        """That of the requester; None without an account or an answer."""
        if who.acting_user is None:
            return None
        facts = await home_statements.read_own_facts(self._db, who)
        if facts["project_id"] is None:
            return None
        waiting = await self._participation.to_continue_from(who, facts["project_id"], _CONTINUED)
        first = waiting[0] if waiting else None
        task = await home_statements.find_unanswered_task(self._db, who, first["id"]) if first else None
        came = await home_statements.list_came_of(self._db, who, _CAME) if facts["settled"] else []
        news = await self._news.newest(who)
        return OwnHome(
            project=first,
            task=task,
            others=waiting[1:],
            recent=facts["recent"],
            settled=facts["settled"],
            came=came,
            replies=[row for row in news if row["kind"] == "reply"][:_REPLIES],
            news=[row for row in news if row["kind"] != "reply"][:_NEWS],
            week=facts["week"],
            since=facts["since"],
        )
