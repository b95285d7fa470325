"""ZIP archives: their files, under names of our own, with limits on what they state and on what they are."""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

from crowdd.features.media.file_parts import OutFolder
from crowdd.features.media.prepared import RefusedFile, damaged

MAX_ENTRIES = 50_000  # of the directory, with folders and rubbish
_MAX_NAME = 500
_MAX_RATIO, _RATIO_FROM = 200, 1_000_000  # a file of more than a million bytes may be so many times its packed size
_RUBBISH = re.compile(
    r"(?:^|/)(?:__MACOSX/|\._|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\.Spotlight-|\.Trashes|\.fseventsd)", re.I
)
_WRONG_NAME = re.compile(r"^/|^[A-Za-z]:|(?:^|/)\.\.(?:/|$)|[\x00-\x1f\x7f\\]|[\ud800-\udfff]")
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"Rar!", b"7z\xbc\xaf", b"\x1f\x8b", b"BZh", b"\xfd7zX")
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_PIECE = 1 << 18
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    LookupError,
)


class _RefusedMember(TypedDict):
    name: str
    word: str


def unpack(source: Path, out: OutFolder, options: Mapping[str, object]) -> dict[str, Any]:
    """Writes the files of an archive. Raises RefusedFile for one that is refused as a whole."""
    try:
        with zipfile.ZipFile(source) as archive:
            return _unpack(archive, source.stat().st_size, out, options)
    except _BROKEN:
        raise damaged("ZIP") from None


def _unpack(archive: zipfile.ZipFile, size: int, out: OutFolder, options: Mapping[str, Any]) -> dict[str, Any]:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise RefusedFile("zip_files", count=len(entries), max=options["max_files"])
    _require_apart(entries, size)
    names = [_name(entry) for entry in entries]
    files = [(entry, name) for entry, name in zip(entries, names, strict=True) if not entry.is_dir()]
    wanted = [(entry, name) for entry, name in files if not _RUBBISH.search(name)]
    stated = sum(entry.file_size for entry, _name in wanted)
    if len(wanted) > options["max_files"]:
        raise RefusedFile("zip_files", count=len(wanted), max=options["max_files"])
    if stated > options["max_bytes"]:
        raise RefusedFile("zip_bytes", count=stated, max=options["max_bytes"])
    members, refused = [], []
    for entry, name in wanted:
        word = _why_refused(entry, name) or _write(archive, entry, out)
        if word:
            refused.append(_RefusedMember(name=_shown(name), word=word))
        else:
            members.append(name)
    return {"kind": "archive", "names": members, "refused": refused, "skipped": len(files) - len(wanted)}


def _require_apart(entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuses an archive in which packed data is used twice: small archives become huge that way."""
    end = 0
    for entry in sorted(entries, key=lambda each: each.header_offset):
        if entry.header_offset < end or entry.compress_size < 0:
            raise RefusedFile("zip_overlap")
        end = entry.header_offset + 30 + entry.compress_size
    if end > size:
        raise damaged("ZIP")


def _name(entry: zipfile.ZipInfo) -> str:
    """The path of a file. Archives of macOS have UTF-8 without saying so."""
    if entry.flag_bits & 0x800:
        return entry.orig_filename
    try:
        return entry.orig_filename.encode("cp437").decode()
    except UnicodeError:
        return entry.orig_filename


def _shown(name: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", "\ufffd", name)[:_MAX_NAME]


def _why_refused(entry: zipfile.ZipInfo, name: str) -> str:
    """Why a file is left out, by what the directory says of it; empty if nothing speaks against it."""
    mode = entry.external_attr >> 16
    if len(name) > _MAX_NAME or _WRONG_NAME.search(name):
        return "member_name"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "member_link"
    if entry.flag_bits & 0x1:
        return "member_password"
    if entry.compress_type not in _METHODS:
        return "member_damaged"
    if entry.file_size > _RATIO_FROM and entry.file_size > _MAX_RATIO * entry.compress_size:
        return "member_ratio"
    return ""


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, out: OutFolder) -> str:
    """Writes a file; or why it is left out, by its content."""
    try:
        with archive.open(entry) as member:
            beginning = member.read(4)
            if beginning.startswith(_ARCHIVES):
                return "member_nested"
            out.add("member", "", "", _pieces(beginning, member))
    except _BROKEN:
        return "member_damaged"
    return ""


def _pieces(beginning: bytes, member: Any) -> Iterator[bytes]:
    """The content; no more than the directory states, which zipfile sees to."""
    yield beginning
    while piece := member.read(_PIECE):
        yield piece
