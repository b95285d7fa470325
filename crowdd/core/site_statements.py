"""What administrators set of the site, and its invitations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from crowdd.core.rows import FirstSteps, HasAnswered, OpenInvitation, SiteRow
from crowdd.database.access import Database, Prepared, as_json, fetch_row, fetch_rows, one

INVITATION = "signup"
"""The purpose of the one-time links that let people sign up."""

_COLUMNS = (
    "version, updated, name, logo, accent_light, accent_dark, default_redundancy, signup, signups_per_hour, max_projects, texts,"
    " steps_hidden IS NOT NULL AS steps_hidden"
)
_NO_EXAMPLE = "owner_id NOT IN (SELECT id FROM account WHERE name = 'examples')"


async def find(db: Database) -> SiteRow:
    """The settings of the site."""
    return await fetch_row(db, SiteRow, f"SELECT {_COLUMNS} FROM site")


_EXPOSURE = Prepared("SELECT version FROM exposure")
# Statements of equal moments see the same rows, of whatever table: it says which transactions of the server have ended. It is
# kept for seconds at most, so that those before and after a restart of PostgreSQL are never compared.
MOMENT: Final = "pg_current_snapshot()::text"
_MOMENT = Prepared(f"SELECT {MOMENT} AS moment")


async def exposure(db: Database) -> int:
    """The number that changes with everything that decides what visitors may see."""
    return int((await one(db, _EXPOSURE))["version"])


async def moment(db: Database) -> str:
    """A text that changes with every commit: what a statement reads now, it reads until then."""
    return str((await one(db, _MOMENT))["moment"])


_HAVE_ANSWERED = Prepared(
    "WITH lately AS MATERIALIZED (SELECT DISTINCT actor FROM stat_delta WHERE xact >= (SELECT unfolded_from()) AND actor = ANY (%(actors)s))"
    " SELECT EXISTS (SELECT FROM volunteer v WHERE v.actor = a.actor) OR EXISTS (SELECT FROM lately d WHERE d.actor = a.actor)"
    " OR EXISTS (SELECT FROM same_person s WHERE s.actor = a.actor) AS answered,"
    f" {MOMENT} AS moment FROM unnest(%(actors)s) WITH ORDINALITY a(actor, nth) ORDER BY a.nth",
    actors="text[]",
)


async def have_answered(db: Database, actors: Sequence[str]) -> list[HasAnswered]:
    """Whether each volunteer has ever given an answer in a project that still exists, or is linked with another one.

    And the moment at which that was so.
    """
    return await fetch_rows(db, HasAnswered, _HAVE_ANSWERED, {"actors": list(actors)})


async def lock(tx: Database) -> SiteRow:
    """The same, for a transaction that changes them."""
    return await fetch_row(tx, SiteRow, f"SELECT {_COLUMNS} FROM site FOR UPDATE")


async def change(tx: Database, values: Mapping[str, object]) -> SiteRow:
    """Sets columns (their names are ours), and returns what the settings are then."""
    assignments = ", ".join(f"{name} = %({name})s" for name in values)
    parameters = {name: as_json(value) if name == "texts" else value for name, value in values.items()}
    return await fetch_row(
        tx,
        SiteRow,
        f"UPDATE site SET {assignments}, version = version + 1, updated = clock() RETURNING {_COLUMNS}",
        parameters,
    )


async def note_mail_test(tx: Database) -> None:
    """Notes that an administrator has sent a test e-mail."""
    await tx.execute("UPDATE site SET mail_tested = clock()")


async def hide_steps(tx: Database) -> SiteRow:
    """Has the first steps of an administrator shown no more."""
    return await fetch_row(
        tx, SiteRow, f"UPDATE site SET steps_hidden = clock(), version = version + 1 RETURNING {_COLUMNS}"
    )


async def by_invitation(db: Database) -> bool:
    """Whether people need an invitation to sign up."""
    return bool(await db.fetch("SELECT FROM site WHERE signup = 'invitation'"))


async def first_steps(db: Database) -> FirstSteps:
    """Which of the first steps of an administrator are done. The example project does not count."""
    return await fetch_row(
        db,
        FirstSteps,
        "SELECT mail_tested IS NOT NULL AS mail,"
        f" EXISTS (SELECT FROM project WHERE {_NO_EXAMPLE}) AS project,"
        " EXISTS (SELECT FROM account WHERE NOT admin AND name <> 'examples')"
        "  OR EXISTS (SELECT FROM one_time_link WHERE purpose = %(invitation)s) AS people FROM site",
        {"invitation": INVITATION},
    )


async def invitations(db: Database) -> list[OpenInvitation]:
    """Invitations that can still be used, the newest first."""
    return await fetch_rows(
        db,
        OpenInvitation,
        "SELECT encode(token_hash, 'hex') AS id, created, expires, data->>'by' AS by, data->>'note' AS note FROM one_time_link"
        " WHERE purpose = %(invitation)s AND expires > clock() ORDER BY created DESC, id",
        {"invitation": INVITATION},
    )


async def withdraw(tx: Database, invitation: str) -> str | None:
    """Ends an invitation, and returns its note; None when there is none of that id."""
    rows = await tx.fetch(
        "DELETE FROM one_time_link WHERE purpose = %(invitation)s AND encode(token_hash, 'hex') = %(id)s"
        " RETURNING data->>'note' AS note",
        {"invitation": INVITATION, "id": invitation},
    )
    return str(rows[0]["note"]) if rows else None
