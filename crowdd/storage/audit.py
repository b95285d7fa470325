"""The audit log: append-only."""

from __future__ import annotations

from typing import Any

from crowdd.storage.database import Database, as_json
from crowdd.values import Requester


async def write(
    db: Database,
    who: Requester,
    action: str,
    kind: str,
    object_id: int | None,
    *,
    project_id: int | None = None,
    attribute: str | None = None,
    before: Any = None,
    after: Any = None,
) -> None:
    """One act: who did what to which object. Secrets never go in; say only that they changed."""
    await db.execute(
        "INSERT INTO audit (at, user_id, user_name, via, action, kind, object_id, project_id, attribute, before, after)"
        " VALUES (clock(), %(user_id)s, %(user_name)s, %(via)s, %(action)s, %(kind)s, %(object_id)s, %(project_id)s, %(attribute)s,"
        " %(before)s, %(after)s)",
        {
            "user_id": who.user_id,
            "user_name": who.user_name,
            "via": who.via,
            "action": action,
            "kind": kind,
            "object_id": object_id,
            "project_id": project_id,
            "attribute": attribute,
            "before": None if before is None else as_json(before),
            "after": None if after is None else as_json(after),
        },
    )
