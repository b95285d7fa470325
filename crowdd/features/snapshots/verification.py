"""Whether a snapshot is what its manifest says: one in the store, or a ZIP archive that somebody has."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
import orjson

from crowdd.features.media.store import MediaStore
from crowdd.features.snapshots import zip_stream
from crowdd.features.snapshots.canonical_json import dumps
from crowdd.features.snapshots.rows import SnapshotFile
from crowdd.features.snapshots.tables import MANIFEST
from crowdd.kernel.errors import InvalidValueError, NotFoundError
from crowdd.kernel.values import Values

MAX_MANIFEST: Final = 10_000_000  # bytes
_PIECE: Final = 1 << 20


@attrs.frozen
class Verified:
    """``faults`` are sentences, none where everything fits. ``files`` is how many were read."""

    hash: str
    files: int
    faults: tuple[str, ...]


@attrs.frozen
class Seen:
    """What a file really is."""

    bytes: int
    sha256: str


async def verify_stored(store: MediaStore, files: list[SnapshotFile], expected_hash: str) -> Verified:
    """A snapshot in the store, with this hash. Raises MediaStoreError."""
    seen, faults, manifest = {}, [], b""
    for file in files:
        digest, size = hashlib.sha256(), 0
        manifest_pieces = []
        try:
            async for piece in zip_stream.read_content(store, file):
                digest.update(piece)
                size += len(piece)
                if file["name"] == MANIFEST and size <= MAX_MANIFEST:
                    manifest_pieces.append(piece)
        except (ValueError, NotFoundError) as error:
            faults.append(str(error))
            continue
        seen[file["name"]] = Seen(size, digest.hexdigest())
        manifest = b"".join(manifest_pieces) or manifest
    return _compared(manifest, seen, faults, expected_hash)


async def manifest_of(store: MediaStore, files: list[SnapshotFile]) -> Values | None:
    """The manifest of a snapshot in the store; None where it is missing or damaged. Raises MediaStoreError."""
    file = next((each for each in files if each["name"] == MANIFEST), None)
    if file is None or file["bytes"] > MAX_MANIFEST:
        return None
    try:
        return _manifest(b"".join([piece async for piece in zip_stream.read_content(store, file)]))
    except (ValueError, NotFoundError, InvalidValueError):
        return None


def verify_archive(path: Path) -> Verified:
    """A ZIP archive. Raises InvalidValueError for what is no archive of a snapshot."""
    try:
        with zipfile.ZipFile(path) as opened:
            return _archive(opened)
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise InvalidValueError(f"{path} is not a ZIP archive that can be read: {error}") from None


def _archive(opened: zipfile.ZipFile) -> Verified:
    seen: dict[str, Seen] = {}
    faults: list[str] = []
    manifest = b""
    for member in opened.infolist():
        name = member.filename.rpartition("/")[2]
        if not name:
            continue
        if name in seen:
            faults.append(f"{name} is in the archive twice.")
        try:
            content = list(_pieces(opened, member)) if name == MANIFEST else []
            seen[name] = _seen(content or _pieces(opened, member))
            manifest = b"".join(content) or manifest
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            faults.append(f"{name} is damaged: {error}")
    return _compared(manifest, seen, faults, "")


def _pieces(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    size = 0
    with opened.open(member) as content:
        while piece := content.read(_PIECE):
            size += len(piece)
            if member.filename.endswith(MANIFEST) and size > MAX_MANIFEST:
                raise InvalidValueError(f"{MANIFEST} is too large.")
            yield piece


def _seen(pieces: Iterable[bytes]) -> Seen:
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return Seen(size, digest.hexdigest())


def _compared(manifest: bytes, seen: Mapping[str, Seen], faults: list[str], wanted: str) -> Verified:
    document = _manifest(manifest)
    content, beside = document["content"], document["beside"]
    for entry in (*content, *beside):
        seen_file = seen.get(entry["name"])
        if seen_file is None:
            if not any(fault.startswith(entry["name"]) for fault in faults):
                faults.append(f"{entry['name']} is missing.")
        elif (seen_file.bytes, seen_file.sha256) != (entry["bytes"], entry["sha256"]):
            faults.append(f"{entry['name']} was changed.")
    named = {entry["name"] for entry in (*content, *beside)} | {MANIFEST}
    faults += [f"{name} is not in the manifest." for name in sorted(seen.keys() - named)]
    if hash_of(document) != document["hash"] or (wanted and document["hash"] != wanted):
        faults.append(f"{MANIFEST} was changed: it has another hash than its files.")
    return Verified(wanted or document["hash"], len(seen), tuple(faults))


def _manifest(text: bytes) -> Values:
    """The manifest. Raises InvalidValueError for what is none."""
    try:
        document = orjson.loads(text)
        entries = (*document["content"], *document["beside"])
        right = isinstance(document["hash"], str) and all(
            isinstance(each["name"], str) and type(each["bytes"]) is int and isinstance(each["sha256"], str)
            for each in entries
        )
    except (ValueError, TypeError, LookupError):
        right = False
    if not right:
        raise InvalidValueError(f"{MANIFEST} is missing or damaged.")
    manifest: Values = document
    return manifest


def hash_of(manifest: Values) -> str:
    """The hash that the content of a manifest has (``program.content_hash``)."""
    files = sorted(manifest["content"], key=lambda each: each["name"])
    of = [{"name": each["name"], "bytes": each["bytes"], "sha256": each["sha256"]} for each in files]
    return hashlib.sha256(dumps({"format": manifest.get("format"), "files": of})).hexdigest()
