"""Files that hold tables and are no text: told by their bytes and by the names in their archive. Waits for the disk."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from crowdd.errors import InvalidValueError, TooLargeError
from crowdd.languages import _

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
