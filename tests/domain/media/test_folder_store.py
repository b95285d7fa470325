"""Media files in a folder: whole or not at all, under keys that only ``MediaNames`` can make."""

import hashlib
from pathlib import Path

import pytest
import pytest_twisted
from twisted.internet import reactor

from crowdd.features.media.store import FolderStore, MediaNames, is_key, read_part
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import MediaStoreError

NAMES = MediaNames(b"k" * 32)


def key_of(content: bytes, project_id: int = 7, suffix: str = ".jpg") -> str:
    return NAMES.key(project_id, hashlib.sha256(content).hexdigest(), suffix)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "uploads", WorkerThread(reactor))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(b"a picture")
    return path


def test_names_follow_project_and_content_and_cannot_be_guessed() -> None:
    assert key_of(b"a") == key_of(b"a") != key_of(b"b")
    assert key_of(b"a").partition("/")[2] != key_of(b"a", 8).partition("/")[2]
    assert hashlib.sha256(b"a").hexdigest()[:40] not in key_of(b"a")
    assert is_key(key_of(b"a")) and not is_key("project-7/thumbnail.jpg") and not is_key("project-7/../" + "0" * 40)
    for wrong in ("../secret", "A" * 64, ""):
        with pytest.raises(ValueError):
            NAMES.key(7, wrong, ".jpg")
    with pytest.raises(ValueError):
        key_of(b"a", suffix="/../x")


@pytest_twisted.ensureDeferred
async def test_a_file_is_stored_read_listed_and_removed(store: FolderStore, source: Path) -> None:
    key = key_of(b"a picture")
    assert await store.open(key) is None and await store.size(key) is None
    for _again in range(2):
        await store.put(key, source, "image/jpeg")
    file = await store.open(key)
    assert file is not None and file.path is not None and source.exists()
    assert (file.size, file.type, file.path.read_bytes()) == (9, "image/jpeg", b"a picture")
    (file.path.parent / "thumbnail.jpg").write_bytes(b"not media")
    assert [each async for each in store.keys(7)] == [(key, 9)] and [each async for each in store.projects()] == [7]
    await store.delete([key, key_of(b"none")])
    assert await store.open(key) is None and [each async for each in store.keys(8)] == []


@pytest_twisted.ensureDeferred
async def test_what_fails_leaves_no_part(store: FolderStore, source: Path, tmp_path: Path) -> None:
    key = key_of(b"a picture")
    with pytest.raises(MediaStoreError) as refused:
        await store.put(key, tmp_path / "missing", "image/jpeg")
    assert "No such file" in refused.value.reason and "missing" not in str(refused.value)
    assert [path for path in (tmp_path / "uploads").rglob("*") if path.is_file()] == []
    outside = "project-7/../../source"
    with pytest.raises(ValueError):
        await store.delete([outside])
    assert await store.open(outside) is None and source.exists()


@pytest_twisted.ensureDeferred
async def test_a_link_is_not_followed(store: FolderStore, source: Path, tmp_path: Path) -> None:
    key = key_of(b"link")
    (tmp_path / "uploads" / "project-7").mkdir(parents=True)
    (tmp_path / "uploads" / key).symlink_to(source)
    assert await store.open(key) is None and [each async for each in store.keys(7)] == []


@pytest_twisted.ensureDeferred
async def test_a_part_is_read(store: FolderStore, source: Path) -> None:
    key = key_of(source.read_bytes())
    await store.put(key, source, "image/jpeg")
    stored_media = await store.open(key)
    assert stored_media is not None and await read_part(stored_media, 2, 6) == b"pict"
