"""Names of files as their owners' computers have them, made fit to be stored and shown."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath
from typing import Final

MAX_NAME, MAX_PATH = 200, 500  # characters
NAMELESS: Final = "file"
_DIRECTIONS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"  # they show a name as another one
_INVISIBLE = re.compile(f"[{_DIRECTIONS}]")
_SYSTEM_FILES: Final = frozenset({"thumbs.db", "desktop.ini", "ehthumbs.db"})
_SYSTEM_FOLDERS: Final = frozenset({"__macosx", "$recycle.bin", "@eadir"})


def clean_path(text: str) -> str:
    """A path with ``/`` between its folders, relative and without ``..``, control characters and marks of direction.

    Its end is kept where it is too long: there is the name of the file.
    """
    parts = [_clean_part(part) for part in unicodedata.normalize("NFC", text).replace("\\", "/").split("/")]
    segments = [part for part in parts if part not in ("", ".", "..")] or [NAMELESS]
    while len(segments) > 1 and sum(map(len, segments)) + len(segments) - 1 > MAX_PATH:
        del segments[0]
    return "/".join(segments)


def _clean_part(part: str) -> str:
    shown = "".join(c for c in _INVISIBLE.sub("", part) if c.isprintable()).strip()
    if len(shown) <= MAX_NAME:
        return shown
    suffix = PurePosixPath(shown).suffix[:20]
    return shown[: MAX_NAME - len(suffix)] + suffix


def is_system_file(path: str) -> bool:
    """Whether a file belongs to the system and not to its owner: hidden files, previews, what a Mac adds to a ZIP."""
    *folders, name = path.split("/")
    hidden = any(part.startswith(".") for part in (*folders, name))
    return hidden or name.lower() in _SYSTEM_FILES or any(folder.lower() in _SYSTEM_FOLDERS for folder in folders)
