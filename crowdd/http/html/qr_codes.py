"""QR codes as drawings."""

from __future__ import annotations

from typing import TypedDict

import segno


class QrCode(TypedDict):
    """A QR code as an SVG path; ``size`` is the side of its square."""

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """The QR code of a text, with the quiet zone around it."""
    matrix = segno.make(text, error="m", micro=False).matrix_iter(border=4)
    rows = [list(row) for row in matrix]
    dark = (f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, module in enumerate(row) if module)
    return QrCode(size=len(rows), path="".join(dark))
