"""When a picture was taken and what it shows, as its EXIF or IPTC say. ``picture_texts.py`` cleans both."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from PIL import ExifTags, ImageFile, IptcImagePlugin

MAX_CHARACTERS: Final = 10_000
_DATES: Final = (  # with the tag of its offset from UTC
    (ExifTags.Base.DateTimeOriginal, ExifTags.Base.OffsetTimeOriginal),
    (ExifTags.Base.DateTimeDigitized, ExifTags.Base.OffsetTimeDigitized),
)
_CAPTION: Final = (2, 120)  # of IPTC
_ODD = (OSError, SyntaxError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError)


def description_of(picture: ImageFile.ImageFile) -> dict[str, str]:
    """``date`` (with its offset behind it, if there is one) and ``description``; empty where there is none."""
    date = description = ""
    with contextlib.suppress(*_ODD):
        exif = picture.getexif()
        date = _date(exif.get_ifd(ExifTags.IFD.Exif)) or _text(exif.get(ExifTags.Base.DateTime))
        description = _text(exif.get(ExifTags.Base.ImageDescription))
    if not description:
        with contextlib.suppress(*_ODD):
            description = _text((IptcImagePlugin.getiptcinfo(picture) or {}).get(_CAPTION))
    return {"date": date, "description": description}


def _date(exif: Mapping[int, Any]) -> str:
    for date, offset in _DATES:
        if timestamp := _text(exif.get(date)):
            return timestamp + _text(exif.get(offset))
    return ""


def _text(value: Any) -> str:
    """Pillow reads bytes as Latin-1, and most programs write UTF-8."""
    if isinstance(value, str):
        value = value.encode("latin-1", "replace")
    if not isinstance(value, bytes):
        return ""
    value = value[: 4 * MAX_CHARACTERS].strip(b"\0 ")
    try:
        return value.decode("utf-8")[:MAX_CHARACTERS]
    except UnicodeDecodeError:
        return value.decode("latin-1")[:MAX_CHARACTERS]
