"""Files that arrive in parts.

The length of a file on the disk says how much of it has come, and nothing else does. A part is appended in its order
and flushed to the disk before it is confirmed. A process that is killed leaves what it had written: the beginning of
the part, in its place. The client asks how far the file is and goes on there.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import attrs

from crowdd.kernel import files as kernel_files
from crowdd.kernel.errors import ConflictError, InvalidValueError, NotFoundError, UnavailableError

CHECKSUMS: Final = ("sha1", "sha256")
_PIECE = 262_144
_LEFT_SECONDS = 900.0  # a folder that is older was left by a process that was killed


class LockedFileError(ConflictError):
    """Another request is writing this file."""

    code = "upload_locked"


class WrongOffsetError(ConflictError):
    """The part does not begin where the file ends; ``offset`` is where that is."""

    code = "upload_offset"

    def __init__(self, offset: int) -> None:
        super().__init__(f"The upload has {offset:,} bytes so far. Send the part that begins there.")
        self.offset = offset


class ChecksumError(InvalidValueError):
    """The part is not what its sender says."""

    code = "upload_checksum"


@attrs.frozen
class Part:
    """A part of a file: an open file with its bytes, where it begins, and its checksum (algorithm, digest) or None."""

    offset: int
    content: IO[bytes] = attrs.field(repr=False)
    length: int
    checksum: tuple[str, bytes] | None = None


@attrs.frozen
class IncomingFiles:
    """The folder of files that are arriving, by the ids of their rows. Everything waits for the disk."""

    folder: Path
    min_free_bytes: int

    def path(self, file_id: int) -> Path:
        """Where the file of a row lies."""
        return self.folder / str(file_id)

    def begin(self, file_id: int) -> None:
        """An empty file, unless it is there. Raises UnavailableError when the disk is nearly full."""
        kernel_files.make_folder(self.folder, self.folder.parent)
        kernel_files.require_space(self.folder, self.min_free_bytes)
        with self.path(file_id).open("ab") as file:
            kernel_files.give_to_owner(file.fileno(), self.folder.parent)

    def offset(self, file_id: int) -> int:
        """How many bytes have come. Raises NotFoundError."""
        try:
            return self.path(file_id).stat().st_size
        except FileNotFoundError:
            raise NotFoundError("404 Not Found") from None

    def append(self, file_id: int, part: Part, maximum: int) -> int:
        """Appends a part and says how many bytes have come.

        Raises LockedFileError while another process or thread writes the file, WrongOffsetError, ChecksumError (nothing
        of the part is kept), InvalidValueError for more than ``maximum`` bytes in all, NotFoundError, UnavailableError.
        """
        kernel_files.require_space(self.folder, self.min_free_bytes)
        with self._locked(file_id) as file:
            size = os.fstat(file.fileno()).st_size
            if part.offset != size:
                raise WrongOffsetError(size)
            if size + part.length > maximum:
                raise InvalidValueError(f"The upload has {maximum:,} bytes in all: the part is too long.")
            try:
                _copy(part, file)
            except BaseException:
                os.ftruncate(file.fileno(), size)
                raise
            os.fdatasync(file.fileno())
            return size + part.length

    def forget(self, file_id: int) -> None:
        """Removes a file."""
        self.path(file_id).unlink(missing_ok=True)

    def take(self, file_id: int, source: Path) -> None:
        """Moves a complete file of the same disk here, flushed."""
        with source.open("rb") as file:
            kernel_files.give_to_owner(file.fileno(), self.folder.parent)
            os.fdatasync(file.fileno())
        source.replace(self.path(file_id))

    def files(self, *, before: float) -> list[int]:
        """The ids of all files that were last written before a time (seconds since 1970)."""
        if not self.folder.is_dir():
            return []
        with os.scandir(self.folder) as entries:
            old = (each.name for each in entries if each.is_file() and each.stat().st_mtime < before)
            return [int(name) for name in old if name.isdecimal()]

    @contextlib.contextmanager
    def working_folder(self, file_id: int) -> Iterator[Path]:
        """An empty folder on the same disk, removed afterwards. What a killed process left there is removed before."""
        folder = self.folder / f"{file_id}.work"
        shutil.rmtree(folder, ignore_errors=True)
        kernel_files.make_folder(folder, self.folder.parent)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def sole_folder(self, file_id: int) -> Iterator[Path]:
        """The same for one at a time: raises UnavailableError while another process or thread has it."""
        folder = self.folder / f"{file_id}.work"
        with contextlib.suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > _LEFT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            raise UnavailableError("This file is being prepared.", retry_after=2) from None
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def digest(self, file_id: int) -> bytes:
        """The SHA-256 of a file's content."""
        with self.path(file_id).open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()

    def beginning(self, file_id: int) -> bytes:
        """The first bytes of a file, by which an archive is known."""
        with self.path(file_id).open("rb") as file:
            return file.read(16)

    @contextlib.contextmanager
    def _locked(self, file_id: int) -> Iterator[IO[bytes]]:
        try:
            file = self.path(file_id).open("r+b", buffering=0)
        except FileNotFoundError:
            raise NotFoundError("404 Not Found") from None
        with file:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LockedFileError("Another request is sending this file. Try again in a moment.") from None
            file.seek(0, os.SEEK_END)
            yield file


def _copy(part: Part, target: IO[bytes]) -> None:
    algorithm, digest = part.checksum or ("", b"")
    total = hashlib.new(algorithm, usedforsecurity=False) if algorithm else None
    part.content.seek(0)
    left = part.length
    while left and (piece := part.content.read(min(_PIECE, left))):
        view = memoryview(piece)
        while view:
            view = view[target.write(view) :]
        left -= len(piece)
        if total is not None:
            total.update(piece)
    if total is not None and total.digest() != digest:
        raise ChecksumError("The checksum of the part is wrong.")
