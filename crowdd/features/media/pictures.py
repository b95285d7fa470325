"""Decode pictures, turn, scale and encode them again, and read date, place and description from EXIF or IPTC.

Only pixels are left of a file. ``crowdd.features.media.prepared`` cleans the texts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from PIL import ExifTags, Image, ImageCms, ImageFile, ImageOps, IptcImagePlugin

from crowdd.core.uploads import DOWNLOAD
from crowdd.features.media.file_parts import OutFolder
from crowdd.features.media.prepared import RefusedFile, damaged
from crowdd.features.media.tiles import SUFFIX, Pyramid
from crowdd.kernel.lazy import lazy

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


pillow_heif = lazy("pillow_heif")

TYPES: Mapping[str, str] = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "GIF": "image/gif",
    "WebP": "image/webp",
    "TIFF": "image/tiff",
    "HEIC": "image/heic",
    "AVIF": "image/avif",
}
_OPENED_AS: Mapping[str, tuple[str, ...]] = {"JPEG": ("JPEG", "MPO"), "WebP": ("WEBP",), "HEIC": ("HEIF",)}
_LOSSLESS = frozenset({"PNG", "GIF", "TIFF"})
_MAX_COLOURS = 256  # of what is drawn or written: PNG keeps it sharp, and small unless it is a photograph in grey
_MAX_PNG = 1_000_000  # bytes
_MAX_SEE_THROUGH = 40_000_000  # pixels in tiles: WebP takes ten times as long as JPEG
_SAVING: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    # Progressive files are 5 % smaller and take twice the time.
    "JPEG": ("image/jpeg", ".jpg", {"quality": 85, "optimize": True}),
    "WEBP": ("image/webp", ".webp", {"quality": 85, "method": 4}),
    "PNG": ("image/png", ".png", {}),
}
_TILES: Mapping[str, tuple[str, dict[str, object]]] = {
    "jpg": ("JPEG", {"quality": 85}),
    "webp": ("WEBP", {"quality": 85, "method": 2}),
}
_FULL: Mapping[str, dict[str, Any]] = {
    "JPEG": {"quality": 95, "subsampling": 0},
    "WEBP": {"quality": 95, "method": 2},
    "PNG": {"compress_level": 4},
}
_DEEP = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})
_UPRIGHT_SWAPPED = frozenset({5, 6, 7, 8})
_ORIENTATION = 0x0112
# What Pillow raises for files that are damaged.
BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    ArithmeticError,
    LookupError,
    EOFError,
    TypeError,
    Image.DecompressionBombError,
)


def load_formats() -> None:
    """Loads the libraries of Pillow that most pictures need."""
    Image.preinit()


def prepare(source: Path, format_: str, out: OutFolder, options: Mapping[str, object]) -> dict[str, Any]:
    """Makes web, thumbnail and perhaps tiles and original, or the pages of a TIFF. Raises RefusedFile."""
    Image.MAX_IMAGE_PIXELS = None  # what is allowed, we say
    if format_ == "HEIC":
        _register_heif()
    try:
        if format_ == "WebP":
            _require_pixels(*_webp_size(source), options)
        with Image.open(source, formats=_OPENED_AS.get(format_, (format_,))) as picture:
            return _prepare(picture, format_, out, options)
    except BROKEN:
        raise damaged(format_) from None


def _prepare(picture: ImageFile.ImageFile, format_: str, out: OutFolder, options: Mapping[str, Any]) -> dict[str, Any]:
    frames = int(getattr(picture, "n_frames", 1)) if format_ in ("GIF", "WebP", "TIFF", "PNG") else 1
    about = {"kind": "picture", "type": TYPES[format_], "frames": frames}
    if format_ == "TIFF" and frames > 1:
        return about | _pages(picture, frames, out, options)
    _require_pixels(*picture.size, options)
    place = place_of(picture) if options["location"] else None
    about |= description_of(picture)
    whole = picture.size
    tiled = _wants_tiles(picture.size, options)
    if format_ == "JPEG" and not options["original"] and not tiled:
        picture.draft("RGB", _within(picture.size, options["web_pixels"]))  # decodes fewer pixels of a large picture
    picture.load()
    size = whole if format_ == "JPEG" else picture.size  # Pillow itself turns the pictures of a TIFF
    if picture.getexif().get(_ORIENTATION) in _UPRIGHT_SWAPPED:
        size = size[::-1]
    if options["original"]:
        _add_original(picture, format_, out, exif_of_place(picture) if options["location"] else b"")
    upright = _with_tiles(picture, out) if tiled else picture
    web = web_picture(upright, options["web_pixels"])
    add_picture(out, "web", web, lossless=format_ in _LOSSLESS, webp=format_ == "WebP")
    add_thumbnail(out, web, options)
    return about | {"width": size[0], "height": size[1], "place": place}


def _within(size: tuple[int, int], longest: int) -> tuple[int, int]:
    """The size of a picture that is scaled down, rounded down."""
    width, height = (max(1, side * longest // max(size)) for side in size)
    return width, height


def _pages(picture: Image.Image, frames: int, out: OutFolder, options: Mapping[str, Any]) -> dict[str, Any]:
    """Each picture of a TIFF as a page."""
    if frames > options["max_pages"]:
        raise RefusedFile("pages", count=frames, max=options["max_pages"])
    for number in range(frames):
        picture.seek(number)
        _require_pixels(*picture.size, options)
        picture.load()
        web = web_picture(picture.copy(), options["web_pixels"])
        add_picture(out, "page", web, page=number + 1)
        add_thumbnail(out, web, options, page=number + 1)
    return {"kind": "document", "pages": frames, "frames": 1}


def web_picture(picture: Image.Image, longest: int) -> Image.Image:
    """Upright, in sRGB and 8 bits, no side longer than that; ``picture`` may be changed."""
    picture = _in_channels(picture)
    if max(picture.size) > longest:
        picture.thumbnail((longest, longest), Image.Resampling.LANCZOS, reducing_gap=3.0)
    return _shown(picture)


def _in_channels(picture: Image.Image) -> Image.Image:
    if picture.mode not in ("P", "PA", "1"):
        return picture
    see_through = "transparency" in picture.info or picture.mode == "PA"
    return picture.convert("L" if picture.mode == "1" else "RGBA" if see_through else "RGB")


def _shown(picture: Image.Image) -> Image.Image:
    """Upright, in sRGB and 8 bits."""
    upright = ImageOps.exif_transpose(picture)
    shown = _in_srgb(_in_8_bits(upright))
    shown.info = {}
    return shown


def _wants_tiles(size: tuple[int, int], options: Mapping[str, int]) -> bool:
    """Whether volunteers would miss something in the picture for the web."""
    pixels = size[0] * size[1]
    large = options["tile_pixels"] > 0 and (bool(options["tiles"]) or pixels > options["tile_pixels"])
    return large and max(size) > options["web_pixels"] and Pyramid(*size, "jpg").fits()


def _with_tiles(picture: Image.Image, out: OutFolder) -> Image.Image:
    """Makes tiles of the picture; the picture as it is shown. Where memory or time is short, there are no tiles."""
    try:
        whole = _shown(_in_channels(picture))
        form = "webp" if whole.mode in ("LA", "RGBA") else "jpg"
        if form == "webp" and whole.width * whole.height > _MAX_SEE_THROUGH:
            return whole
        pyramid = Pyramid(*whole.size, form)
        out.add("tiles", DOWNLOAD, SUFFIX, _tile_pieces(whole, pyramid), width=whole.width, height=whole.height)
    except MemoryError:
        return picture
    return whole


def _tile_pieces(whole: Image.Image, pyramid: Pyramid) -> Iterator[bytes]:
    sizes = []
    for level, tiles in groupby(pyramid.tiles(), itemgetter(0)):
        if whole.size != pyramid.size(level):
            whole = whole.reduce(2)
        for tile in tiles:
            content = _encoded(whole.crop(pyramid.box(tile)), *_TILES[pyramid.form])
            sizes.append(len(content))
            yield content
    yield pyramid.end(sizes)


def add_picture(
    out: OutFolder, role: str, shown: Image.Image, *, lossless: bool = True, webp: bool = False, page: int = 0
) -> None:
    """Encodes a picture as JPEG, PNG or WebP, whichever fits."""
    see_through = shown.mode in ("LA", "RGBA") and shown.getchannel("A").histogram()[255] < shown.width * shown.height
    if shown.mode in ("LA", "RGBA") and not see_through:
        shown = shown.convert(shown.mode[:-1])
    few = lossless and shown.getcolors(_MAX_COLOURS) is not None
    content, form = _encoded(shown, "PNG", {}) if few else b"", "PNG"
    if not few or len(content) > _MAX_PNG:
        form = "WEBP" if see_through or webp else "JPEG"
        content = _encoded(shown, form, _SAVING[form][2])
    type_, suffix, _saving = _SAVING[form]
    out.add(role, type_, suffix, [content], width=shown.width, height=shown.height, page=page)


def add_thumbnail(out: OutFolder, web: Image.Image, options: Mapping[str, Any], page: int = 0) -> None:
    """A small picture of what ``web_picture`` has given."""
    small = web.copy()
    small.thumbnail((options["thumbnail_pixels"],) * 2, Image.Resampling.LANCZOS)
    add_picture(out, "thumbnail", small, lossless=False, page=page)


def _add_original(picture: Image.Image, format_: str, out: OutFolder, exif: bytes) -> None:
    """The picture in its full size. Pictures with more than 8 bits keep them."""
    upright = ImageOps.exif_transpose(picture)
    whole = upright if upright.mode in _DEEP - {"F"} else _in_srgb(_in_8_bits(upright))
    whole.info = {"transparency": whole.info["transparency"]} if "transparency" in whole.info else {}
    form = "PNG" if format_ in _LOSSLESS or whole.mode in _DEEP else "WEBP" if format_ == "WebP" else "JPEG"
    if form != "PNG" and whole.mode not in ("L", "RGB", "RGBA"):
        whole = whole.convert("RGBA" if whole.mode in ("LA", "PA") else "RGB")
    if form == "JPEG" and whole.mode == "RGBA":
        form = "WEBP"
    type_, suffix, _saving = _SAVING[form]
    content = _encoded(whole, form, _FULL[form] | ({"exif": exif} if exif else {}))
    out.add("original", type_, suffix, [content], width=whole.width, height=whole.height)


def _encoded(picture: Image.Image, form: str, saving: dict[str, object]) -> bytes:
    target = BytesIO()
    picture.save(target, form, **saving)
    return target.getvalue()


def _in_8_bits(picture: Image.Image) -> Image.Image:
    """Grey pictures with more bits are stretched from their darkest to their lightest point."""
    if picture.mode in _DEEP:
        wide = picture.convert("F")
        darkest, lightest = (float(each) for each in wide.getextrema())  # type: ignore[arg-type]
        scale = 255.0 / (lightest - darkest) if lightest > darkest else 0.0
        return wide.point(lambda value: value * scale + -darkest * scale).convert("L")
    return picture if picture.mode in ("L", "LA", "RGB", "RGBA", "CMYK", "P", "1") else picture.convert("RGB")


def _in_srgb(picture: Image.Image) -> Image.Image:
    """By the picture's own profile; a profile that is damaged is ignored."""
    profile = picture.info.get("icc_profile")
    if profile and picture.mode in ("RGB", "CMYK"):
        with contextlib.suppress(ImageCms.PyCMSError, OSError, ValueError, TypeError):
            srgb = ImageCms.createProfile("sRGB")
            converted = ImageCms.profileToProfile(picture, BytesIO(profile), srgb, outputMode="RGB")
            return picture if converted is None else converted
    return picture.convert("RGB") if picture.mode == "CMYK" else picture


def _require_pixels(width: int, height: int, options: Mapping[str, Any]) -> None:
    if width * height > options["max_pixels"]:
        raise RefusedFile("pixels", count=width * height, max=options["max_pixels"])


def _webp_size(source: Path) -> tuple[int, int]:
    """The size that a WebP states: its decoder takes memory for all pixels as soon as the file is opened."""
    with source.open("rb") as file:
        head = file.read(30)
    match head[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF


def _register_heif() -> None:
    try:
        pillow_heif.options.DECODE_THREADS = 1
    except ModuleNotFoundError:
        raise RefusedFile("heic") from None
    pillow_heif.register_heif_opener(thumbnails=False)
