"""Volunteers of a project as its owners see them: by the word that their answers carry (definitions 22)."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.storage.tasks.rows import VolunteerRow

# Those who have answers in a project, folded counters and what is not folded yet.
_RUNS = """
SELECT coalesce(v.actor, d.actor) AS actor, coalesce(v.runs, 0) + coalesce(d.runs, 0) AS answers
  FROM (SELECT actor, runs FROM volunteer WHERE project_id = %(project)s) v
  FULL JOIN unfolded_runs(%(project)s, false, clock()) d ON d.actor = v.actor"""
_COLUMNS = (
    "w.word AS volunteer, r.actor, r.answers::bigint AS answers, a.id AS user_id, a.name AS user_name, EXISTS ("
    "SELECT FROM barred_volunteer b WHERE b.project_id = %(project)s AND b.subject = r.actor) AS barred"
)
_JOINS = (
    "LEFT JOIN volunteer_word w ON w.project_id = %(project)s AND w.actor = r.actor"
    " LEFT JOIN account a ON a.id = CASE WHEN r.actor LIKE 'u:%%' THEN substr(r.actor, 3)::bigint END"
)


async def listed(db: Database, project_id: int, limit: int, offset: int) -> list[VolunteerRow]:
    """Volunteers of a project, those with the most answers first.

    It reads the counters of all volunteers of the project.
    """
    return await fetch_rows(
        db,
        VolunteerRow,
        f"SELECT {_COLUMNS} FROM (SELECT * FROM ({_RUNS}) s WHERE answers > 0 ORDER BY answers DESC, actor"
        f" LIMIT %(limit)s OFFSET %(offset)s) r {_JOINS} ORDER BY r.answers DESC, r.actor",
        {"project": project_id, "limit": limit, "offset": offset},
    )


async def count(db: Database, project_id: int) -> int:
    """How many volunteers have answers in a project."""
    row = await one(
        db,
        "SELECT people_anonymous + people_authenticated AS n FROM project_figures WHERE project_id = %(project)s",
        {"project": project_id},
    )
    return int(row["n"])


async def find(db: Database, project_id: int, word: str) -> VolunteerRow | None:
    """The volunteer with this word; None without one."""
    return await fetch_row_or_none(
        db,
        VolunteerRow,
        f"SELECT {_COLUMNS} FROM (SELECT actor, runs_of(%(project)s, actor) AS answers FROM volunteer_word"
        f" WHERE word = %(word)s AND project_id = %(project)s) r {_JOINS}",
        {"project": project_id, "word": word},
    )


async def actor_of(db: Database, project_id: int, word: str) -> str | None:
    """The actor with this word; None without one."""
    row = await one_or_none(
        db,
        "SELECT actor FROM volunteer_word WHERE word = %(word)s AND project_id = %(project)s",
        {"project": project_id, "word": word},
    )
    return row["actor"] if row else None


async def word_of(db: Database, project_id: int, actor: str) -> str | None:
    """The word of a volunteer in a project; None for those who have not answered."""
    row = await one_or_none(
        db,
        "SELECT word FROM volunteer_word WHERE project_id = %(project)s AND actor = %(actor)s",
        {"project": project_id, "actor": actor},
    )
    return row["word"] if row else None
