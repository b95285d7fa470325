"""Uploads and long answers over HTTP: in parts, and as fast as the client takes them."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_twisted
from support import wire
from support.checks.shows import shows
from support.until import until
from twisted.internet import reactor
from twisted.internet.task import deferLater

from crowdd.http.edge import downloads, response_writer
from crowdd.http.edge.downloads import parse_range

SIZE = 10_000_000


def keep(served: Any, size: int = SIZE) -> bytes:
    content = os.urandom(1000) * (size // 1000)
    folder = served.house.base.uploads.folder / "project-1"
    folder.mkdir(parents=True)
    (folder / "birds.png").write_bytes(content)
    return content


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("bytes=0-9", (0, 10)), ("bytes=90-", (90, 100)), ("bytes=-10", (90, 100)), ("bytes=-500", (0, 100)),
        ("bytes=50-999", (50, 100)), ("", None), ("bytes=1-2,5-6", None), ("bytes=9-5", None), ("lines=1-2", None),
    ],
)  # fmt: skip
def test_which_part_a_range_names(header, found):
    assert parse_range(header, 100) == found


@shows("upload-file")
@pytest.mark.parametrize("header", ["bytes=100-", "bytes=-0", "bytes=100-200"])
def test_range_behind_the_end_is_refused(header):
    with pytest.raises(ValueError, match=header):
        parse_range(header, 100)


@shows("upload-file")
@pytest_twisted.ensureDeferred
async def test_upload_is_sent_whole_and_in_parts(served):
    await served.project(await served.person("owner"), tasks=1, published=True)
    content, client = keep(served), served.client()
    whole = await client.get("/uploads/project-1/birds.png")
    assert (whole.status, whole.header("accept-ranges"), whole.body == content) == (200, "bytes", True)
    part = await client.get("/uploads/project-1/birds.png", headers={"Range": "bytes=5-14"})
    assert (part.status, part.body, part.header("content-range")) == (206, content[5:15], f"bytes 5-14/{SIZE}")
    behind = await client.get("/uploads/project-1/birds.png", headers={"Range": f"bytes={SIZE}-"})
    assert (behind.status, behind.header("content-range")) == (416, f"bytes */{SIZE}")
    other = await client.get("/uploads/project-1/birds.png", headers={"Range": "bytes=5-14", "If-Range": '"old"'})
    assert (other.status, len(other.body)) == (200, SIZE)
    known = await client.get("/uploads/project-1/birds.png", headers={"If-None-Match": whole.header("etag")})
    assert (known.status, known.body) == (304, b"")
    ask = b"%b /uploads/project-1/birds.png HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for method, sent in ((b"HEAD", b""), (b"GET", content)):
        answer, _, body = (await wire.exchange(served.base, ask % method)).partition(b"\r\n\r\n")
        assert (b"Content-Length: %d" % SIZE in answer, b"Transfer-Encoding" in answer, body == sent) == (
            True,
            False,
            True,
        )


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_200_clients_that_stall_on_an_upload_cost_little_memory(served):
    await served.project(await served.person("owner"), tasks=1, published=True)
    keep(served)
    address = served.server._port.getHost()
    await served.client().get("/uploads/project-1/birds.png")  # what one transfer takes in any case
    before, stalled = resident(), []
    for _ in range(200):
        one = socket.create_connection((address.host, address.port))
        one.sendall(b"GET /uploads/project-1/birds.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
        stalled.append(one)
        await deferLater(reactor, 0, lambda: None)
    await until(lambda: wire.stalled(served.server._site.requests) == 200)
    assert (await served.client().get("/health")).status == 200
    assert resident() - before < 60_000_000
    for one in stalled:
        one.close()


@pytest_twisted.ensureDeferred
async def test_long_answer_waits_on_the_disk_and_is_whole(served, monkeypatch):
    owner = await served.person("owner")
    project = await served.project(owner)
    spilled: list[int] = []
    monkeypatch.setattr(response_writer, "LONG", 100_000)
    monkeypatch.setattr(
        response_writer, "spill_body", lambda body: spilled.append(len(body)) or downloads.spill_body(body)
    )
    rows = [{"project_id": project["id"], "info": str(n) * 50_000} for n in range(4)]
    assert len((await owner.post("/api/task", json=rows)).json()) == 4
    line = f"/api/task?project_id={project['id']}&api_key={owner.key}".encode()
    status, body = await wire.request(served.base, b"GET " + line)
    assert (status, [row["info"] for row in orjson.loads(body)]) == (200, [row["info"] for row in rows])
    assert spilled[-1] == len(body)
    status, body = await wire.request(served.base, b"HEAD " + line)
    assert (status, body, len(spilled)) == (200, b"", 1)
