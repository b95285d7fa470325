"""Media files over HTTP, out of either store: in parts, with conditions, and with the rights of their project."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted
from support import wire
from support.browsers import lock
from support.checks.shows import shows
from support.servers import s3

from crowdd.features.media.feature import MediaFeature
from crowdd.features.media.s3 import PIECE
from crowdd.features.media.tiles import Pyramid

SIZE = 2 * PIECE + 1000


async def stored(served: Any, folder: Path, content: bytes, suffix: str = ".mp4", project_id: int = 1) -> str:
    """The address of a media file."""
    house = served.house
    key: str = house[MediaFeature].media_names.key(project_id, hashlib.sha256(content).hexdigest(), suffix)
    (folder / "source").write_bytes(content)
    await house[MediaFeature].media_store.put(key, folder / "source", "video/mp4")
    return f"/uploads/{key}"


@shows("upload-file")
@pytest.mark.parametrize("where", ["folder", "s3"])
@pytest_twisted.ensureDeferred
async def test_media_are_served_whole_and_in_parts(serve, request, tmp_path: Path, where: str) -> None:
    served = await serve(**environment(request, where))
    await served.project(await served.person("owner"), tasks=1, published=True)
    content, client = os.urandom(SIZE), served.client()
    path = await stored(served, tmp_path, content)
    whole = await client.get(path)
    assert (whole.status, whole.body, whole.header("content-type")) == (200, content, "video/mp4")
    sent = {"accept-ranges": "bytes", "x-content-type-options": "nosniff", "cache-control": "public, max-age=86400"}
    assert {name: whole.header(name) for name in sent} == sent and "sandbox" in whole.header("content-security-policy")
    etag = whole.header("etag")
    for header, begin, end in (
        ("bytes=5-14", 5, 15),
        (f"bytes={PIECE - 5}-", PIECE - 5, SIZE),
        ("bytes=-7", SIZE - 7, SIZE),
    ):
        part = await client.get(path, headers={"Range": header, "If-Range": etag})
        assert (part.status, part.body) == (206, content[begin:end])
        assert part.header("content-range") == f"bytes {begin}-{end - 1}/{SIZE}"
    behind = await client.get(path, headers={"Range": f"bytes={SIZE}-"})
    assert (behind.status, behind.header("content-range")) == (416, f"bytes */{SIZE}")
    changed = await client.get(path, headers={"Range": "bytes=5-14", "If-Range": '"old"'})
    assert (changed.status, len(changed.body)) == (200, SIZE)
    known = await client.get(path, headers={"If-None-Match": etag})
    assert (known.status, known.body, known.header("etag")) == (304, b"", etag)
    ask = f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    head, _, body = (await wire.exchange(served.base, ask)).partition(b"\r\n\r\n")
    assert b" 200 " in head.splitlines()[0] and b"Content-Length: %d" % SIZE in head and body == b""
    assert (await client.get(path.replace(".mp4", ".webm"))).status == 404
    sound = await stored(served, tmp_path, b"a sound", ".flac")
    assert (await client.get(sound)).header("content-type") == "audio/flac"


def environment(request: pytest.FixtureRequest, where: str) -> dict[str, str]:
    service: s3.Service | None = request.getfixturevalue("s3_service") if where == "s3" else None
    return {} if service is None else service.environment()


@shows("upload-file")
@pytest_twisted.ensureDeferred
async def test_media_of_a_locked_project_in_s3_are_for_those_with_the_lock(serve, s3_service, tmp_path: Path) -> None:
    served = await serve(**s3_service.environment())
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    path = await stored(served, tmp_path, b"a film", project_id=project["id"])
    await lock(served, project["short_name"], owner, "sesame")
    assert (await served.client().get(path)).status == 404
    visitor = served.client()
    await visitor.send_form(f"/project/{project['short_name']}/password", {"password": "sesame"})
    seen = await visitor.get(path)
    assert (seen.status, seen.body, seen.header("cache-control")) == (200, b"a film", "private, no-cache")


@pytest_twisted.ensureDeferred
async def test_a_store_that_is_away_is_503_and_says_nothing_of_itself(serve, s3_service, monkeypatch) -> None:
    monkeypatch.setattr("crowdd.features.media.s3.back_off", lambda *_steps: 0.01)
    served = await serve(**{**s3_service.environment(), "CROWDD_MEDIA_S3_ENDPOINT": "http://127.0.0.1:9"})
    await served.project(await served.person("owner"), tasks=1, published=True)
    refused = await served.client().get(f"/uploads/project-1/{'a' * 40}.jpg", headers={"Accept": "application/json"})
    assert (refused.status, refused.json()["error_code"]) == (503, "media_unavailable")
    assert b"127.0.0.1" not in refused.body and refused.header("retry-after") == "30"
    assert (await served.client().get("/uploads/project-1/other.jpg")).status == 404  # that is no name of media


@shows("upload-tiles")
@pytest.mark.parametrize("where", ["folder", "s3"])
@pytest_twisted.ensureDeferred
async def test_a_file_of_tiles_is_served_as_many_out_of_either_store(
    serve, request, tmp_path: Path, where: str
) -> None:
    served = await serve(**environment(request, where))
    await served.project(await served.person("owner"), tasks=1, published=True)
    pyramid, client = Pyramid(3, 2, "webp"), served.client()
    tiles = [b"the largest", b"half", b"one"]
    path = await stored(served, tmp_path, b"".join(tiles) + pyramid.end([len(each) for each in tiles]), ".dzi")
    description = await client.get(path)
    assert (description.header("content-type"), 'Format="webp"' in description.text) == ("application/xml", True)
    for level, content in zip((2, 1, 0), tiles, strict=True):
        sent = await client.get(f"{path.removesuffix('.dzi')}_files/{level}/0_0.webp")
        assert (sent.status, sent.body, sent.header("content-type")) == (200, content, "image/webp")
        assert "sandbox" in sent.header("content-security-policy")
    asked = (
        f"HEAD {path.removesuffix('.dzi')}_files/1/0_0.webp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    ask = asked.encode()
    assert b"Content-Length: 4\r" in await wire.exchange(served.base, ask)
    other = await stored(served, tmp_path, b"<Image/> of another program", ".dzi")
    assert (await client.get(other)).body == b"<Image/> of another program"
    assert (await client.get(f"{other.removesuffix('.dzi')}_files/0/0_0.webp")).status == 404
