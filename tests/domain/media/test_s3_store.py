"""Media files in a bucket, against a service that checks signatures, and against connections that break."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import pytest_twisted
from support.servers import s3
from twisted.internet import reactor
from twisted.internet.protocol import Factory, Protocol

from crowdd.features.media import s3 as media_s3
from crowdd.features.media import stores
from crowdd.features.media.s3 import PART, PIECE, Asked, S3Client, S3Store
from crowdd.features.media.store import MediaNames, StoredMedia, read_part
from crowdd.kernel.config.data import MediaSettings
from crowdd.kernel.errors import ConfigError, MediaStoreError

NAMES = MediaNames(b"k" * 32)


@pytest.fixture
def service(s3_service: s3.Service) -> s3.Service:
    return s3_service


@pytest.fixture
def store(service: s3.Service) -> S3Store:
    return store_of(MediaSettings(**service.settings()))


def store_of(settings: MediaSettings) -> S3Store:
    return stores.build_s3_store(reactor, settings)


def put_away(folder: Path, content: bytes, project_id: int = 7, suffix: str = ".jpg") -> tuple[str, Path]:
    key = NAMES.key(project_id, hashlib.sha256(content).hexdigest(), suffix)
    (folder / "source").write_bytes(content)
    return key, folder / "source"


async def read(found: StoredMedia | None, begin: int, end: int) -> bytes:
    assert found is not None and found.pieces is not None
    pieces = [piece async for piece in found.pieces(begin, end)]
    assert all(0 < len(piece) <= PIECE for piece in pieces)
    return b"".join(pieces)


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 3 * PIECE + 17])
@pytest_twisted.ensureDeferred
async def test_a_file_comes_back_whole_and_in_parts(
    store: S3Store, service: s3.Service, tmp_path: Path, size: int
) -> None:
    content = os.urandom(size)
    key, source = put_away(tmp_path, content)
    assert await store.open(key) is None and await store.size(key) is None
    await store.put(key, source, "image/jpeg")
    assert service.client().head_object(Bucket=service.bucket, Key=key)["ContentType"] == "image/jpeg"
    for whole in (True, False):
        file = await store.open(key, content=whole)
        assert file is not None and (file.size, file.type, file.path) == (size, "image/jpeg", None)
        assert file.etag.startswith('"') and await read(file, 0, size) == content
        for begin, end in ((0, size // 2), (size // 3, size), (max(0, size - 1), size)):
            assert await read(file, begin, end) == content[begin:end]
    assert await store.size(key) == size
    await store.delete([key])
    assert await store.open(key, content=False) is None


@pytest_twisted.ensureDeferred
async def test_large_files_go_in_parts_and_leave_nothing_behind_when_one_fails(
    store: S3Store, service: s3.Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = os.urandom(PART) * 2 + b"end"
    key, source = put_away(tmp_path, content, suffix=".mp4")
    await store.put(key, source, "video/mp4")
    theirs = service.client()
    assert theirs.get_object(Bucket=service.bucket, Key=key)["Body"].read() == content
    assert theirs.head_object(Bucket=service.bucket, Key=key)["ETag"].endswith('-3"')  # of three parts
    other, _source = put_away(tmp_path, content + b"2")
    monkeypatch.setattr(media_s3, "_read", lambda source, begin, size: (_ for _ in ()).throw(OSError(5, "disk fault")))
    with pytest.raises(MediaStoreError) as refused:
        await store.put(other, source, "video/mp4")
    assert "disk fault" in refused.value.reason
    assert "Uploads" not in theirs.list_multipart_uploads(Bucket=service.bucket) and await store.open(other) is None


@pytest_twisted.ensureDeferred
async def test_files_and_projects_are_listed_and_removed_in_pages(
    store: S3Store, service: s3.Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert media_s3._MAX_DELETED <= 1000, "S3 takes no more"
    monkeypatch.setattr(media_s3, "_MAX_DELETED", s3.LISTED)
    theirs, keys = service.client(), {}
    for number in range(s3.LISTED + 3):
        key, source = put_away(tmp_path, b"%d" % number, project_id=21)
        keys[key] = source.stat().st_size
        theirs.put_object(Bucket=service.bucket, Key=key, Body=source.read_bytes())
    for foreign in ("project-21/other.txt", "backup/project-22/x", "project-x/y", "a b+ü&?.txt"):
        theirs.put_object(Bucket=service.bucket, Key=foreign, Body=b"")
    key, source = put_away(tmp_path, b"other", project_id=22)
    await store.put(key, source, "image/jpeg")
    assert {key: size async for key, size in store.keys(21)} == keys
    assert {21, 22} <= {number async for number in store.projects()}
    bodies, request = list[bytes](), store._client.request

    async def counted(asked: Asked, **more: Any) -> Any:
        bodies.append(asked.body)
        return await request(asked, **more)

    monkeypatch.setattr(store._client, "request", counted)
    await store.delete(keys)
    assert [body.count(b"<Object>") for body in bodies] == [s3.LISTED, 3]
    assert [each async for each in store.keys(21)] == [] and [each async for each in store.keys(22)] == [(key, 5)]
    objects = theirs.list_objects_v2(Bucket=service.bucket, Prefix="project-21/")["Contents"]
    assert [each["Key"] for each in objects] == ["project-21/other.txt"]


@pytest_twisted.ensureDeferred
async def test_names_with_special_characters_are_signed_as_they_are_sent(service: s3.Service) -> None:
    client = S3Client(reactor, MediaSettings(**service.settings()), service.secret_key)
    for key in ("a b+c&d=e?f#g%41.jpg", "ü/é ~_-.!'()*;:@,$.png", "%2e%2e/x", "a//b"):
        await client.request(Asked("PUT", key, body=key.encode()))
        assert (await client.request(Asked("GET", key))).body == key.encode()
        assert service.client().get_object(Bucket=service.bucket, Key=key)["Body"].read() == key.encode()
        await client.request(Asked("DELETE", key))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"s3_access_key": "AKIAUNKNOWN"}, "Check [media] s3_access_key."),
        ({"s3_secret_key": "wrong"}, "Check [media] s3_secret_key."),
        ({"s3_bucket": "missing"}, "The bucket does not exist."),
        ({"s3_endpoint": "http://127.0.0.1:9"}, "127.0.0.1 port 9 refused the connection."),
    ],
)
@pytest_twisted.ensureDeferred
async def test_faults_of_the_settings_are_explained(
    service: s3.Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong, why: str
) -> None:
    monkeypatch.setattr("crowdd.features.media.s3.back_off", lambda *_steps: 0.01)
    store = store_of(MediaSettings(**service.settings(**wrong)))
    key, source = put_away(tmp_path, b"content")
    for doing in (store.put(key, source, "image/jpeg"), store.open(key), store.delete([key])):
        with pytest.raises(MediaStoreError) as refused:
            await doing
        assert why in refused.value.reason and service.secret_key not in refused.value.reason
        assert "127.0.0.1" not in str(refused.value)  # visitors do not learn where files are


def test_settings_that_are_missing_are_named(service: s3.Service, tmp_path: Path) -> None:
    setup = service.settings(s3_secret_key="")
    (tmp_path / "key").write_text(f"{service.secret_key}\n")
    assert (
        stores.read_s3_secret_key(MediaSettings(**setup, s3_secret_key_file=str(tmp_path / "key")))
        == service.secret_key
    )
    for wrong, why in (
        (setup, "s3_secret_key is missing"),
        (setup | {"s3_bucket": ""}, "s3_bucket is missing"),
        (setup | {"s3_secret_key_file": "/nowhere"}, "cannot read /nowhere: No such file"),
    ):
        with pytest.raises(ConfigError, match=why):
            store_of(MediaSettings(**wrong))


class Scripted(Protocol):
    """Answers each request by the next word of the script: bytes, or None to break the connection."""

    def connectionMade(self) -> None:
        self.factory.asked += 1

    def dataReceived(self, data: bytes) -> None:
        self.factory.heads.append(data)
        answer = self.factory.script.pop(0) if self.factory.script else None
        if answer is not None:
            self.transport.write(answer)
        self.transport.loseConnection()


@attrs.define
class Broken:
    """A service of which connections break."""

    port: object
    factory: Factory
    store: S3Store


@pytest.fixture
def broken(service: s3.Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broken]:
    monkeypatch.setattr("crowdd.features.media.s3.back_off", lambda *_steps: 0.01)
    factory = Factory.forProtocol(Scripted)
    factory.script, factory.asked, factory.heads = [], 0, []
    port = reactor.listenTCP(0, factory, interface="127.0.0.1")
    settings = MediaSettings(**service.settings(s3_endpoint=f"http://127.0.0.1:{port.getHost().port}"))
    yield Broken(port, factory, store_of(settings))
    port.stopListening()


def answer(status: str, body: bytes = b"", *headers: str, length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@pytest_twisted.ensureDeferred
async def test_a_request_is_repeated_after_faults_that_pass(broken: Broken) -> None:
    good = answer("206 Partial Content", b"abc", "Content-Range: bytes 0-2/3", 'ETag: "e"')
    broken.factory.script = [None, answer("503 Slow Down"), answer("200 OK", b"ab", length=3), good]
    file = await broken.store.open(NAMES.key(7, "a" * 64, ".jpg"))
    assert await read(file, 0, 3) == b"abc" and broken.factory.asked == 4


@pytest_twisted.ensureDeferred
async def test_faults_that_last_end_in_an_error(broken: Broken) -> None:
    key = NAMES.key(7, "a" * 64, ".jpg")
    with pytest.raises(MediaStoreError, match="not available"):
        await broken.store.open(key)
    assert broken.factory.asked == 4
    broken.factory.script = [answer("206 Partial Content", b"abc", "Content-Range: bytes 0-99/100")]
    with pytest.raises(MediaStoreError) as refused:
        await broken.store.open(key)
    assert "a part of" in refused.value.reason


@pytest_twisted.ensureDeferred
async def test_redirects_are_not_followed(broken: Broken, service: s3.Service) -> None:
    away = answer("307 Temporary Redirect", b"", f"Location: {service.url}/media/x")
    broken.factory.script = [away]
    with pytest.raises(MediaStoreError) as refused:
        await broken.store.size(NAMES.key(7, "a" * 64, ".jpg"))
    assert "It redirects (307)" in refused.value.reason and broken.factory.asked == 1


@pytest_twisted.ensureDeferred
async def test_a_list_with_entities_is_not_read(broken: Broken) -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><ListBucketResult><Contents><Key>&a;</Key><Size>1</Size></Contents></ListBucketResult>'
    broken.factory.script = [answer("200 OK", bomb)]
    assert [each async for each in broken.store.keys(7)] == []


@pytest_twisted.ensureDeferred
async def test_a_part_is_read(store: S3Store, tmp_path: Path) -> None:
    key, path = put_away(tmp_path, b"a picture" * PIECE)
    await store.put(key, path, "image/jpeg")
    stored_media = await store.open(key, content=False)
    assert stored_media is not None and await read_part(stored_media, PIECE * 9 - 4, PIECE * 9) == b"ture"
