"""Folders of the data folder: nobody but their owner reads them, however the server was started."""

import os
import stat

import pytest
import pytest_twisted
from twisted.internet import reactor

from crowdd.core import secrets
from crowdd.core.uploads import Upload, Uploads
from crowdd.database.embedded.cluster import hold_folder
from crowdd.features.media.store import FolderStore
from crowdd.kernel import files as kernel_files
from crowdd.kernel.concurrency.worker_thread import WorkerThread


@pytest.fixture
def usual_umask():
    """That of a shell or a container, which lets everybody read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def others(path):
    """What everybody but the owner may do."""
    return stat.S_IMODE(path.stat().st_mode) & 0o077


@pytest.mark.usefixtures("usual_umask")
@pytest_twisted.ensureDeferred
async def test_uploads_and_media_are_for_the_server_alone(tmp_path):
    data = tmp_path / "var"
    secrets.load(data)
    (tmp_path / "file").write_text("content")
    Uploads(data / "uploads").store("project-1", Upload("a.txt", b"text"))
    await FolderStore(data / "media", WorkerThread(reactor)).put(f"project-1/{'0' * 40}.png", tmp_path / "file", "")
    kernel_files.make_folder(data / "a" / "b" / "c", data)
    folders = [data, *(path for path in data.rglob("*") if path.is_dir())]
    assert len(folders) == 8 and [path for path in folders if others(path)] == []


@pytest.mark.usefixtures("usual_umask")
def test_data_folder_of_a_database_of_its_own_is_not_listed(tmp_path):
    """Under root, PostgreSQL runs as another user, who has to enter it."""
    os.close(hold_folder(tmp_path / "var"))
    assert others(tmp_path / "var") == (0o011 if os.geteuid() == 0 else 0)
