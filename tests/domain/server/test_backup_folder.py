"""Which scheduled backups go, and the files that they share."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import attrs
import pytest

from crowdd.features.operations.backup_archive import FileStore, StoredFile
from crowdd.features.operations.backups import BackupFolder, complaint, find_expired
from crowdd.kernel.config import Settings
from crowdd.kernel.config.data import BackupSettings
from crowdd.kernel.errors import ConfigError, ConflictError

NOW = datetime(2026, 3, 4, 2, tzinfo=UTC)  # a Wednesday


def days_ago(*days: float) -> list[datetime]:
    return [NOW - timedelta(days=n) for n in days]


@pytest.mark.parametrize(
    ("ages", "keep_days", "keep_weeks", "gone"),
    [
        ((0, 1, 2), 2, 0, ()),
        ((0, 1, 2, 3), 2, 0, (3,)),
        ((5,), 2, 0, ()),  # the last one stays, however old
        ((5, 6), 2, 0, (6,)),
        ((0, 2, 3, 4, 9, 10, 11, 20), 1, 2, (4, 9, 11, 20)),
    ],
)
def test_what_expires(ages, keep_days, keep_weeks, gone) -> None:
    assert set(find_expired(days_ago(*ages), NOW, keep_days, keep_weeks)) == set(days_ago(*gone))


def test_every_day_for_a_year_leaves_days_and_weeks() -> None:
    backups: list[datetime] = []
    for day in range(365):
        now = NOW + timedelta(days=day)
        backups.append(now)
        backups = [at for at in backups if at not in find_expired(backups, now, 14, 8)]
    ages = sorted((now - at).days for at in backups)
    assert ages == [*range(15), 15, 17, 24, 31, 38, 45, 52]  # then the last one before, and Sundays


def test_a_content_is_stored_once_and_goes_when_nobody_names_it(tmp_path) -> None:
    store = FileStore(tmp_path / "files")
    first, size, new = store.add(io.BytesIO(b"song"))
    assert (size, new) == (4, True) and store.add(io.BytesIO(b"song")) == (first, 4, False)
    other, _, _ = store.add(io.BytesIO(b"other"))
    (tmp_path / "files/.draft").write_text("half")
    assert store.sweep({bytes.fromhex(first)}) == 1
    assert [path.name for path in (tmp_path / "files").rglob("*") if path.is_file()] == [first]
    assert store.holds(first, 4) and not store.holds(first, 5) and not store.holds(other, 5)


def test_a_changed_content_is_not_sound(tmp_path) -> None:
    store = FileStore(tmp_path / "files")
    digest, size, _ = store.add(io.BytesIO(b"song"))
    file = StoredFile("uploads/x/a\udcffb.ogg", size, digest, 1, 2)
    assert store.is_sound(file) and StoredFile.of_line(file.line()) == file
    store.path(digest).write_bytes(b"sonG")
    assert not store.is_sound(file)
    store.path(digest).unlink()
    assert not store.is_sound(file)


def test_a_folder_that_is_missing_is_not_created(tmp_path) -> None:
    for name in ("", str(tmp_path / "gone")):
        with pytest.raises(ConfigError):
            BackupFolder(name)
    assert not (tmp_path / "gone").exists()
    with pytest.raises(ConflictError, match="There is no backup in"):
        BackupFolder(str(tmp_path)).newest()


def test_two_at_once_are_refused_and_the_same_second_is_not(tmp_path) -> None:
    folder = BackupFolder(str(tmp_path))
    with folder.held(), pytest.raises(ConflictError, match="Another backup is being written"), folder.held():
        pass
    with folder.held():
        folder.target(NOW).touch()
    assert folder.target(NOW).name == "crowdd-2026-03-04T020001Z.tar"
    assert folder.newest().at == NOW


def test_what_doctor_says(tmp_path) -> None:
    def said(**options: str) -> str:
        return complaint(attrs.evolve(Settings(), backups=BackupSettings(**options)))

    word = tmp_path / "word"
    assert said() == ""
    assert "does not exist" in said(dir=str(tmp_path / "gone"))
    assert "cannot be read" in said(dir=str(tmp_path), passphrase_file=str(word))
    word.write_text("short\n")
    assert "at least 10 characters" in said(dir=str(tmp_path), passphrase_file=str(word))
    word.write_text("correct horse battery\n")
    assert said(dir=str(tmp_path), passphrase_file=str(word)) == ""
    with (tmp_path / "crowdd-2026-03-04T020000Z.tar").open("wb") as file:
        file.truncate(1 << 42)
    assert "MB left, and the last backup took" in said(dir=str(tmp_path), passphrase_file=str(word))
