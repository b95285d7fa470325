"""Fonts that have the characters of a poster: ours, and for other scripts those that are installed on the machine."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from crowdd import PACKAGE
from crowdd.lazy import lazy

if TYPE_CHECKING:
    from fontTools import ttLib
else:
    ttLib = lazy("fontTools.ttLib")  # noqa: N816

OURS: Final = PACKAGE / "domain/projects/posters/fonts"
REGULAR, BOLD = OURS / "DejaVuSans.ttf", OURS / "DejaVuSans-Bold.ttf"
FOLDERS: Final = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path("/var/lib/crowdd/fonts"))
MAX_FILES = 2000
"""So many files are looked at."""
_ENDINGS = frozenset({".ttf", ".otf", ".ttc"})
_LETTERS = frozenset("LMN")
# Parts of names of files: the plain style of a family, and families that have many scripts, come first.
_PREFERRED = ("regular", "sans", "cjk", "fallback")
_AVOIDED = ("italic", "oblique", "bold", "black", "light", "thin", "mono", "condensed", "serif", "emoji", "math")


@attrs.frozen
class Fonts:
    """``more`` are files beside ours that a text needs. ``missing`` are its letters that no font has, ``unprinted`` the
    other characters that none has, such as emoji.
    """

    more: tuple[Path, ...]
    missing: frozenset[str]
    unprinted: frozenset[str]


def fonts_for(texts: Iterable[str], folders: Iterable[Path] = FOLDERS) -> Fonts:
    """The fonts of some texts. Looks into ``folders`` only for characters that ours do not have."""
    wanted = {each for text in texts for each in text if not each.isspace()}
    wanted -= _characters(REGULAR) & _characters(BOLD)
    more: list[Path] = []
    for path in _installed(folders) if wanted else ():
        covered = wanted & _characters(path)
        if covered:
            more.append(path)
            wanted -= covered
        if not wanted:
            break
    missing = frozenset(each for each in wanted if unicodedata.category(each)[0] in _LETTERS)
    return Fonts(tuple(more), missing, frozenset(wanted - missing))


def _characters(path: Path) -> set[str]:
    """What a font can draw; nothing where it cannot be read."""
    try:
        with ttLib.TTFont(path, lazy=True, fontNumber=0) as font:
            return {chr(code) for code in font.getBestCmap() or () if "glyf" in font or "CFF " in font}
    except (ttLib.TTLibError, OSError, ValueError, AssertionError, KeyError):
        return set()


def _installed(folders: Iterable[Path]) -> list[Path]:
    """The files of installed fonts, those that suit a poster first."""
    return sorted(_files(folders), key=lambda path: (_unsuitable(path.stem.lower()), str(path)))


def _unsuitable(name: str) -> int:
    return 2 * sum(part in name for part in _AVOIDED) - sum(part in name for part in _PREFERRED)


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    n = 0
    for folder in folders:
        for place, below, names in os.walk(folder):
            below.sort()
            for name in sorted(names):
                if Path(name).suffix.lower() in _ENDINGS:
                    n += 1
                    if n > MAX_FILES:
                        return
                    yield Path(place, name)
