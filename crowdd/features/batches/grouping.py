"""Clean the names of uploaded files, and group files that belong to one task by these names.

The rule: files of one folder belong together if their names are the same up to a last part that follows a digit: a
letter (``IMG_12a``, ``IMG_12b``), or a word or a number below 100 after ``_``, ``-`` or a blank (``0012_front``,
``0012-2``). The ending does not count, so a picture and a sound of one name belong together, too. The pages of a PDF
belong together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final, TypeVar

T = TypeVar("T")


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


BY_FILE, BY_NAME = "file", "name"
GROUPINGS: Final = (BY_FILE, BY_NAME)
_PART: Final = re.compile(r"(.*\d)(?:([^\W\d_])|[_ -]([^\W\d_]{1,20}|\d{1,2}))")
_FIRST: Final = frozenset({"front", "recto", "vorne", "vorderseite", "anverso", "avant", "avers"})
_Order = tuple[bool, int, str]


def group_of(path: str) -> tuple[str, str]:
    """The name of the group that a file belongs to, with its folder, and which part of it the file is ("" for none)."""
    at = PurePosixPath(path)
    match = _PART.fullmatch(at.stem)
    name, part = (at.stem, "") if match is None else (match[1], match[2] or match[3])
    folder = "" if str(at.parent) == "." else f"{at.parent}/"
    return folder + name, part.lower()


def key_of(path: str) -> str:
    """The same for every file of a group: upper and lower case are one."""
    return group_of(path)[0].casefold()


def order_of(part: str) -> _Order:
    """Where a part comes in its group: the file without one first, then fronts, numbers, the rest by the alphabet."""
    return (bool(part) and part not in _FIRST, int(part) if part.isdecimal() else 0, part)


def by_name(path: str) -> list[str | int]:
    """Orders paths as people do: 9.jpg comes before 10.jpg, and upper and lower case are one."""
    return [int(part) if nth % 2 else part.casefold() for nth, part in enumerate(re.split(r"(\d+)", path))]


def in_order(files: Iterable[T], path: Callable[[T], str]) -> list[T]:
    """The files of a group as the task shows them."""
    return sorted(files, key=lambda each: (order_of(group_of(path(each))[1]), path(each)))


def group_paths(paths: Sequence[str]) -> dict[str, list[str]]:
    """The files of each group in their order, by the name of the group, in the order in which the groups come first."""
    groups: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for path in paths:
        name = names.setdefault(key_of(path), group_of(path)[0])
        groups.setdefault(name, []).append(path)
    return {name: in_order(files, str) for name, files in groups.items()}
