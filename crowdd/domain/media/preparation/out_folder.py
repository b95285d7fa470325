"""The folder that the process for a file writes to: bounded, and every file with its size and digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

from crowdd.domain.media.preparation.refused import RefusedFile

_MILLION = 1_000_000


class MadeFile(TypedDict):
    """A file that was made, as ``prepared.PreparedFile`` has it; ``name`` is below the folder."""

    role: str
    name: str
    type: str
    suffix: str
    bytes: int
    sha256: str
    width: int
    height: int
    page: int


class OutFolder:
    """Writes files under names of its own, at most ``max_bytes`` together."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder, self._max_bytes, self._left = folder, max_bytes, max_bytes
        self.files: list[MadeFile] = []

    def add(self, role: str, type_: str, suffix: str, pieces: Iterable[bytes], **more: object) -> None:
        """A file of these bytes. ``more``: width, height and page. Raises RefusedFile beyond the limit."""
        name, digest, size = f"{len(self.files) + 1:05}{suffix}", hashlib.sha256(), 0
        with (self._folder / name).open("wb") as file:  # a file of this name is one that failed
            for piece in pieces:
                size, self._left = size + len(piece), self._left - len(piece)
                if self._left < 0:
                    raise RefusedFile("written", max=self._max_bytes // _MILLION)
                digest.update(piece)
                file.write(piece)
        made = MadeFile(
            role=role,
            name=name,
            type=type_,
            suffix=suffix,
            bytes=size,
            sha256=digest.hexdigest(),
            width=0,
            height=0,
            page=0,
        )
        made.update(more)  # type: ignore[typeddict-item]
        self.files.append(made)
