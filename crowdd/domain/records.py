"""Domain objects over REST: one way in and one way out for every kind.

What all kinds share is here; what a kind does in particular when it is created, changed or deleted is its Behaviour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crowdd.domain import queries, rights
from crowdd.domain.secrets import Secrets
from crowdd.domain.words import ago
from crowdd.errors import InvalidValueError, MethodError, NotFoundError
from crowdd.kinds import KINDS
from crowdd.kinds.kind import Kind, Standing
from crowdd.storage import audit, records
from crowdd.storage.database import Database, Row, Transactions
from crowdd.values import Requester

NOT_FOUND = "404 Not Found"


class Behaviour:
    """What happens when a row of a kind is created, changed or deleted; the plain case is one row of one table."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    async def create(self, tx: Database, who: Requester, rows: list[dict[str, Any]]) -> list[int]:
        """The ids of new rows, which are parsed and allowed."""
        return [await records.insert(tx, self.kind, await self.prepare(tx, who, values)) for values in rows]

    async def lock(self, tx: Database, row_id: int) -> None:
        """Makes others who change the row wait."""
        await records.lock(tx, self.kind, row_id)

    async def prepare(self, tx: Database, who: Requester, values: dict[str, Any]) -> dict[str, Any]:
        """The columns of a new row: what the server adds to what was given."""
        return values

    async def change(self, tx: Database, who: Requester, row: Row, changes: dict[str, Any]) -> None:
        """Writes changes of a row, which are parsed and allowed."""
        await records.update(tx, self.kind, row["id"], changes)

    async def delete(self, tx: Database, who: Requester, row: Row) -> None:
        """Deletes a row; whoever may is allowed."""
        await records.delete(tx, self.kind, row["id"])


class Records:
    """Lists, reads, creates, changes and deletes; every row leaves through ``view``."""

    def __init__(self, db: Transactions, secrets: Secrets, base_url: str, behaviours: Mapping[str, Behaviour]) -> None:
        self._db, self._secrets, self._base_url, self._behaviours = db, secrets, base_url, behaviours

    def kinds(self) -> Iterable[str]:
        """The names of all kinds."""
        return self._behaviours.keys()

    async def list(self, kind: Kind, who: Requester, arguments: Mapping[str, str]) -> list[dict[str, Any]]:
        """The rows that the arguments ask for and the requester may see."""
        rows = await records.select(self._db, queries.parse(kind, arguments, who), who)
        return [self.view(kind, row) for row in rows]

    async def get(self, kind: Kind, who: Requester, row_id: int) -> dict[str, Any]:
        """One row. Raises NotFoundError, AnonymousError, ForbiddenError."""
        row = await self.find(self._db, kind, who, row_id)
        rights.require(who, row["standings"], kind.rights.get)
        return self.view(kind, row)

    async def create(self, kind: Kind, who: Requester, body: Any) -> Any:
        """A new row as its maker sees it; for an array of bodies all rows, or none when one is refused."""
        if "POST" not in kind.methods:
            raise MethodError(allowed=tuple(sorted(kind.methods)))
        many = isinstance(body, list)
        bodies: Sequence[Any] = body if many else [body]

        async def work(tx: Database) -> list[dict[str, Any]]:
            rows = [kind.creation(_object(one)) for one in bodies]
            for project_id in sorted({values.get("project_id") for values in rows}, key=str):
                await self._allow_creation(tx, kind, who, project_id)
            ids = await self._behaviours[kind.name].create(tx, who, rows)
            made = [await self.find(tx, kind, who, row_id) for row_id in ids]
            return [self.view(kind, row) for row in made]

        made = await self._db.transaction(work)
        return made if many else made[0]

    async def change(self, kind: Kind, who: Requester, row_id: int, body: Any) -> dict[str, Any]:
        """A changed row as its owner sees it (interface, PUT)."""

        async def work(tx: Database) -> dict[str, Any]:
            await self._behaviours[kind.name].lock(tx, row_id)
            row = await self.find(tx, kind, who, row_id)
            rights.require(who, row["standings"], kind.rights.update)
            changes = kind.change(self._open(kind, row), _object(body), row["standings"])
            if changes:
                await self._behaviours[kind.name].change(tx, who, row, changes)
            return self.view(kind, await self.find(tx, kind, who, row_id))

        return await self._db.transaction(work)

    async def delete(self, kind: Kind, who: Requester, row_id: int) -> None:
        """Deletes a row."""
        if "DELETE" not in kind.methods:
            raise MethodError(allowed=tuple(sorted(kind.methods)))

        async def work(tx: Database) -> None:
            await self._behaviours[kind.name].lock(tx, row_id)
            row = await self.find(tx, kind, who, row_id)
            rights.require(who, row["standings"], kind.rights.delete)
            await self._behaviours[kind.name].delete(tx, who, row)
            await audit.write(tx, who, "delete", kind.name, row_id, project_id=row.get("project_id"))

        await self._db.transaction(work)

    async def find(self, db: Database, kind: Kind, who: Requester, row_id: int) -> Row:
        """A row with the requester's standings; NotFoundError when there is none."""
        row = await records.get(db, kind, row_id, who)
        if row is None or (who.presenter is not None and row.get("project_id", row["id"]) != who.presenter):
            raise NotFoundError(NOT_FOUND)
        return row

    def view(self, kind: Kind, row: Row) -> dict[str, Any]:
        """The row as a requester with its standings may see it."""
        return kind.view(self._open(kind, row), row["standings"], self._base_url)

    def public_view(self, kind: Kind, row: Row) -> dict[str, Any]:
        """The row as everybody may see it, whoever asks."""
        return self.view(kind, {**row, "standings": frozenset({Standing.ANYBODY})})

    def _open(self, kind: Kind, row: Row) -> Row:
        """The row with sealed attributes decrypted, for those who may read them."""
        opened: Row = {}
        for field in kind.fields:
            if field.sealed:
                readable = field.read & row["standings"]
                opened[field.name] = self._secrets.unseal(row[f"{field.name}_sealed"]) if readable else None
        if "last_activity_raw" in row:
            opened["last_activity"] = ago(row["last_activity_raw"])
        return {**row, **opened}

    async def _allow_creation(self, tx: Database, kind: Kind, who: Requester, project_id: int | None) -> None:
        have: frozenset[Standing] | None = rights.of_requester(who)
        if project_id is not None:
            have = await records.standings_to_project(tx, project_id, who)
            if have is None:
                raise NotFoundError(NOT_FOUND, hint=f"There is no project {project_id}.")
        rights.require(who, have or frozenset(), kind.rights.create)


def _object(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise InvalidValueError("The body is not a JSON object.")
    return body


def kind_named(name: str) -> Kind:
    """The kind whose name stands in an address; NotFoundError when there is none."""
    try:
        return KINDS[name]
    except KeyError:
        raise NotFoundError(NOT_FOUND) from None
