"""Where a picture was taken, as its EXIF says."""

from __future__ import annotations

from typing import Any

from PIL import ExifTags, Image

_GPS = ExifTags.IFD.GPSInfo


def place_of(picture: Image.Image) -> list[float] | None:
    """Latitude and longitude in degrees; None if the picture does not say them, or says nonsense."""
    gps = picture.getexif().get_ifd(_GPS)
    north, east = _degrees(gps.get(2)), _degrees(gps.get(4))
    if north is None or east is None or north > 90 or east > 180:
        return None
    return [-north if gps.get(1) == "S" else north, -east if gps.get(3) == "W" else east]


def exif_of_place(picture: Image.Image) -> bytes:
    """EXIF that has the place and nothing else; empty where the picture has none."""
    place = place_of(picture)
    if place is None:
        return b""
    source_gps = picture.getexif().get_ifd(_GPS)
    exif = Image.Exif()
    gps: dict[int, Any] = {
        1: "S" if place[0] < 0 else "N", 2: _parts(place[0]), 3: "W" if place[1] < 0 else "E", 4: _parts(place[1])
    }  # fmt: skip
    altitude = _number(source_gps.get(6))
    if altitude is not None:
        gps |= {5: b"\1" if source_gps.get(5) in (1, b"\1") else b"\0", 6: altitude}
    exif[_GPS] = gps
    return exif.tobytes()


def _degrees(value: object) -> float | None:
    parts = [_number(each) for each in value] if isinstance(value, tuple) and len(value) == 3 else [None]
    if None in parts:
        return None
    return round(sum(part / 60**at for at, part in enumerate(parts) if part is not None), 7)


def _parts(degrees: float) -> tuple[float, float, float]:
    minutes, seconds = divmod(abs(degrees) * 3600, 60)
    return float(minutes // 60), float(minutes % 60), round(seconds, 3)


def _number(value: Any) -> float | None:
    """A number that is one; EXIF can also say 0/0."""
    try:
        number = float(value)
    except (TypeError, ValueError, ArithmeticError):
        return None
    return number if 0 <= number < 1e6 else None
