"""Recognise files that are neither tables nor rows of JSON, and archives that hold tables, by their bytes and names.

A refusal says what the owner can do. Recognising an archive waits for the disk.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from crowdd.kernel.errors import InvalidValueError, TooLargeError
from crowdd.kernel.languages import _

_WORKBOOK = _(
    "The file is a workbook in a format that is not supported, or has a password. Save it as XLSX or ODS without a"
    " password."
)
_ARCHIVE = _("The file is an archive. Unpack it and import the table in it as CSV or JSON.")
_COMPRESSED = _("The file is compressed. Unpack it first.")
_PICTURE = _("The file is a picture. Import a CSV file with the addresses of the pictures, one in each row.")
_SOUND = _("The file is a recording. Import a CSV file with the addresses of the recordings, one in each row.")
_DOCUMENT = _("The file is a document. Import a table as CSV or JSON.")
_DATABASE = _("The file is a database or a data frame. Export its table as CSV or NDJSON and import that.")
_BINARY = _("The file is not text. Import a table as CSV or JSON.")
_HTML = _("The file is a web page, not a table. Download the table itself as CSV and import that.")
_SIGN_IN = _(
    "The address leads to a sign-in page, not to a table. Share the table with everybody who has the link, or download"
    " it as CSV and import the file."
)
_XML = _("The file is XML. Convert it to CSV or JSON, with one row for each task.")
_GEOJSON = _("The file has geometries without features. Save it as GeoJSON with a FeatureCollection.")
_REFERENCES = _("The file is a list of references (RIS, BibTeX or EndNote). Export it from its program as CSV.")
_CARDS = _("The file is an address book or a calendar. Export it from its program as CSV.")
_SQL = _("The file is a dump of a database. Export the table as CSV.")

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0", _WORKBOOK),
    (b"\x1f\x8b", _COMPRESSED), (b"BZh", _COMPRESSED), (b"\xfd7zXZ", _COMPRESSED), (b"\x28\xb5\x2f\xfd", _COMPRESSED),
    (b"7z\xbc\xaf", _ARCHIVE), (b"Rar!\x1a", _ARCHIVE), (b"PK\x05\x06", _ARCHIVE),
    (b"%PDF-", _DOCUMENT), (b"{\\rtf", _DOCUMENT), (b"%!PS", _DOCUMENT),
    (b"\x89PNG", _PICTURE), (b"\xff\xd8\xff", _PICTURE), (b"GIF87a", _PICTURE), (b"GIF89a", _PICTURE),
    (b"II*\x00", _PICTURE), (b"MM\x00*", _PICTURE), (b"\x00\x00\x00\x0cjP", _PICTURE), (b"8BPS", _PICTURE),
    (b"RIFF", _SOUND), (b"ID3", _SOUND), (b"OggS", _SOUND), (b"fLaC", _SOUND), (b"\x1aE\xdf\xa3", _SOUND),
    (b"SQLite format 3", _DATABASE), (b"PAR1", _DATABASE), (b"ARROW1", _DATABASE), (b"\x89HDF", _DATABASE),
    (b"FEA1", _DATABASE), (b"RDX", _DATABASE), (b"$FL2", _DATABASE), (b"\x7fELF", _BINARY), (b"MZ\x90", _BINARY),
)  # fmt: skip
_BINARY_ONLY = (
    b"RIFF",
    b"ID3",
    b"BZh",
    b"RDX",
    b"FEA1",
)  # of letters alone: they mean it only when what follows is no text
_BEGINNINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (r"(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype\s+html|html|head|body|title|script|meta|table|div)\b", _HTML),
        (r"<\?xml|<!doctype\b|<!--|<[a-z][\w:.-]*+(?:\s++[\w:.-]++\s*+=\s*+[\"'][^<>]*+|\s*+/?+)>", _XML),
        (r"(?:\s++(?<=\n))?+TY  - \S", _REFERENCES),
        (r"%0 [A-Z][\w ]++\r?\n%[A-Z] ", _REFERENCES),
        (r"(?:%[^\n]*+\n|\s)*+@(?:article|book|misc|in\w+|\w+thesis|comment|online|\w*report)\s*[{(]", _REFERENCES),
        (r"BEGIN:V(?:CARD|CALENDAR)\b", _CARDS),
        (r"-- (?:MySQL dump|PostgreSQL database dump|phpMyAdmin)|--\r?\n-- PostgreSQL database dump", _SQL),
        (r"(?:CREATE TABLE|INSERT INTO|PRAGMA foreign_keys)\b[^,;|\t]*[(;=]", _SQL),
    )
)  # fmt: skip
_SIGN_IN_SIGNS = re.compile(
    r"accounts\.google\.com|ServiceLogin|docs\.google\.com|login\.microsoftonline\.com|login\.live\.com|sharepoint\.com"
    r"|dropbox\.com/login|type=[\"']?password|sign[ -]?in|log[ -]?in",
    re.IGNORECASE,
)
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r\f\x1b"}) + b"\x7f"


def require_text(head: bytes) -> None:
    """Raises InvalidValueError, with what to do, for a file whose first bytes are those of another kind of file."""
    if head.startswith(b"PK\x03\x04"):
        sheet = any(sign in head for sign in (b"xl/", b"opendocument.spreadsheet", b"[Content_Types].xml"))
        raise InvalidValueError(_WORKBOOK if sheet else _ARCHIVE)
    for begin, words in _MAGIC:
        if head.startswith(begin) and not (begin in _BINARY_ONLY and is_text(head)):
            raise InvalidValueError(_PICTURE if head[8:12] == b"WEBP" else words)
    if head[4:8] == b"ftyp":
        raise InvalidValueError(_PICTURE if head[8:12] in (b"avif", b"heic", b"mif1") else _SOUND)
    if head[257:262] == b"ustar":
        raise InvalidValueError(_ARCHIVE)


def is_text(head: bytes) -> bool:
    """Whether bytes hold few control characters."""
    return (len(head) - len(head.translate(None, _CONTROLS))) * 50 <= len(head) + 50


def require_not_binary(text: str) -> None:
    """Raises InvalidValueError for what is no text in its encoding either."""
    if not is_text(text.encode("utf-8", "surrogatepass")):
        raise InvalidValueError(_BINARY)


def require_table(text: str) -> None:
    """Raises InvalidValueError, with what to do, for a text that begins like a page, XML, references, and so on."""
    begin = text.lstrip("\ufeff \t\r\n")
    for pattern, words in _BEGINNINGS:
        if pattern.match(begin):
            raise InvalidValueError(_SIGN_IN if words is _HTML and _SIGN_IN_SIGNS.search(text) else words)


_IIIF_ADDRESS = re.compile(r'"https?://(?:www\.)?(?:iiif\.io|shared-canvas\.org)/')
_AFTER_CONTEXT = re.compile(r"\s*+:\s*+(?:\[[^\]]*+)?")
_MAX_CONTEXT = 2_000  # characters between "@context" and its address of IIIF
_GEOJSON_SIGN = re.compile(r'"type"\s*:\s*"(?:GeometryCollection|Topology)"')
_LIST_OF_OBJECTS = re.compile(r'"((?:[^"\\]|\\.){1,60})"\s*:\s*\[\s*\{')


def is_iiif(text: str) -> bool:
    """Whether a JSON object that begins with this text is a document of IIIF."""
    if '"sc:Manifest"' in text or '"sc:Collection"' in text:
        return True
    return any(_is_context(text[max(0, m.start() - _MAX_CONTEXT) : m.start()]) for m in _IIIF_ADDRESS.finditer(text))


_FEATURES = re.compile(r'"type"\s*:\s*"Feature(?:Collection)?"')
_GPX = re.compile(r"\s*(?:<\?xml[^>]*>\s*|<!--(?:(?!-->).)*+-->\s*)*+<gpx[\s>]", re.DOTALL)


def is_geojson(text: str) -> bool:
    """Whether a JSON object that begins with this text has features of GeoJSON."""
    return _FEATURES.search(text) is not None


def is_gpx(text: str) -> bool:
    """Whether XML that begins with this text is GPX."""
    return _GPX.match(text) is not None


_COCO_LIST = re.compile(r'"(?:images|annotations|categories)"\s*:\s*\[')
_COCO_ENTRY = re.compile(r'"(?:file_name|image_id)"\s*:')


def is_coco(text: str) -> bool:
    """Whether a JSON object that begins with this text is a file of COCO."""
    return bool(_COCO_LIST.search(text) and _COCO_ENTRY.search(text))


def _is_context(before: str) -> bool:
    """Whether what stands after this text is the value of "@context", or an element of it."""
    _, key, between = before.rpartition('"@context"')
    return bool(key) and _AFTER_CONTEXT.fullmatch(between) is not None


def object_words(text: str) -> str:
    """What to do with a file that is one JSON object, which begins with this text."""
    if _GEOJSON_SIGN.search(text):
        return _GEOJSON
    if rows := _LIST_OF_OBJECTS.search(text):
        return _("The file is one JSON object. If its rows are in `%(name)s`, import that array alone.", name=rows[1])
    return _("The file is one JSON object. Import an array of objects, or one object in each line.")


XLSX, ODS, PARQUET, DARWIN_CORE, OBSERVATIONS = "xlsx", "ods", "parquet", "dwca", "observations"
ZIP = b"PK\x03\x04"
MAX_UNPACKED = 1_000_000_000  # bytes that all members of a workbook say they have
MAX_RATIO = 200  # of what the members say they have to the bytes of the file
_ODS = b"application/vnd.oasis.opendocument.spreadsheet"
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_PARQUET = b"PAR1"  # at both ends of a file
_MIN_PARQUET = 12  # bytes
_MAX_END = 65_557  # bytes at the end of an archive that have its end record
_MAX_DIRECTORY = 200_000  # bytes that list its members
_FREE = 10_000_000  # bytes to which any file may be unpacked
_TABLE = re.compile(
    r"^(?!__MACOSX/)(?:.*/)?(?:observations?|occurrences?|(?P<media>photos?|media|multimedia|sounds?|images?))(?:[-_]\d+)?\.(?:csv|tsv|txt)$",
    re.IGNORECASE,
)
# What zipfile raises for archives it cannot read: NotImplementedError for a compression method that it does not know,
# RuntimeError for a member with a password.
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error, ValueError)


def container_of(path: Path) -> str:
    """Which of these a file is: XLSX, ODS, PARQUET, DARWIN_CORE, OBSERVATIONS, or "" for none.

    Raises InvalidValueError for an archive that cannot be read, TooLargeError for a workbook that unpacks to too much.
    """
    with path.open("rb") as file:
        head = file.read(4)
        if head == _PARQUET and path.stat().st_size >= _MIN_PARQUET:
            file.seek(-4, 2)
            return PARQUET if file.read() == _PARQUET else ""
        if head != ZIP or not zipfile.is_zipfile(path):
            return ""
    try:
        require_small_directory(path)
        with zipfile.ZipFile(path) as archive:
            container = _workbook(archive)
            if container:
                _require_bounded(archive, path.stat().st_size)
            return container
    except BROKEN:
        raise InvalidValueError(_("The archive cannot be read. Unpack it, and import the file in it.")) from None


def require_small_directory(path: Path) -> None:
    """Raises zipfile.BadZipFile for a long list of members: it is read into memory, however many it has."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MAX_END))
        tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or _END_64 in tail or struct.unpack_from("<L", tail, at + 12)[0] > _MAX_DIRECTORY:
        raise zipfile.BadZipFile


def _workbook(archive: zipfile.ZipFile) -> str:
    names = frozenset(archive.namelist())
    if "xl/workbook.xml" in names:
        return XLSX
    if is_darwin_core(names):
        return DARWIN_CORE
    if {"mimetype", "content.xml"} <= names:
        with archive.open("mimetype") as file:
            return ODS if file.read(len(_ODS) + 1).strip() == _ODS else ""
    return OBSERVATIONS if observation_tables(names) else ""


def is_darwin_core(names: Iterable[str]) -> bool:
    """Whether an archive with these members is one of Darwin Core."""
    return "meta.xml" in names


def observation_tables(names: Iterable[str]) -> tuple[str, str] | None:
    """The tables of observations and of their media among the members of an archive; None: there are no two such."""
    tables = [match for name in sorted(names) if (match := _TABLE.search(name))]
    core, media = ([match.string for match in tables if bool(match["media"]) == wanted] for wanted in (False, True))
    return (core[0], media[0]) if len(core) == len(media) == 1 else None


def _require_bounded(archive: zipfile.ZipFile, size: int) -> None:
    unpacked = sum(member.file_size for member in archive.infolist())
    maximum = min(MAX_UNPACKED, max(_FREE, MAX_RATIO * size))
    if unpacked > maximum:
        words = _(
            "The file unpacks to %(bytes)s bytes. At most %(max)s are read. Save its table as CSV and import that.",
            bytes=f"{unpacked:,}",
            max=f"{maximum:,}",
        )
        raise TooLargeError(words)
