"""Files that several backups share: each content once, under its SHA-256, beside the archives that name it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets as random
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Final

import attrs

DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_DRAFT: Final = "."  # names of files that are being written begin so
_PIECE: Final = 1 << 20


@attrs.frozen
class StoredFile:
    """A file of the data folder as a backup names it: ``name`` below that folder, and what tells whether it changed."""

    name: str
    size: int
    sha256: str
    mtime_ns: int
    ctime_ns: int

    def line(self) -> bytes:
        """Itself in the list of an archive. Names that are no UTF-8 come back as they were (surrogates)."""
        times = {"mtime_ns": self.mtime_ns, "ctime_ns": self.ctime_ns}
        return json.dumps({"name": self.name, "bytes": self.size, "sha256": self.sha256, **times}).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> StoredFile:
        """What ``line`` wrote. Raises ValueError, TypeError, KeyError."""
        row = json.loads(line)
        size, modified, changed = (int(row[name]) for name in ("bytes", "mtime_ns", "ctime_ns"))
        return cls(str(row["name"]), size, str(row["sha256"]), modified, changed)

    def look(self) -> bytes:
        """The same for files that look alike: of one name, size and times."""
        return look(self.name, self.size, self.mtime_ns, self.ctime_ns)


def look(name: str, size: int, mtime_ns: int, ctime_ns: int) -> bytes:
    """16 bytes for a name, a size and the times of the last change."""
    seen = f"{size} {mtime_ns} {ctime_ns} ".encode() + os.fsencode(name)
    return hashlib.blake2b(seen, digest_size=16).digest()


class FileStore:
    """A folder of files by their digests. One program at a time writes to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, digest: str) -> Path:
        """Where the content of this digest is."""
        return self._folder / digest[:2] / digest

    def holds(self, digest: str, size: int) -> bool:
        """Whether the content is here, by its size alone."""
        with contextlib.suppress(OSError):
            return self.path(digest).stat().st_size == size
        return False

    def is_sound(self, file: StoredFile) -> bool:
        """Whether the content is here, and as it was."""
        try:
            with self.path(file.sha256).open("rb") as content:
                return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256
        except FileNotFoundError:
            return False

    def add(self, content: IO[bytes]) -> tuple[str, int, bool]:
        """Keeps a content: its digest and size, and whether it is new here. It is on the disk after ``os.sync``."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._folder / f"{_DRAFT}{random.token_hex(8)}"
        digest, size = hashlib.sha256(), 0
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
                while piece := content.read(_PIECE):
                    digest.update(piece)
                    size += len(piece)
                    out.write(piece)
            hex_digest = digest.hexdigest()
            new = not self.holds(hex_digest, size)
            if new:
                self.path(hex_digest).parent.mkdir(mode=0o700, exist_ok=True)
                draft.rename(self.path(hex_digest))
        finally:
            draft.unlink(missing_ok=True)
        return hex_digest, size, new

    def sweep(self, named: Collection[bytes]) -> int:
        """Removes the contents whose digests (32 bytes each) nobody names, and drafts; says how many contents."""
        removed = 0
        for path in self._contents():
            if path.name.startswith(_DRAFT) or bytes.fromhex(path.name) not in named:
                path.unlink()
                removed += not path.name.startswith(_DRAFT)
        return removed

    def _contents(self) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                if path.is_dir():
                    yield from (each for each in path.iterdir() if DIGEST.fullmatch(each.name))
                elif path.name.startswith(_DRAFT):
                    yield path
