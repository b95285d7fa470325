"""Tasks over REST."""

from __future__ import annotations

from itertools import groupby

from crowdd.core.records.records import Behaviour
from crowdd.core.uploads import FileChanges
from crowdd.database.access import Database, Row
from crowdd.features.tasks import change_statements, statements
from crowdd.kernel.errors import NotFoundError, at_item
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.task import TASK


class TaskBehaviour(Behaviour):
    """A task is a wide row and a ledger row; the ledger's functions keep answers, leases and results right."""

    def __init__(self) -> None:
        super().__init__(TASK)

    async def lock(self, tx: Database, row_id: int) -> None:
        await statements.lock_task(tx, row_id)

    async def create(self, tx: Database, who: Requester, rows: list[Values]) -> list[int]:
        """Tasks of several projects go in by project, so that no two imports wait for each other in a circle."""
        numbered = sorted(enumerate(rows), key=lambda item: (item[1]["project_id"], item[0]))
        ids: dict[int, int] = {}
        for project_id, group in groupby(numbered, key=lambda item: item[1]["project_id"]):
            members = list(group)
            try:
                made = await statements.insert_tasks(tx, project_id, [values for _, values in members])
            except NotFoundError as error:
                with at_item(members[0][0] if len(rows) > 1 else None):
                    raise error
            ids.update(zip((number for number, _ in members), made, strict=True))
        return [ids[number] for number in range(len(rows))]

    async def change(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        await statements.update_task(tx, row["project_id"], row["id"], changes)

    async def delete(self, tx: Database, who: Requester, row: Row, files: FileChanges) -> None:
        await change_statements.apply(tx, "delete", row["project_id"], [row["id"]])
