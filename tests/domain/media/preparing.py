"""Preparing files in tests, as the server does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from crowdd.features.media import preparation
from crowdd.features.media.preparation import Helper
from crowdd.features.media.prepared import Choices, Prepared, PreparedFile, Unpacked
from crowdd.kernel.config.data import MediaSettings
from crowdd.kernel.errors import InvalidValueError


@attrs.frozen
class Prepare:
    """Prepares files in folders of a test."""

    folder: Path
    helper: Helper

    def __call__(self, content: bytes, *, original: bool = False, location: bool = False, **settings: Any) -> Prepared:
        source, target = self._places(content)
        return preparation.prepare(source, target, Choices(original, location), MediaSettings(**settings), self.helper)

    def unpack(self, content: bytes, max_files: int = 100, max_bytes: int = 10_000_000) -> Unpacked:
        source, target = self._places(content)
        return preparation.unpack(source, target, max_files, max_bytes, self.helper)

    def why(self, content: bytes, **settings: Any) -> str:
        """Why a file is refused; it has left nothing that could be served."""
        try:
            made = self(content, **settings)
        except InvalidValueError as refused:
            return str(refused)
        return f"not refused: {made}"

    def why_not_unpacked(self, content: bytes, **limits: int) -> str:
        try:
            made = self.unpack(content, **limits)
        except InvalidValueError as refused:
            return str(refused)
        return f"not refused: {made}"

    def _places(self, content: bytes) -> tuple[Path, Path]:
        number = len([*self.folder.iterdir()])
        source, target = self.folder / f"{number}.source", self.folder / f"{number}.made"
        source.write_bytes(content)
        target.mkdir()
        return source, target


def by_role(made: Prepared) -> dict[str, PreparedFile]:
    """The files of a picture, sound or video."""
    assert len({each.role for each in made.files}) == len(made.files)
    return {each.role: each for each in made.files}
