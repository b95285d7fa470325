"""Leaderboards by time: of the site and of projects, of this week and of all time.

An answer is worth the median time of the newest answers of its project.
"""

from __future__ import annotations

from typing import Final

from crowdd.database.access import Database
from crowdd.features.recognition import statements
from crowdd.features.recognition.rows import BoardPlace

SITE: Final = 0
TOP: Final = 20


class Boards:
    """Reads leaderboards. Those of projects of all time are true now, others are counted every few minutes."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def of_site(self, *, week: bool) -> list[BoardPlace]:
        """The first hundred."""
        return await statements.list_board(self._db, SITE, week)

    async def of_project(self, project_id: int, *, week: bool) -> list[BoardPlace]:
        """The first of a project."""
        if week:
            return await statements.list_board(self._db, project_id, week=True)
        return await statements.list_project_board(self._db, project_id, TOP)


def shown(rows: list[BoardPlace], name: str) -> list[BoardPlace]:
    """The first twenty, and behind them the person of this name, if they are among the others."""
    return rows[:TOP] + [row for row in rows[TOP:] if row["name"] == name]
