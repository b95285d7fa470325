"""Draws a poster: A4, upright, with margins that every printer keeps.

Lengths are in millimetres, sizes of type in points.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import segno

from crowdd.domain.projects.posters.fonts import BOLD, REGULAR
from crowdd.domain.projects.posters.poster import Poster, reads_right_to_left
from crowdd.lazy import lazy

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
class _Block:
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
    page = _page(poster, more_fonts)
    bottom = HEIGHT - MARGIN - _CODE
    top = _picture(page, poster.picture) if poster.picture else MARGIN + 12
    free = bottom - 14 - top
    top = _text(page, _Block(poster.name, "B", _BLUE, 46, 13, _INNER, free * 0.6), MARGIN, top) + 5
    _text(page, _Block(poster.sentence, "", _INK, 24, 9, _INNER, bottom - 10 - top), MARGIN, top)
    _foot(page, poster, bottom)
    return bytes(page.output())


def _page(poster: Poster, more_fonts: Iterable[Path]) -> fpdf.FPDF:
    page = fpdf.FPDF(format="A4")
    page.set_auto_page_break(False)
    page.set_title(poster.name)
    page.set_author(poster.site)
    page.add_font("poster", "", REGULAR)
    page.add_font("poster", "B", BOLD)
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
    _code(page, poster.address, code, top)
    y = _text(page, _Block(poster.call, "B", _INK, 20, 9, width, 24), beside, top + 2, mirrored) + 4
    y = _text(page, _Block(poster.link, "", _BLUE, 15, 6, width, 20), beside, y, mirrored)
    page.link(beside, top, width, y - top, poster.address)
    _text(page, _Block(poster.site, "", _SOFT, 12, 7, width, 10), beside, top + _CODE - 10, mirrored)


def _code(page: fpdf.FPDF, address: str, x: float, y: float) -> None:
    """The QR code of an address, drawn as squares, with the quiet zone around it."""
    rows = [list(row) for row in segno.make(address, error="m", micro=False).matrix_iter(border=2)]
    side = _CODE / len(rows)
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


def _text(page: fpdf.FPDF, block: _Block, x: float, y: float, right: bool | None = None) -> float:
    """Sets a text as large as it fits; returns where it ends. ``right``: at which side, by its script where None."""
    if not block.text:
        return y
    size, text = _fitted(page, block)
    _style(page, block, size)
    align = "R" if (reads_right_to_left(text) if right is None else right) else "L"
    page.set_xy(x, y)
    page.multi_cell(block.width, _line(size), text, align=align, new_x="LMARGIN", new_y="NEXT")
    return float(page.get_y())


def _style(page: fpdf.FPDF, block: _Block, size: float) -> None:
    page.set_font("poster", block.style, size)
    page.set_text_color(*block.colour)


def _line(size: float) -> float:
    return size * _MM_PER_POINT * _LEADING


def _fitted(page: fpdf.FPDF, block: _Block) -> tuple[float, str]:
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


def _fits(page: fpdf.FPDF, block: _Block, size: float, text: str) -> bool:
    _style(page, block, size)
    lines: Any = page.multi_cell(block.width, _line(size), text, align="L", dry_run=True, output="LINES")
    return len(lines) * _line(size) <= block.height
