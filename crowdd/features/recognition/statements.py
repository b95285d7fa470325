"""SQL of recognition (`community/84_recognition.sql`)."""

from __future__ import annotations

from datetime import date

import attrs

from crowdd.core.records import role_statements
from crowdd.database.access import Database, as_json, fetch_row, fetch_row_or_none, fetch_rows
from crowdd.features.recognition.rows import BoardPlace, Certificate, Choice, Given, NewCertificate
from crowdd.kernel.requester import Requester
from crowdd.kinds.project import PROJECT


async def list_given(db: Database, who: Requester, first: date, last: date, maximum: int) -> list[Given]:
    """What the requester gave within some days, by project and month; their newest ``maximum`` answers are read."""
    return await fetch_rows(
        db,
        Given,
        "SELECT g.*, p.name, p.short_name, coalesce(p.published AND p.lock_id IS NULL, false) AS public, p.work, p.papers"
        " FROM given_by(%(me)s, %(first)s, %(last)s, %(maximum)s) g"
        f" LEFT JOIN project p ON p.id = g.project_id AND {role_statements.any_of(PROJECT, PROJECT.rights.see)}"
        " ORDER BY g.month, g.project_id",
        {**who.role_values(), "first": first, "last": last, "maximum": maximum},
    )


async def read_choice(db: Database, user_id: int) -> Choice:
    """What a person chose about leaderboards."""
    return await fetch_row(db, Choice, "SELECT off_boards FROM account WHERE id = %(user)s", {"user": user_id})


async def set_choice(db: Database, user_id: int, off_boards: bool) -> None:
    """Writes it. Who leaves is on none of the stored ones at once."""
    await db.execute(
        "WITH gone AS (DELETE FROM board_place WHERE user_id = %(user)s AND %(off)s)"
        " UPDATE account SET off_boards = %(off)s WHERE id = %(user)s AND off_boards <> %(off)s",
        {"user": user_id, "off": off_boards},
    )


_SHOWN = 'JOIN account a ON a.id = u.id AND NOT a."restrict" AND NOT a.off_boards'


async def list_board(db: Database, project_id: int, week: bool) -> list[BoardPlace]:
    """A leaderboard as it was last counted: of the site (0) or of a project this week, of the site of all time."""
    return await fetch_rows(
        db,
        BoardPlace,
        "SELECT u.*, b.answers, b.seconds, rank() OVER (ORDER BY b.seconds DESC)::int AS rank"
        f" FROM board_place b JOIN person_record u ON u.id = b.user_id {_SHOWN}"
        " WHERE b.project_id = %(project)s AND b.week = %(week)s ORDER BY rank, u.id",
        {"project": project_id, "week": week},
    )


async def list_project_board(db: Database, project_id: int, maximum: int) -> list[BoardPlace]:
    """Those who gave most answers in a project, now."""
    return await fetch_rows(
        db,
        BoardPlace,
        "SELECT u.*, t.runs AS answers, t.runs * coalesce(p.seconds, 0)::float8 AS seconds, rank() OVER (ORDER BY t.runs DESC)::int AS rank"
        " FROM top_volunteers(%(project)s, true, false, %(maximum)s, clock()) t JOIN person_record u ON u.id = substr(t.actor, 3)::bigint"
        f" {_SHOWN} LEFT JOIN project_pace p ON p.project_id = %(project)s ORDER BY rank, u.id",
        {"project": project_id, "maximum": maximum},
    )


async def measure_paces(db: Database) -> int:
    """Measures how long answers take, where there are clearly more than before; in how many projects."""
    return int((await db.fetch("SELECT measure_paces() AS n"))[0]["n"])


async def count_boards(db: Database) -> int:
    """Counts the leaderboards; how many places changed."""
    return int((await db.fetch("SELECT count_boards() AS n"))[0]["n"])


_COLUMNS = "c.id, c.key, c.created, c.name, c.first_day, c.last_day, c.answers, c.seconds, c.n_projects, c.projects"


async def lock_certificates(db: Database, user_id: int) -> None:
    """Makes others wait who add a certificate to an account, until the transaction ends."""
    await db.fetch("SELECT pg_advisory_xact_lock(hashtextextended('certificates', %(user)s))", {"user": user_id})


async def list_certificates(db: Database, user_id: int) -> list[Certificate]:
    """The certificates of a person, the newest first."""
    sql = f"SELECT {_COLUMNS} FROM certificate c WHERE c.user_id = %(user)s ORDER BY c.id DESC"
    return await fetch_rows(db, Certificate, sql, {"user": user_id})


async def find_certificate(db: Database, user_id: int, certificate_id: int) -> Certificate | None:
    """One of them."""
    sql = f"SELECT {_COLUMNS} FROM certificate c WHERE c.user_id = %(user)s AND c.id = %(id)s"
    return await fetch_row_or_none(db, Certificate, sql, {"user": user_id, "id": certificate_id})


async def find_by_key(db: Database, key: str) -> Certificate | None:
    """The certificate with this key. None, too, when its person is blocked."""
    return await fetch_row_or_none(
        db,
        Certificate,
        f'SELECT {_COLUMNS} FROM certificate c JOIN account a ON a.id = c.user_id AND NOT a."restrict" WHERE c.key = %(key)s',
        {"key": key},
    )


async def insert_certificate(db: Database, user_id: int, key: str, new: NewCertificate) -> int:
    """The id of a new certificate."""
    values = attrs.asdict(new, recurse=False) | {"projects": as_json(new.projects), "user": user_id, "key": key}
    rows = await db.fetch(
        "INSERT INTO certificate (user_id, key, created, name, first_day, last_day, answers, seconds, n_projects, projects)"
        " VALUES (%(user)s, %(key)s, clock(), %(name)s, %(first_day)s, %(last_day)s, %(answers)s, %(seconds)s, %(n_projects)s, %(projects)s)"
        " RETURNING id",
        values,
    )
    return int(rows[0]["id"])


async def delete_certificate(db: Database, user_id: int, certificate_id: int) -> bool:
    """Withdraws a certificate; False when there is none."""
    sql = "DELETE FROM certificate WHERE user_id = %(user)s AND id = %(id)s"
    return await db.execute(sql, {"user": user_id, "id": certificate_id}) > 0
