"""Pictures of people: read, cropped and redrawn, so that nothing of the file that came is kept."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    from PIL import Image, ImageOps
else:
    Image, ImageOps = lazy("PIL.Image", seldom=True), lazy("PIL.ImageOps", seldom=True)  # in a thread

EDGE = 256  # pixels of a finished picture
MAX_PIXELS = 30_000_000  # a larger picture is refused by its header, before a pixel is unpacked
_TOO_MANY = _("The picture has more than %(maximum)s million pixels.", maximum=MAX_PIXELS // 1_000_000)
_NO_PICTURE = _("This picture cannot be read. Use a PNG, JPEG, GIF or WebP file.")
_SAVING: Mapping[str, dict[str, Any]] = {"PNG": {"optimize": True}, "WEBP": {"quality": 75}}
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")


@attrs.frozen
class Box:
    """What to cut out of a picture: the corners in its pixels, left, top, right, bottom."""

    x1: float
    y1: float
    x2: float
    y2: float

    def within(self, width: int, height: int) -> tuple[int, int, int, int]:
        """The box as far as it lies in the picture; the largest square in its middle where nothing is left."""
        left, right = sorted((_clamp(self.x1, width), _clamp(self.x2, width)))
        top, bottom = sorted((_clamp(self.y1, height), _clamp(self.y2, height)))
        return (left, top, right, bottom) if left < right and top < bottom else middle(width, height)


def middle(width: int, height: int) -> tuple[int, int, int, int]:
    """The largest square in the middle of a picture."""
    edge = min(width, height)
    left, top = (width - edge) // 2, (height - edge) // 2
    return left, top, left + edge, top + edge


def redrawn(
    content: bytes, box: Box | None, size: tuple[int, int] = (EDGE, EDGE), form: str = "PNG", *, whole: bool = False
) -> bytes:
    """A picture of that size and format without anything but pixels. Raises InvalidValueError.

    ``whole``: nothing is cut off, and no side is longer than that of the size.
    """
    _require_small_webp(content)
    try:
        with Image.open(BytesIO(content), formats=_FORMATS) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise InvalidValueError(_TOO_MANY)
            upright = ImageOps.exif_transpose(picture)
            return _shrunk(upright, size, form) if whole else _drawn(upright, box, size, form)
    except Image.DecompressionBombError:
        raise InvalidValueError(_TOO_MANY) from None
    except (OSError, SyntaxError, ValueError, ArithmeticError, LookupError, EOFError):
        raise InvalidValueError(_NO_PICTURE) from None


def _require_small_webp(content: bytes) -> None:
    """Refuses a large WebP before it is opened: for this format the decoder takes memory for all pixels at once."""
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return
    match content[12:16]:
        case b"VP8X":
            width, height = (1 + int.from_bytes(content[at : at + 3], "little") for at in (24, 27))
        case b"VP8L":
            bits = int.from_bytes(content[21:25], "little")
            width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case _:
            width, height = (int.from_bytes(content[at : at + 2], "little") & 0x3FFF for at in (26, 28))
    if width * height > MAX_PIXELS:
        raise InvalidValueError(_TOO_MANY)


def _drawn(picture: Image.Image, box: Box | None, size: tuple[int, int], form: str) -> bytes:
    cut = picture.crop(box.within(*picture.size)) if box else picture
    return _saved(ImageOps.fit(cut.convert("RGBA"), size, Image.Resampling.LANCZOS), form)


def _shrunk(picture: Image.Image, size: tuple[int, int], form: str) -> bytes:
    small = picture.convert("RGBA")
    small.thumbnail(size, Image.Resampling.LANCZOS)
    return _saved(small, form)


def _saved(small: Image.Image, form: str) -> bytes:
    small.info = {}
    out = BytesIO()
    small.save(out, form, **_SAVING[form])
    return out.getvalue()


def _clamp(value: float, maximum: int) -> int:
    return round(min(max(value, 0), maximum))
