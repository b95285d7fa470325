"""Volunteers who send files with their answers."""

from __future__ import annotations

import hashlib
import random
from typing import Any

PART = 200_000


def key_of(number: int) -> str:
    """A client's own name for a file."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:32]


def noise(size: int, seed: int = 1) -> bytes:
    """Bytes that are no file of any kind."""
    return random.Random(seed).randbytes(size)


async def asked(volunteer: Any, project: Any) -> int:
    """The task that a volunteer is handed."""
    return int((await volunteer.get(f"/api/{project['id']}/newtask")).json()["id"])


async def send_file(volunteer: Any, task: int, content: bytes, key: str = key_of(1), **query: Any) -> Any:
    """The answer to a file that is sent at once, or a part of it."""
    words = "&".join(f"{name}={value}" for name, value in query.items())
    headers = {"Content-Type": "application/octet-stream", "Sec-Fetch-Site": "same-origin"}
    return await volunteer.put(f"/api/task/{task}/file/{key}?{words}", data=content, headers=headers)


async def sent(volunteer: Any, task: int, content: bytes, key: str = key_of(1)) -> Any:
    """What an answer says of a file that has come."""
    answer = await send_file(volunteer, task, content, key)
    assert answer.status == 200, answer.body
    return answer.json()["file"]


async def answer_with(volunteer: Any, project: Any, task: int, *files: Any, **headers: str) -> Any:
    """The response to an answer that names files."""
    run = {"project_id": project["id"], "task_id": task, "info": {"photo": list(files)}}
    return await volunteer.post("/api/taskrun", json=run, headers=headers)
