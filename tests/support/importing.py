"""Files of tasks brought to a server of the tests, and what the rules say afterwards."""

from __future__ import annotations

import io
from typing import Any

from support.servers.queue_runner import worked
from support.servers.served import Served

AT = "/project/birds/tasks/import"


async def bring(client: Any, content: bytes, name: str = "tasks.csv", at: str = AT, **fields: str) -> Any:
    """The answer to a file that was sent."""
    files = {"file": (name, "application/octet-stream", io.BytesIO(content))}
    return (await client.post(f"{at}?response_format=json", data=fields or None, files=files)).json()


async def brought(
    served: Served, client: Any, content: bytes, name: str = "tasks.csv", at: str = AT, **fields: str
) -> Any:
    """What came of a file that was sent, to be imported at once."""
    answer = await bring(client, content, name, at, **fields)
    assert answer["status"] == "success", answer
    item = (await worked(served))[-1]
    assert item["state"] == "done", item
    return item["result"]


async def looked_at(client: Any, content: bytes, name: str = "tasks.csv", at: str = AT, **fields: str) -> Any:
    """The import as its page has it before it begins."""
    answer = await bring(client, content, name, at, map="y", **fields)
    return (await client.page(answer["next"])).json()["import"]


def figures(found: dict[str, Any]) -> dict[str, int]:
    """The figures of an import that are not 0; they have to be all rows."""
    assert found["rows"] == found["added"] + found["updated"] + found["present"] + found["refused"], found
    names = ("added", "updated", "present", "twice", "kept", "refused", "empty", "gone")
    return {name: found[name] for name in names if found.get(name)}


async def tasks_of(owner: Any, project: dict[str, Any]) -> list[dict[str, Any]]:
    """The tasks of a project."""
    return (await owner.get(f"/api/task?project_id={project['id']}&limit=100")).json()
