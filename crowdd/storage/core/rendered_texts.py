"""HTML of texts in Markdown, by a hash of what it was made from."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.core import batch_delete
from crowdd.storage.core.rows import RenderedText
from crowdd.storage.database import Database, fetch_rows

_TODAY = "(clock() AT TIME ZONE 'UTC')::date"
_KEPT_DAYS = 30


async def find(db: Database, keys: Sequence[str]) -> list[RenderedText]:
    """The stored HTML of these keys, as far as there is any."""
    return await fetch_rows(
        db,
        RenderedText,
        f"SELECT key, html, excerpt, used < {_TODAY} - 7 AS stale FROM rendered_text WHERE key = ANY (%(keys)s)",
        {"keys": list(keys)},
    )


async def keep(db: Database, key: str, html: str, excerpt: str) -> None:
    """Stores a text, or notes that it is used."""
    await db.execute(
        f"INSERT INTO rendered_text (key, html, excerpt, used) VALUES (%(key)s, %(html)s, %(excerpt)s, {_TODAY})"
        " ON CONFLICT (key) DO UPDATE SET used = excluded.used",
        {"key": key, "html": html, "excerpt": excerpt},
    )


async def note_use(db: Database, keys: Sequence[str]) -> None:
    """Notes that texts are read today."""
    await db.execute(f"UPDATE rendered_text SET used = {_TODAY} WHERE key = ANY (%(keys)s)", {"keys": list(keys)})


async def sweep(db: Database) -> int:
    """Removes what nobody has read for a month: texts that were changed or deleted, and those of older renderers."""
    return await batch_delete.sweep(db, "rendered_text", f"used < {_TODAY} - {_KEPT_DAYS}")
