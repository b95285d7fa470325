"""Draw a certificate on a page of A4, with the code of the link by which it can be checked, in a program of its own.

Lengths are in millimetres, sizes of type in points.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import orjson

from crowdd.features.projects import poster_program
from crowdd.features.projects.poster_drawing import (
    HEIGHT,
    MARGIN,
    WIDTH,
    Block,
    new_page,
    reads_right_to_left,
    set_code,
    set_text,
    shortened,
)

if TYPE_CHECKING:
    import fpdf

LIMITS: Final = poster_program.LIMITS
DESCRIPTION: Final = "CROWDD_CERTIFICATE"
"""The variable of the environment with the certificate, as JSON."""

_INNER = WIDTH - 2 * MARGIN
_CODE: Final = 34.0
_INK, _BLUE, _SOFT = (14, 33, 48), (11, 63, 99), (74, 89, 100)


def _all_shortened(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(shortened, texts))


@attrs.frozen
class CertificatePage:
    """The texts of a certificate, in one language. ``address`` is where it is checked, ``check`` says so.

    ``projects``: a line for each, below ``heading``. ``counts`` says how the time was counted.
    """

    site: str = attrs.field(converter=shortened)
    title: str = attrs.field(converter=shortened)
    name: str = attrs.field(converter=shortened)
    sentence: str = attrs.field(converter=shortened)
    heading: str = attrs.field(converter=shortened)
    projects: tuple[str, ...] = attrs.field(converter=_all_shortened)
    counts: str = attrs.field(converter=shortened)
    issued: str = attrs.field(converter=shortened)
    check: str = attrs.field(converter=shortened)
    address: str

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that fonts must have."""
        words = self.site, self.title, self.name, self.sentence, self.heading, self.counts, self.issued, self.check
        return *words, *self.projects, self.address

    def without(self, characters: frozenset[str]) -> CertificatePage:
        """The certificate without some characters."""

        def plain(value: str) -> str:
            return "".join(each for each in value if each not in characters)

        values: dict[str, Any] = {
            name: plain(value) for name, value in attrs.asdict(self).items() if name != "projects"
        }
        return CertificatePage(**values, projects=tuple(map(plain, self.projects)))


def draw(certificate: CertificatePage, more_fonts: Iterable[Path] = ()) -> bytes:
    """The PDF of a certificate. ``more_fonts`` are files of fonts for characters that ours do not have."""
    page = new_page(certificate.title, certificate.site, more_fonts)
    right = reads_right_to_left(certificate.title)
    foot = HEIGHT - MARGIN - _CODE
    y = set_text(page, Block(certificate.site, "", _SOFT, 14, 8, _INNER, 8), MARGIN, MARGIN + 6, right) + 22
    y = set_text(page, Block(certificate.title, "B", _BLUE, 30, 14, _INNER, 30), MARGIN, y, right) + 12
    y = set_text(page, Block(certificate.name, "B", _INK, 26, 11, _INNER, 24), MARGIN, y) + 6
    y = set_text(page, Block(certificate.sentence, "", _INK, 15, 9, _INNER, 36), MARGIN, y, right) + 12
    if certificate.projects:
        y = set_text(page, Block(certificate.heading, "B", _INK, 11, 8, _INNER, 7), MARGIN, y, right) + 2
        for line in certificate.projects:
            y = set_text(page, Block(line, "", _INK, 11, 6, _INNER, 6), MARGIN, y, right) + 0.6
    set_text(page, Block(certificate.counts, "", _SOFT, 9, 6, _INNER, 14), MARGIN, max(y + 6, foot - 26), right)
    _foot(page, certificate, foot, right)
    return bytes(page.output())


def _foot(page: fpdf.FPDF, certificate: CertificatePage, top: float, right: bool) -> None:
    """The code, and beside it when the certificate was issued and where it can be checked."""
    beside = MARGIN if right else MARGIN + _CODE + 6
    width = _INNER - _CODE - 6
    page.set_draw_color(*_BLUE)
    page.set_line_width(0.6)
    page.line(MARGIN, top - 4, WIDTH - MARGIN, top - 4)
    set_code(page, certificate.address, WIDTH - MARGIN - _CODE if right else MARGIN, top, _CODE)
    y = set_text(page, Block(certificate.issued, "B", _INK, 11, 7, width, 7), beside, top + 2, right) + 2
    y = set_text(page, Block(certificate.check, "", _INK, 10, 7, width, 10), beside, y, right) + 1
    end = set_text(page, Block(certificate.address, "", _BLUE, 9, 5, width, 10), beside, y, right)
    page.link(beside, y, width, end - y, certificate.address)


def make_pdf() -> bytes:
    """The PDF of the certificate, as ``draw_page`` of posters gives it."""
    return poster_program.draw_page(CertificatePage(**orjson.loads(os.environ[DESCRIPTION])), draw)
