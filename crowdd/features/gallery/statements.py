"""SQL of the templates of the site and of owners, with its rows. Who may see one is decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import attrs

from crowdd.database.access import Database, as_json, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import JsonObject
from crowdd.kinds.questions.text_languages import Text


@attrs.frozen
class ListedTemplate:
    """A template in a list. ``owner`` is a name, "" for one of the site; ``thumbnail`` the name of a file, or ""."""

    id: int
    token: str
    owner: str
    own: bool
    offered: bool
    created: datetime
    card: JsonObject
    thumbnail: str
    bytes: int


@attrs.frozen
class StoredTemplate(ListedTemplate):
    """A template with its questions, the ``info`` of its tasks, and the names of its files."""

    questions: JsonObject
    tasks: list[JsonObject]
    n_answers: int | None
    files: list[str]


_SEES = "(t.offered OR t.owner_id = %(user)s::bigint OR %(admin)s)"
_OWN = "coalesce(t.owner_id = %(user)s::bigint, false) AS own"
_LISTED = f"t.id, t.token, coalesce(a.name, '') AS owner, {_OWN}, t.offered, t.created, t.card, t.thumbnail, t.bytes"
_FROM = "FROM template t LEFT JOIN account a ON a.id = t.owner_id"


def _values(who: Requester, *, all_of_them: bool = False) -> dict[str, object]:
    return {"user": who.acting_user, "admin": all_of_them and who.acting_admin}


async def list_templates(
    db: Database, who: Requester, maximum: int, *, all_of_them: bool = False
) -> list[ListedTemplate]:
    """The newest templates that are offered or the requester's own; for administrators with ``all_of_them`` any."""
    return await fetch_rows(
        db,
        ListedTemplate,
        f"SELECT {_LISTED} {_FROM} WHERE {_SEES} ORDER BY t.id DESC LIMIT %(maximum)s",
        {**_values(who, all_of_them=all_of_them), "maximum": maximum},
    )


async def find_template(db: Database, who: Requester, token: str) -> StoredTemplate | None:
    """A template that the requester may see. Administrators see each."""
    return await fetch_row_or_none(
        db,
        StoredTemplate,
        f"SELECT {_LISTED}, t.questions, t.tasks, t.n_answers,"
        " ARRAY(SELECT f.name FROM template_file f WHERE f.template_id = t.id ORDER BY f.name) AS files"
        f" {_FROM} WHERE t.token = %(token)s AND {_SEES}",
        {**_values(who, all_of_them=True), "token": token},
    )


async def read_file(db: Database, token: str, name: str) -> bytes | None:
    """A file of a template, for everybody who knows its token: frames of presenters send no cookies."""
    row = await one_or_none(
        db,
        "SELECT f.content FROM template t JOIN template_file f ON f.template_id = t.id WHERE t.token = %(token)s AND f.name = %(name)s",
        {"token": token, "name": name},
    )
    return bytes(row["content"]) if row else None


async def read_files(db: Database, template_id: int) -> dict[str, bytes]:
    """All files of a template by their names."""
    rows = await db.fetch("SELECT name, content FROM template_file WHERE template_id = %(id)s", {"id": template_id})
    return {row["name"]: bytes(row["content"]) for row in rows}


async def lock_templates(tx: Database, owner_id: int | None) -> int:
    """How many templates an owner has, or the site (None). Others who add one wait for the end of the transaction."""
    await tx.fetch("SELECT pg_advisory_xact_lock(hashtextextended('templates', %(id)s))", {"id": owner_id or 0})
    sql = "SELECT count(*) AS n FROM template WHERE owner_id IS NOT DISTINCT FROM %(id)s::bigint"
    return int((await one(tx, sql, {"id": owner_id}))["n"])


@attrs.frozen
class NewRow:
    """A new template; an owner of None is the site, which offers it to everybody."""

    token: str
    owner: int | None
    card: Mapping[str, Text]
    questions: object
    tasks: Sequence[object]
    n: int | None
    thumbnail: str


async def insert_template(tx: Database, new: NewRow, files: Mapping[str, bytes]) -> int:
    """A new template with its files; its id."""
    row = await one(
        tx,
        "INSERT INTO template (token, owner_id, offered, created, card, questions, tasks, n_answers, thumbnail, bytes)"
        " VALUES (%(token)s, %(owner)s, %(offered)s, clock(), %(card)s, %(questions)s, %(tasks)s, %(n)s, %(thumbnail)s, %(bytes)s)"
        " RETURNING id",
        {
            **attrs.asdict(new, recurse=False),
            "offered": new.owner is None,
            "card": as_json(new.card),
            "questions": as_json(new.questions),
            "tasks": as_json(list(new.tasks)),
            "bytes": sum(len(content) for content in files.values()),
        },
    )
    for name, content in files.items():
        await tx.execute(
            "INSERT INTO template_file (template_id, name, content) VALUES (%(id)s, %(name)s, %(content)s)",
            {"id": row["id"], "name": name, "content": content},
        )
    return int(row["id"])


async def delete_template(tx: Database, who: Requester, token: str) -> int | None:
    """Deletes a template of the requester, for administrators any; its id, None if there is none."""
    row = await one_or_none(
        tx,
        "DELETE FROM template t WHERE t.token = %(token)s AND (t.owner_id = %(user)s::bigint OR %(admin)s) RETURNING t.id",
        {**_values(who, all_of_them=True), "token": token},
    )
    return row["id"] if row else None


async def offer_template(tx: Database, token: str, offered: bool) -> int | None:
    """Offers a template to everybody, or to its owner only; its id, None if there is none."""
    row = await one_or_none(
        tx,
        "UPDATE template SET offered = %(offered)s WHERE token = %(token)s RETURNING id",
        {"token": token, "offered": offered},
    )
    return row["id"] if row else None


async def list_hidden_names(db: Database) -> frozenset[str]:
    """The names of templates that come with crowdd and are not shown."""
    return frozenset(row["name"] for row in await db.fetch("SELECT name FROM hidden_template"))


async def hide_template(tx: Database, name: str, hidden_: bool) -> None:
    """Hides a template that comes with crowdd, or shows it again."""
    sql = "INSERT INTO hidden_template (name) VALUES (%(name)s) ON CONFLICT DO NOTHING"
    await tx.execute(sql if hidden_ else "DELETE FROM hidden_template WHERE name = %(name)s", {"name": name})
