"""Draw a poster: its texts, the fonts that have its characters, and the page (A4, upright).

Margins are those that every printer keeps. Lengths are in millimetres, sizes of type in points. Fonts are ours, and for
other scripts those that are installed on the machine.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from crowdd import PACKAGE
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import segno
    from fontTools import ttLib
else:
    segno, ttLib = lazy("segno"), lazy("fontTools.ttLib")  # noqa: N816

OURS: Final = PACKAGE / "features/projects/poster_fonts"
REGULAR_FONT, BOLD_FONT = OURS / "DejaVuSans.ttf", OURS / "DejaVuSans-Bold.ttf"
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
    wanted -= _characters(REGULAR_FONT) & _characters(BOLD_FONT)
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


MAX_CHARACTERS = 400
"""Of one text: longer ones are cut, with an ellipsis."""
_UNPRINTABLE = frozenset({"Cc", "Cf", "Co", "Cs"})
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


def shortened(text: str) -> str:
    """The text on one line, without characters that print nothing or turn the direction of others."""
    plain = "".join(each for each in " ".join(text.split()) if unicodedata.category(each) not in _UNPRINTABLE)
    return plain if len(plain) <= MAX_CHARACTERS else plain[: MAX_CHARACTERS - 1].rstrip() + "…"


@attrs.frozen
class Poster:
    """The texts of a poster. ``address`` is what the code says, ``link`` the same for people; ``picture`` a file.

    ``call`` invites to the project, ``site`` is the name of the site.
    """

    name: str = attrs.field(converter=shortened)
    sentence: str = attrs.field(converter=shortened)
    call: str = attrs.field(converter=shortened)
    link: str = attrs.field(converter=shortened)
    site: str = attrs.field(converter=shortened)
    address: str
    picture: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that fonts must have."""
        return self.name, self.sentence, self.call, self.link, self.site

    def without(self, characters: frozenset[str]) -> Poster:
        """The poster without some characters."""
        plain: dict[str, Any] = {
            name: "".join(each for each in getattr(self, name) if each not in characters)
            for name in ("name", "sentence", "call", "link", "site")
        }
        return attrs.evolve(self, **plain)


def reads_right_to_left(text: str) -> bool:
    """Whether the first letter of a text with a direction is one of a script that runs to the left."""
    directions = (unicodedata.bidirectional(each) for each in text)
    return next((each in _RIGHT_TO_LEFT for each in directions if each in _RIGHT_TO_LEFT or each == "L"), False)


if TYPE_CHECKING:
    import fpdf
else:
    fpdf = lazy("fpdf")

WIDTH, HEIGHT, MARGIN = 210.0, 297.0, 18.0
_INNER = WIDTH - 2 * MARGIN
_CODE: Final = 62.0
_PICTURE_SHAPE: Final = 2 / 3  # height of a project's picture to its width
_INK, _BLUE, _SOFT = (14, 33, 48), (11, 63, 99), (74, 89, 100)
_LEADING = 1.28
_MM_PER_POINT = 25.4 / 72
_ELLIPSIS = "…"


@attrs.frozen
class Block:
    """A text with the space that it may take, and the sizes of type between which it is set."""

    text: str
    style: str
    colour: tuple[int, int, int]
    largest: float
    smallest: float
    width: float
    height: float


def draw(poster: Poster, more_fonts: Iterable[Path] = ()) -> bytes:
    """The PDF of a poster. ``more_fonts`` are files of fonts for characters that ours do not have."""
    page = new_page(poster.name, poster.site, more_fonts)
    bottom = HEIGHT - MARGIN - _CODE
    top = _picture(page, poster.picture) if poster.picture else MARGIN + 12
    free = bottom - 14 - top
    top = set_text(page, Block(poster.name, "B", _BLUE, 46, 13, _INNER, free * 0.6), MARGIN, top) + 5
    set_text(page, Block(poster.sentence, "", _INK, 24, 9, _INNER, bottom - 10 - top), MARGIN, top)
    _foot(page, poster, bottom)
    return bytes(page.output())


def new_page(title: str, site: str, more_fonts: Iterable[Path]) -> fpdf.FPDF:
    """An empty page with our fonts, and ``more_fonts`` for characters that they do not have."""
    page = fpdf.FPDF(format="A4")
    page.set_auto_page_break(False)
    page.set_title(title)
    page.set_author(site)
    page.add_font("poster", "", REGULAR_FONT)
    page.add_font("poster", "B", BOLD_FONT)
    names = []
    for number, path in enumerate(more_fonts):
        names.append(f"more{number}")
        page.add_font(names[-1], "", path)
    page.set_fallback_fonts(names, exact_match=False)
    page.set_text_shaping(True)
    page.add_page()
    return page


def _picture(page: fpdf.FPDF, path: str) -> float:
    """Draws the picture across the page; returns where the texts begin."""
    height = _INNER * _PICTURE_SHAPE
    page.image(path, MARGIN, MARGIN, _INNER, height, keep_aspect_ratio=True)
    return MARGIN + height + 10


def _foot(page: fpdf.FPDF, poster: Poster, top: float) -> None:
    """The code, and beside it the invitation, the link and the site; mirrored where the invitation runs to the left."""
    mirrored = reads_right_to_left(poster.call)
    code = WIDTH - MARGIN - _CODE if mirrored else MARGIN
    beside = MARGIN if mirrored else MARGIN + _CODE + 8
    width = _INNER - _CODE - 8
    page.set_draw_color(*_BLUE)
    page.set_line_width(0.6)
    page.line(MARGIN, top - 6, WIDTH - MARGIN, top - 6)
    set_code(page, poster.address, code, top, _CODE)
    y = set_text(page, Block(poster.call, "B", _INK, 20, 9, width, 24), beside, top + 2, mirrored) + 4
    y = set_text(page, Block(poster.link, "", _BLUE, 15, 6, width, 20), beside, y, mirrored)
    page.link(beside, top, width, y - top, poster.address)
    set_text(page, Block(poster.site, "", _SOFT, 12, 7, width, 10), beside, top + _CODE - 10, mirrored)


def set_code(page: fpdf.FPDF, address: str, x: float, y: float, width: float) -> None:
    """The QR code of an address, drawn as squares, with the quiet zone around it."""
    rows = [list(row) for row in segno.make(address, error="m", micro=False).matrix_iter(border=2)]
    side = width / len(rows)
    page.set_fill_color(0, 0, 0)
    for down, row in enumerate(rows):
        for from_, length in _runs(row):
            page.rect(x + from_ * side, y + down * side, length * side, side, style="F")


def _runs(row: list[int]) -> Iterable[tuple[int, int]]:
    """Where dark modules stand side by side: the first of them, and how many."""
    begin: int | None = None
    for place, module in enumerate([*row, 0]):
        if module and begin is None:
            begin = place
        elif not module and begin is not None:
            yield begin, place - begin
            begin = None


def set_text(page: fpdf.FPDF, block: Block, x: float, y: float, right: bool | None = None) -> float:
    """Sets a text as large as it fits; returns where it ends. ``right``: at which side, by its script where None."""
    if not block.text:
        return y
    size, text = _fitted(page, block)
    _style(page, block, size)
    align = "R" if (reads_right_to_left(text) if right is None else right) else "L"
    page.set_xy(x, y)
    page.multi_cell(block.width, _line(size), text, align=align, new_x="LMARGIN", new_y="NEXT")
    return float(page.get_y())


def _style(page: fpdf.FPDF, block: Block, size: float) -> None:
    page.set_font("poster", block.style, size)
    page.set_text_color(*block.colour)


def _line(size: float) -> float:
    return size * _MM_PER_POINT * _LEADING


def _fitted(page: fpdf.FPDF, block: Block) -> tuple[float, str]:
    """The size at which a text fits, and the text, cut where even the smallest size is too large."""
    size = block.largest
    while size > block.smallest:
        if _fits(page, block, size, block.text):
            return size, block.text
        size = max(block.smallest, size * 0.9)
    low, high = 0, len(block.text)
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _fits(page, block, size, _cut(block.text, middle)) else (low, middle - 1)
    return size, _cut(block.text, low)


def _cut(text: str, length: int) -> str:
    return text if length >= len(text) else text[:length].rstrip() + _ELLIPSIS


def _fits(page: fpdf.FPDF, block: Block, size: float, text: str) -> bool:
    _style(page, block, size)
    lines: Any = page.multi_cell(block.width, _line(size), text, align="L", dry_run=True, output="LINES")
    return len(lines) * _line(size) <= block.height
