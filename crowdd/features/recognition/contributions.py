"""What a volunteer gave: how many answers, for how long, where, when, and what came of it. And who gave most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import Final

import attrs

from crowdd.database import access
from crowdd.database.access import Database, Transactions
from crowdd.features.groups.groups import require_user
from crowdd.features.projects import papers
from crowdd.features.projects.papers import Paper
from crowdd.features.recognition import statements
from crowdd.features.recognition.rows import BoardPlace, Given
from crowdd.kernel.requester import Requester

MAX_READ: Final = 20_000
"""The newest answers, which are read for a page."""
MONTHS: Final = 12
_SITE: Final = 0  # in place of a project
TOP: Final = 20
_EVER: Final = (date.min, date.max)


@attrs.frozen
class HelpedProject:
    """A project and what the person gave there. ``name`` is None where they may not see it any more."""

    name: str | None
    short_name: str | None
    answers: int
    seconds: float
    papers: tuple[Paper, ...]


@attrs.frozen
class Work:
    """A sort of tasks (choose, write, mark, or "" for others), and what the person gave to them."""

    sort: str
    answers: int
    seconds: float


@attrs.frozen
class Contributions:
    """All that a person gave to projects of others; ``whole``: not only in their newest answers.

    ``months``: the last twelve, each with its first day and seconds. Projects and sorts of tasks: longest first. All
    until ``today``.
    """

    answers: int
    seconds: float
    whole: bool
    projects: list[HelpedProject]
    works: list[Work]
    months: list[tuple[date, float]]
    today: date


class OwnContributions:
    """What the requester gave. Both raise AnonymousError."""

    def __init__(self, db: Transactions) -> None:
        self._db = db

    async def of(self, who: Requester) -> Contributions:
        """What they gave until now."""
        require_user(who)
        rows = await statements.list_given(self._db, who, *_EVER, MAX_READ)
        return summed(rows, (await access.now(self._db)).date())

    async def on_boards(self, who: Requester) -> bool:
        """Whether they stand on leaderboards."""
        return not (await statements.read_choice(self._db, require_user(who)))["off_boards"]

    async def choose(self, who: Requester, *, on_boards: bool) -> None:
        """Puts them on leaderboards, or takes them off all at once."""
        await statements.set_choice(self._db, require_user(who), not on_boards)


def summed(rows: Sequence[Given], today: date) -> Contributions:
    """The rows added up. ``today``: the month that it is in is the last."""
    by_project = defaultdict[int, list[Given]](list)
    by_work = defaultdict[str, list[Given]](list)
    by_month = defaultdict[date, float](float)
    for row in rows:
        by_project[row["project_id"]].append(row)
        by_work[row["work"] or ""].append(row)
        by_month[row["month"]] += row["seconds"]
    projects = [
        HelpedProject(
            name=own[0]["name"],
            short_name=own[0]["short_name"],
            answers=sum(row["answers"] for row in own),
            seconds=sum(row["seconds"] for row in own),
            papers=papers.known({papers.KEY: own[0]["papers"]}),
        )
        for own in by_project.values()
    ]
    works = [
        Work(sort, sum(row["answers"] for row in own), sum(row["seconds"] for row in own))
        for sort, own in by_work.items()
    ]
    return Contributions(
        answers=sum(row["answers"] for row in rows),
        seconds=sum(row["seconds"] for row in rows),
        whole=all(row["n_read"] < MAX_READ for row in rows[:1]),
        projects=sorted(projects, key=lambda one: -one.seconds),
        works=sorted(works, key=lambda one: -one.seconds),
        months=[(month, by_month.get(month, 0.0)) for month in _last_months(today)],
        today=today,
    )


def _last_months(today: date) -> list[date]:
    last = today.year * 12 + today.month - 1
    return [date(nth // 12, nth % 12 + 1, 1) for nth in range(last - MONTHS + 1, last + 1)]


class Boards:
    """Leaderboards by time: of the site and of projects, of this week and of all time.

    An answer is worth the median time of the newest answers of its project. The board of a project of all time is true
    now, others are counted every few minutes.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    async def of_site(self, *, week: bool) -> list[BoardPlace]:
        """The first hundred."""
        return await statements.list_board(self._db, _SITE, week)

    async def of_project(self, project_id: int, *, week: bool) -> list[BoardPlace]:
        """The first of a project."""
        if week:
            return await statements.list_board(self._db, project_id, week=True)
        return await statements.list_project_board(self._db, project_id, TOP)


def shown_places(rows: list[BoardPlace], name: str) -> list[BoardPlace]:
    """The first twenty, and behind them the person of this name, if they are among the others."""
    return rows[:TOP] + [row for row in rows[TOP:] if row["name"] == name]
