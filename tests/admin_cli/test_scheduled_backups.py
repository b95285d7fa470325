"""Backups in a folder: they share files, old ones go, a process of the server makes them, and a drill proves them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import subprocess
from pathlib import Path

import psycopg2
import pytest
import pytest_twisted
from support.replication.cluster import standby_of
from support.servers.live import BIN
from test_backup import (
    PASSPHRASE,
    WORD,
    data,
    databases,
    doctor,
    dsn,
    fetched,
    lasting_databases,
    original,
    place,
    untouched,
    used,
    waiting,
)
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, ensureDeferred
from twisted.internet.threads import deferToThread

from crowdd.database.embedded.cluster import wait_until
from crowdd.features.operations.backups import ScheduledBackups
from crowdd.kernel import config
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.sched.job_runner import scheduled

__all__ = ["databases", "lasting_databases", "original", "place", "used"]


@pytest.fixture
def folder(tmp_path) -> Path:
    """An empty folder for backups."""
    made = tmp_path / "backups"
    made.mkdir()
    (tmp_path / "word").write_text(f"{WORD}\n")
    (tmp_path / "word").chmod(0o600)
    return made


@pytest.fixture
def server(used, folder):
    """The used server with a folder for backups."""
    used.environment.update(
        CROWDD_BACKUPS_DIR=str(folder), CROWDD_BACKUPS_PASSPHRASE_FILE=str(folder.parent / "word"), PGAPPNAME="backups"
    )
    return used


def stored(folder: Path) -> dict[str, bytes]:
    """The files that backups share, by their digests."""
    return {path.name: path.read_bytes() for path in (folder / "files").rglob("*") if path.is_file()}


def song(server) -> Path:
    return data(server) / "uploads/project-1/song.ogg"


def test_a_second_backup_writes_only_new_files_and_each_comes_back(server, place, folder, tmp_path):
    first = server.json("backup")
    assert (first["files"], first["new_files"], first["missing"]) == (2, 2, 0)
    assert Path(first["path"]).parent == folder and Path(first["path"]).stat().st_mode & 0o777 == 0o600
    assert set(stored(folder).values()) == {b"", song(server).read_bytes()}
    before = {path: path.stat().st_ino for path in (folder / "files").rglob("*")}
    seen, old = song(server).stat(), song(server).read_bytes()
    song(server).write_bytes(old[::-1])  # of the same size and, as far as its own time says, as old as before
    os.utime(song(server), ns=(seen.st_atime_ns, seen.st_mtime_ns))
    (data(server) / "uploads/project-1/new.ogg").write_bytes(old)
    second = server.json("backup")
    assert (second["files"], second["new_files"]) == (3, 1)
    assert {path: path.stat().st_ino for path in before} == before
    third = server.json("backup")
    assert (third["files"], third["new_files"]) == (3, 0)
    done = place.json("restore", "--yes", second["path"], **PASSPHRASE)
    assert done["files"] == 3 and done["rows"]["task"] == 20
    assert song(place).read_bytes() == old[::-1] and (song(place).parent / "new.ogg").read_bytes() == old
    assert not [problem for problem in doctor(server) if "backup" in problem]
    drilled = server.json("drill", first["path"], "--in", tmp_path)
    assert (drilled["files"], drilled["differences"]) == (2, []) and drilled["rows"] > 20 and drilled["age"] >= 0


def test_old_backups_go_with_the_files_that_only_they_name(server, folder):
    first = Path(server.json("backup")["path"])
    old = song(server).read_bytes()
    song(server).unlink()
    first.rename(folder / "crowdd-2020-01-01T000000Z.tar")
    (folder / ".crowdd-2020-01-02T000000Z.tar.0123abcd.part").write_text("of one that was killed")
    (folder / "other.tar").write_text("not ours")
    second = server.json("backup")  # the old one is the last until it is made
    assert {path.name for path in folder.iterdir()} == {
        "crowdd-2020-01-01T000000Z.tar",
        Path(second["path"]).name,
        "files",
        "other.tar",
    }
    assert old in stored(folder).values()
    server.json("backup")
    assert not (folder / "crowdd-2020-01-01T000000Z.tar").exists() and set(stored(folder).values()) == {b""}


@pytest.mark.proof
def test_a_damaged_shared_file_is_refused_and_stored_again_once_it_is_removed(server, place, folder, tmp_path):
    path = server.json("backup")["path"]
    (damaged,) = (each for each in (folder / "files").rglob("*") if each.is_file() and each.stat().st_size > 0)
    with damaged.open("r+b") as file:
        file.seek(1000)
        file.write(b"\xff\xff")
    error = place.refused("restore", "--yes", path, **PASSPHRASE)
    assert "missing or damaged" in error and str(damaged) in error and untouched(place)
    assert "missing or damaged" in server.refused("drill", "--in", tmp_path)
    damaged.unlink()
    assert "missing or damaged" in place.refused("restore", "--yes", path, **PASSPHRASE) and untouched(place)
    assert server.json("backup")["new_files"] == 1
    assert server.json("drill", "--in", tmp_path)["differences"] == []
    assert place.json("restore", "--yes", path, **PASSPHRASE)["files"] == 2
    assert not [*tmp_path.glob("crowdd-drill-*")]


@pytest.mark.proof
def test_a_full_disk_leaves_the_last_good_one(server, folder, tmp_path):
    good = server.json("backup")["path"]
    song(server).with_name("long.ogg").write_bytes(b"x" * 3_000_000)

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))

    done = subprocess.run(
        [BIN / "crowdctl", "backup"], env=server.environment, preexec_fn=little, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "File too large" in done.stderr and "Traceback" not in done.stderr
    assert [str(path) for path in folder.iterdir() if path.is_file()] == [good]
    assert not [path for path in stored(folder) if path.startswith(".")]
    assert server.json("drill", "--in", tmp_path)["files"] == 2
    assert server.json("backup")["new_files"] == 1


def test_only_files_adds_what_is_missing_and_replaces_nothing(server, folder):
    path = server.json("backup")["path"]
    content = song(server).read_bytes()
    song(server).unlink()
    (song(server).parent / "empty.txt").write_text("another content")
    assert server.json("restore", path, "--only-files", **PASSPHRASE) == {"added": 1}
    assert song(server).read_bytes() == content
    assert (song(server).parent / "empty.txt").read_text() == "another content"
    assert server.json("restore", path, "--only-files", **PASSPHRASE) == {"added": 0}
    song(server).unlink()
    assert "passphrase is wrong" in server.refused("restore", path, "--only-files", CROWDD_BACKUP_PASSPHRASE="x" * 12)
    assert not song(server).exists()


def test_two_at_once_are_refused(server, folder):
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert "Another backup is being written" in server.refused("backup")
    os.close(descriptor)
    server.json("backup")


def test_without_a_folder_a_file_must_be_named(used):
    assert "Name a FILE, or set [backups] dir." in used.refused("backup", status=2)


class TestJob:
    def test_it_makes_a_backup_and_says_which(self, server, folder):
        done = server.json("jobs", "run", "back_up")
        (path,) = folder.glob("*.tar")
        assert done["outcome"] == "done" and done["words"].startswith(f"{path.name}: ")
        assert done["words"].endswith("2 files (2 new)")
        (job,) = (job for job in server.json("jobs", "list") if job["name"] == "back_up")
        assert (job["period"], job["outcome"]) == (86_400, "done")

    def test_its_failure_is_told_until_it_succeeds(self, server, folder):
        (folder.parent / "word").unlink()
        failed = server("jobs", "run", "back_up", "--json")
        assert failed.status == 1 and "passphrase file" in failed.json["words"] and not [*folder.iterdir()]
        report = "\n".join(doctor(server))
        assert "The job back_up has failed 1 times in a row: The passphrase file" in report
        assert "Scheduled backups fail. The passphrase file" in report
        (folder.parent / "word").write_text(f"{WORD}\n")
        assert server.json("jobs", "run", "back_up")["outcome"] == "done"
        assert not [problem for problem in doctor(server) if "ackup" in problem or "back_up" in problem]

    def test_only_servers_with_a_folder_run_it(self, server, used):
        with_folder = {
            job.name: job.period
            for job in scheduled(config.load(None, {"CROWDD_BACKUPS_DIR": "/x", "CROWDD_BACKUPS_EVERY_HOURS": "6"}))
        }
        without = {job.name: job.period for job in scheduled(config.load(None, {}))}
        assert with_folder == {**without, "back_up": 6 * 3600.0} and "back_up" not in without
        failed = used("jobs", "run", "back_up", "--json", CROWDD_BACKUPS_DIR="")
        assert failed.status == 1 and "[backups] dir is not set" in failed.json["words"]
        (late,) = (job for job in used.json("jobs", "list", CROWDD_BACKUPS_DIR="") if job["name"] == "back_up")
        assert late["period"] is None and late["overdue"] == 0

    @pytest_twisted.ensureDeferred
    async def test_it_ends_with_the_server(self, server, folder):
        backups = ScheduledBackups(config.load(None, server.environment), WorkerThread(reactor))
        with contextlib.closing(psycopg2.connect(dsn(server))) as holder, holder.cursor() as cursor:
            cursor.execute("LOCK TABLE task IN ACCESS EXCLUSIVE MODE")
            running = ensureDeferred(backups.make())
            assert await deferToThread(wait_until, lambda: waiting(server), 60)
            running.cancel()
            with pytest.raises(CancelledError):
                await running
            holder.rollback()
        gone = (
            "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert await deferToThread(wait_until, lambda: fetched(dsn(server), gone) == [{"n": 0}], 60)
        assert not [*folder.glob("*.tar")]
        assert "2 files (" in await backups.make()
        assert len([*folder.glob("*.tar")]) == 1 and not [*folder.glob(".*.part")]


@pytest.fixture
def standby(postgres):
    """A standby of the tests' PostgreSQL."""
    with standby_of(postgres) as running:
        yield running


@pytest.mark.proof
def test_a_standby_can_be_the_source(used, place, postgres, standby, tmp_path):
    of_it = standby.of(dsn(used))
    fetched(dsn(used), "UPDATE project SET description = 'of the primary'")
    standby.catch_up(postgres)
    made = used.json("backup", tmp_path / "b.tar", "--dsn", of_it, **PASSPHRASE)
    assert made["rows"]["task"] == 20
    assert fetched(dsn(used), "SELECT count(*) AS n FROM backup WHERE snapshot_at <= clock_timestamp()")[0]["n"] >= 1
    assert place.json("restore", "--yes", tmp_path / "b.tar", **PASSPHRASE)["differences"] == []
    assert fetched(dsn(place), "SELECT description FROM project") == [{"description": "of the primary"}]
