"""Media for tests, and a client that sends files in parts as tus has it."""

from __future__ import annotations

import base64
import io
import random
import zipfile
from typing import Any

from PIL import Image

from support.servers.queue_runner import worked
from support.servers.served import Served

AT = "/project/birds/tasks/media"
TUS = {"Tus-Resumable": "1.0.0"}
PART = {**TUS, "Content-Type": "application/offset+octet-stream"}


def picture(number: int = 0, size: tuple[int, int] = (480, 320), format_: str = "JPEG", **more: Any) -> bytes:
    """A picture whose content differs by its number."""
    colour = random.Random(number).randbytes(3)
    out = io.BytesIO()
    Image.new("RGB", size, tuple(colour)).save(out, format_, **more)
    return out.getvalue()


def archive(**files: bytes) -> bytes:
    """A ZIP archive."""
    return zipped(files)


def zipped(files: dict[str, bytes]) -> bytes:
    """A ZIP archive of files by their names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return out.getvalue()


def metadata(**values: str) -> str:
    return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in values.items())


async def begin(client: Any, at: str = AT, **choices: Any) -> str:
    """The address of a new batch."""
    answer = (await client.post(at, json=choices)).json()
    assert "batch" in answer, answer
    return answer["next"]


async def create(client: Any, batch: str, name: str, size: int, key: str = "", **headers: str) -> Any:
    """The answer to a new upload."""
    fields = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata(filename=name, key=key or name), **headers}
    return await client.post(f"{batch}/files", headers=fields)


async def send(client: Any, url: str, offset: int, content: bytes, **headers: str) -> Any:
    """The answer to a part."""
    return await client.request("PATCH", url, data=content, headers={**PART, "Upload-Offset": str(offset), **headers})


async def upload(client: Any, batch: str, name: str, content: bytes, key: str = "") -> Any:
    """The answer to a file that comes in one request."""
    size, words = str(len(content)), metadata(filename=name, key=key or name)
    headers = {**PART, "Upload-Length": size, "Upload-Metadata": words}
    return await client.post(f"{batch}/files", data=content, headers=headers)


async def close(served: Served, client: Any, batch: str) -> dict[str, Any]:
    """What became of a batch whose files have all come."""
    assert (await client.post(f"{batch}/close", json={})).status == 200
    await worked(served)
    return await state(client, batch)


async def brought(served: Served, client: Any, files: dict[str, bytes], at: str = AT, **choices: Any) -> dict[str, Any]:
    """What became of files that were sent as a batch."""
    batch = await begin(client, at, **choices)
    for number, (name, content) in enumerate(files.items()):
        answer = await upload(client, batch, name, content, f"file {number}")
        assert answer.status == 201, answer.body
    return {**await close(served, client, batch), "at": batch}


async def state(client: Any, batch: str) -> dict[str, Any]:
    """How far a batch is. Its sum is right at any time."""
    now = (await client.page(f"{batch}/live")).json()
    assert now["files"] == now["added"] + now["present"] + now["refused"] + now["left"], now
    return now


async def tasks_of(client: Any, project: dict[str, Any]) -> list[dict[str, Any]]:
    """The ``info`` of all tasks of a project."""
    rows = (await client.get(f"/api/task?project_id={project['id']}&limit=100")).json()
    return [row["info"] for row in sorted(rows, key=lambda row: row["id"])]


async def files_of(client: Any, batch: str) -> list[dict[str, Any]]:
    return (await client.page(f"{batch}/files")).json()["files"]
