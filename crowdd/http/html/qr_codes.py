"""QR codes as drawings."""

from __future__ import annotations

import io
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


def qr_svg(text: str) -> bytes:
    """The same as an SVG file of its own, black on white."""
    code = qr_code(text)
    size, path = code["size"], code["path"]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="{8 * size}" height="{8 * size}"'
        f' shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{size}v{size}H0z"/><path d="{path}"/></svg>'
    ).encode()


def qr_png(text: str) -> bytes:
    """The same as a PNG file with sixteen pixels for each module, enough for print."""
    file = io.BytesIO()
    segno.make(text, error="m", micro=False).save(file, kind="png", scale=16, border=4)
    return file.getvalue()
