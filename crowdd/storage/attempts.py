"""What failed lately, under names that tell nothing: limits on guessing."""

from __future__ import annotations

from crowdd.storage.database import Database


async def failures(db: Database, subjects: list[str], minutes: int) -> dict[str, int]:
    """Failed attempts per subject within the last minutes."""
    rows = await db.fetch(
        "SELECT subject, count(*) AS n FROM attempt WHERE subject = ANY (%(subjects)s) AND at > clock() - make_interval(mins => %(minutes)s) GROUP BY 1",
        {"subjects": subjects, "minutes": minutes},
    )
    return {row["subject"]: row["n"] for row in rows}


async def note(db: Database, subjects: list[str]) -> None:
    """Remembers a failed attempt at each subject."""
    await db.execute("INSERT INTO attempt SELECT unnest(%(subjects)s), clock()", {"subjects": subjects})


async def forget(db: Database, subject: str) -> None:
    """A success wipes the slate."""
    await db.execute("DELETE FROM attempt WHERE subject = %(subject)s", {"subject": subject})
