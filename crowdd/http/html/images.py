"""QR codes, and placeholder pictures for projects that have none.

A placeholder has rings in the colours of a blueprint, and is always the same for a name.
"""

from __future__ import annotations

import hashlib
import io
import random
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypedDict

from markupsafe import Markup

from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import segno
else:
    segno = lazy("segno", extra="posters")


class QrCode(TypedDict):
    """A QR code as an SVG path; ``size`` is the side of its square."""

    size: int
    path: str


def shown_code(text: str) -> QrCode | None:
    """The QR code of a text that the page also says: None where no library draws it."""
    return qr_code(text) if find_spec("segno") else None


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


WIDTH: Final = 480
HEIGHT: Final = 320
# Ground and line.
_INKS: Final = (("#0b3f63", "#dbe8f0"), ("#17536f", "#dcebe9"), ("#0f4a52", "#d6e7dd"), ("#d9e1e3", "#1c557c"))


@lru_cache(maxsize=2048)
def draw_placeholder(name: str) -> Markup:
    """The ``<svg>`` of a name: 480 by 320, cropped by its box like a photograph, silent for screen readers.

    It has numbers and colours of this module only, nothing of the name itself.
    """
    chance = random.Random(hashlib.sha256(name.encode()).digest())  # noqa: S311 - not a secret
    (ground, line), x, y = chance.choice(_INKS), chance.randint(40, WIDTH - 40), chance.randint(40, HEIGHT - 40)
    rings = "".join(f'<circle cx="{x}" cy="{y}" r="{r + chance.randint(0, 12)}"/>' for r in range(8, 560, 16))
    return Markup(  # noqa: S704 - see above
        f'<svg class="print" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="xMidYMid slice" aria-hidden="true">'
        f'<path fill="{ground}" d="M0 0h{WIDTH}v{HEIGHT}H0z"/>'
        f'<g stroke="{line}" stroke-width="1.6" opacity=".85" fill="none">{rings}</g></svg>'
    )
