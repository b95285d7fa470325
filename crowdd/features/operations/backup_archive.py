"""The file of a backup, and the store of files that several backups share.

The file is a tar archive that is written as a stream and checked as a whole before it is used.
Its members, in this order: ``header.json`` (versions and rows), files of the data folder (``uploads/…``), the dump in
parts (``dump/00000001`` …), ``manifest.json`` (size and digest of all before it), and ``keys.json``: the keys and the
settings, encrypted by a passphrase and bound to the manifest, so that nobody without it can change anything unseen.

Archives that share their files have a list of them (``files/00000001`` …: NDJSON with ``name``, ``bytes``, ``sha256``,
``mtime_ns`` and ``ctime_ns``) instead of the files, which are in a ``FileStore`` beside them (format 2): each content
once, under its SHA-256.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import secrets as random
import tarfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import attrs
import orjson

from crowdd.core import passphrase as encryption
from crowdd.kernel.errors import CrowddError

DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_DRAFT: Final = "."  # names of files that are being written begin so


@attrs.frozen
class StoredFile:
    """A file of the data folder as a backup names it: ``name`` below that folder, and what tells whether it changed."""

    name: str
    size: int
    sha256: str
    mtime_ns: int
    ctime_ns: int

    def line(self) -> bytes:
        """Itself in the list of an archive. Names that are no UTF-8 come back as they were (surrogates)."""
        times = {"mtime_ns": self.mtime_ns, "ctime_ns": self.ctime_ns}
        return json.dumps({"name": self.name, "bytes": self.size, "sha256": self.sha256, **times}).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> StoredFile:
        """What ``line`` wrote. Raises ValueError, TypeError, KeyError."""
        row = json.loads(line)
        size, modified, changed = (int(row[name]) for name in ("bytes", "mtime_ns", "ctime_ns"))
        return cls(str(row["name"]), size, str(row["sha256"]), modified, changed)

    def look(self) -> bytes:
        """The same for files that look alike: of one name, size and times."""
        return fingerprint_file(self.name, self.size, self.mtime_ns, self.ctime_ns)


def fingerprint_file(name: str, size: int, mtime_ns: int, ctime_ns: int) -> bytes:
    """16 bytes for a name, a size and the times of the last change."""
    seen = f"{size} {mtime_ns} {ctime_ns} ".encode() + os.fsencode(name)
    return hashlib.blake2b(seen, digest_size=16).digest()


class FileStore:
    """A folder of files by their digests. One program at a time writes to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, digest: str) -> Path:
        """Where the content of this digest is."""
        return self._folder / digest[:2] / digest

    def holds(self, digest: str, size: int) -> bool:
        """Whether the content is here, by its size alone."""
        with contextlib.suppress(OSError):
            return self.path(digest).stat().st_size == size
        return False

    def is_sound(self, file: StoredFile) -> bool:
        """Whether the content is here, and as it was."""
        try:
            with self.path(file.sha256).open("rb") as content:
                return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256
        except FileNotFoundError:
            return False

    def add(self, content: IO[bytes]) -> tuple[str, int, bool]:
        """Keeps a content: its digest and size, and whether it is new here. It is on the disk after ``os.sync``."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._folder / f"{_DRAFT}{random.token_hex(8)}"
        digest, size = hashlib.sha256(), 0
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
                while piece := content.read(_PIECE):
                    digest.update(piece)
                    size += len(piece)
                    out.write(piece)
            hex_digest = digest.hexdigest()
            new = not self.holds(hex_digest, size)
            if new:
                self.path(hex_digest).parent.mkdir(mode=0o700, exist_ok=True)
                draft.rename(self.path(hex_digest))
        finally:
            draft.unlink(missing_ok=True)
        return hex_digest, size, new

    def sweep(self, named: Collection[bytes]) -> int:
        """Removes the contents whose digests (32 bytes each) nobody names, and drafts; says how many contents."""
        removed = 0
        for path in self._contents():
            if path.name.startswith(_DRAFT) or bytes.fromhex(path.name) not in named:
                path.unlink()
                removed += not path.name.startswith(_DRAFT)
        return removed

    def _contents(self) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                if path.is_dir():
                    yield from (each for each in path.iterdir() if DIGEST.fullmatch(each.name))
                elif path.name.startswith(_DRAFT):
                    yield path


FORMAT = 2
_WITHOUT_STORE = 1  # what an archive with its files has
_TEXTS = ("header.json", "manifest.json", "keys.json")
FOLDERS = ("uploads", "imports", "exports")  # of the data folder: files that rows name
PART_BYTES = 8 << 20
_PIECE = 1 << 20
_MAX_JSON = 4 << 20
_FILE = re.compile(rf"(?:{'|'.join(FOLDERS)})(?:/[^/\0]+){{1,3}}")
_DUMP = re.compile(r"dump/[0-9]{8}")
_LIST = re.compile(r"files/[0-9]{8}")
Report = Callable[[str, int], None]


class ArchiveError(CrowddError):
    """The file is no backup, is damaged or cut off, or is of a newer crowdd."""

    code = "archive"


class Writer:
    """Writes an archive to a file; each method once, in the order in which they stand here."""

    def __init__(self, out: IO[bytes], report: Report, *, shared: bool = False) -> None:
        """``shared``: ``listed`` comes in the place of ``files``."""
        self._out = _Hashed(out)
        self._format = FORMAT if shared else _WITHOUT_STORE
        out_: Any = self._out  # tarfile writes to it and asks for its place, no more
        self._tar = tarfile.open(fileobj=out_, mode="w:", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._report = report
        self.counts = {"files": 0, "file_bytes": 0, "dump_bytes": 0}

    def header(self, header: Mapping[str, object]) -> None:
        """Versions and rows."""
        _add(self._tar, "header.json", orjson.dumps({**header, "format": self._format}))

    def files(self, folder: Path) -> int:
        """The files of the data folder that belong to the database; those that are gone meanwhile are counted."""
        gone = 0
        for path in found_files(folder):
            try:
                with open(path, "rb", opener=no_links) as file:
                    self._file(str(path.relative_to(folder)), file)
            except FileNotFoundError:
                gone += 1
        return gone

    def _file(self, name: str, file: IO[bytes]) -> None:
        status = os.fstat(file.fileno())
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = status.st_size, 0o600, int(status.st_mtime)
        try:
            self._tar.addfile(info, file)
        except OSError as error:
            if error.errno is None:  # tarfile's way to say so
                raise ArchiveError(f"{name} became shorter while it was read. Start the backup again.") from None
            raise
        self.counts["files"] += 1
        self.counts["file_bytes"] += info.size
        self._report("files", self.counts["files"])

    def listed(self, files: Iterable[StoredFile]) -> None:
        """The list of files that are in a store."""
        for number, part in enumerate(_parts(self._lines(files)), 1):
            _add(self._tar, f"files/{number:08}", part)

    def _lines(self, files: Iterable[StoredFile]) -> Iterator[bytes]:
        for file in files:
            self.counts["files"] += 1
            self.counts["file_bytes"] += file.size
            self._report("files", self.counts["files"])
            yield file.line()

    def dump(self, pieces: Iterable[bytes]) -> None:
        """The database."""
        for number, part in enumerate(_parts(pieces), 1):
            _add(self._tar, f"dump/{number:08}", part)
            self.counts["dump_bytes"] += len(part)
            self._report("bytes of the database", self.counts["dump_bytes"])

    def end(self, passphrase: str, secret: Mapping[str, object]) -> None:
        """The manifest, and what is encrypted."""
        written = {"bytes": self._out.written, "sha256": self._out.digest.hexdigest()}
        manifest = orjson.dumps({"format": self._format, **written, **self.counts}, option=orjson.OPT_SORT_KEYS)
        keys = orjson.dumps(encryption.encrypt(passphrase, orjson.dumps(secret), _bound(manifest)))
        self._out.write(_tail(manifest, keys))


@attrs.frozen
class Contents:
    """What a sound archive says: header, manifest, and what was encrypted (``keys`` in hexadecimal, ``settings``)."""

    header: Mapping[str, Any]
    manifest: Mapping[str, Any]
    keys: tuple[str, ...] = attrs.field(repr=False)
    settings: str = attrs.field(repr=False)

    @property
    def id(self) -> str:
        """Another one for each archive."""
        return str(self.manifest["sha256"])


def verify_archive(
    archive: IO[bytes], passphrase: str, report: Report = lambda what, number: None, store: FileStore | None = None
) -> Contents:
    """Check every byte of an archive, and of the files in the store that it names.

    Raises ArchiveError, PassphraseError.
    """
    with _readable():
        texts = _texts(archive)
    header, manifest, keys = (texts.get(name, b"") for name in _TEXTS)
    if header:
        _require_format(_json(header))
    if not header or not manifest or not keys:
        raise ArchiveError("The archive is incomplete: its end is missing. Use another backup.")
    secret = _json(encryption.decrypt(passphrase, _json(keys), _bound(manifest)))
    _require_bytes(archive, _json(manifest), _tail(manifest, keys), report)
    _require_files(archive, store, report)
    return Contents(_json(header), _json(manifest), tuple(secret["keys"]), secret["settings"])


def _texts(archive: IO[bytes]) -> dict[str, bytes]:
    """The members that are no data; the names of all others are as they have to be."""
    texts: dict[str, bytes] = {}
    for member, content in _members(archive):
        if "keys.json" in texts or ("manifest.json" in texts and member.name != "keys.json"):
            raise _foreign(f"{member.name} is out of place")
        if member.name in _TEXTS:
            texts[member.name] = _small(content, member)
        elif not any(kind.fullmatch(member.name) for kind in (_FILE, _DUMP, _LIST)):
            raise _foreign(f"it holds {member.name}")
    return texts


def _require_bytes(archive: IO[bytes], manifest: Mapping[str, Any], tail: bytes, report: Report) -> None:
    """The manifest is to be believed by now: each byte before it, and after it, has to be as it was written."""
    archive.seek(0)
    digest, left = hashlib.sha256(), int(manifest["bytes"])
    while left and (piece := archive.read(min(_PIECE, left))):
        digest.update(piece)
        left -= len(piece)
        report("bytes checked", manifest["bytes"] - left)
    if left or digest.hexdigest() != manifest["sha256"] or archive.read(len(tail) + 1) != tail:
        raise ArchiveError("The archive is damaged: its checksum does not match. Use another backup.")


def _require_files(archive: IO[bytes], store: FileStore | None, report: Report) -> None:
    """Each file of the list is in the store, as it was."""
    for number, file in enumerate(list_stored_files(archive), 1):
        if store is None or not store.is_sound(file):
            place = "files" if store is None else store.path(file.sha256)
            raise ArchiveError(
                f"The backup shares files with others, and one of them is missing or damaged: {place} ({file.name}). "
                "Copy it from elsewhere, or use a backup that does not name it. If it is damaged, remove it: "
                "the next backup stores it again."
            )
        report("files checked", number)


def read_files(archive: IO[bytes], store: FileStore | None = None) -> Iterator[tuple[str, IO[bytes]]]:
    """The files of the data folder in an archive that was verified: names below it, and contents."""
    for member, content in _members(archive):
        if _FILE.fullmatch(member.name):
            yield member.name, content
    if store is not None:
        for file in list_stored_files(archive):
            with store.path(file.sha256).open("rb") as content:
                yield file.name, content


def list_stored_files(archive: IO[bytes]) -> Iterator[StoredFile]:
    """The files that an archive names and does not have itself. Raises ArchiveError where it is damaged."""
    left = b""
    with _readable():
        for member, content in _members(archive):
            if _DUMP.fullmatch(member.name):
                return  # the list stands before the database
            if _LIST.fullmatch(member.name):
                lines = (left + content.read()).split(b"\n")
                left = lines.pop()
                yield from (_listed_file(line) for line in lines)


def _listed_file(line: bytes) -> StoredFile:
    try:
        file = StoredFile.of_line(line)
    except (ValueError, TypeError, KeyError):
        raise _foreign("its list of files cannot be read") from None
    if not _FILE.fullmatch(file.name) or ".." in file.name.split("/") or not DIGEST.fullmatch(file.sha256):
        raise _foreign(f"it names {file.name}")
    return file


def read_dump(archive: IO[bytes]) -> Iterator[bytes]:
    """The database in an archive that was verified, in pieces."""
    for member, content in _members(archive):
        if _DUMP.fullmatch(member.name):
            while piece := content.read(_PIECE):
                yield piece


def _members(archive: IO[bytes]) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    """The members of an archive, each with its content. Raises ArchiveError for what is no plain file."""
    archive.seek(0)
    with tarfile.open(fileobj=archive, mode="r:", errorlevel=2) as tar:
        while member := tar.next():
            content = tar.extractfile(member) if member.isreg() else None
            if content is None or ".." in member.name.split("/"):
                raise _foreign(f"it holds {member.name}")
            yield member, content
            tar.members.clear()  # type: ignore[attr-defined]  # it would remember them all


@contextmanager
def _readable() -> Iterator[None]:
    """Raises ArchiveError where tarfile finds no archive, or one that ends too soon."""
    try:
        yield
    except (tarfile.TarError, EOFError, UnicodeDecodeError) as error:
        cut = "unexpected end" in str(error)
        words = "The archive is cut off" if cut else "The file is not an archive of crowdctl backup, or it is damaged"
        raise ArchiveError(f"{words} ({error}). Use another backup.") from None


def _require_format(header: Mapping[str, object]) -> None:
    if header.get("format") not in range(1, FORMAT + 1):
        raise ArchiveError(
            f"The archive has format {header.get('format')}, but this crowdd reads format {FORMAT}. "
            "Install a newer crowdd."
        )


def _foreign(how: str) -> ArchiveError:
    return ArchiveError(f"The file was not written by crowdctl backup: {how}.")


def _small(content: IO[bytes], member: tarfile.TarInfo) -> bytes:
    if member.size > _MAX_JSON:
        raise _foreign(f"{member.name} is too large")
    return content.read()


def _json(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ArchiveError("The archive is damaged: a part of it is not JSON. Use another backup.") from None


def _bound(manifest: bytes) -> bytes:
    return hashlib.sha256(b"crowdd backup\0" + manifest).digest()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o600
    tar.addfile(info, io.BytesIO(content))


def _tail(manifest: bytes, keys: bytes) -> bytes:
    """The end of an archive, which is always the same for the same manifest and keys."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, "manifest.json", manifest)
        _add(tar, "keys.json", keys)
    return out.getvalue()


class _Hashed:
    """A file that is written once, with a digest of what was written."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.written, self.digest = 0, hashlib.sha256()

    def write(self, piece: bytes) -> int:
        """Append."""
        self.written += len(piece)
        self.digest.update(piece)
        return self._out.write(piece)

    def tell(self) -> int:
        """How many bytes were written."""
        return self.written


def _parts(pieces: Iterable[bytes]) -> Iterator[bytes]:
    gathered = bytearray()
    for piece in pieces:
        gathered += piece
        while len(gathered) >= PART_BYTES:
            yield bytes(gathered[:PART_BYTES])
            del gathered[:PART_BYTES]
    if gathered:
        yield bytes(gathered)


def found_files(folder: Path) -> Iterator[Path]:
    """The files of a data folder that belong in a backup; those that begin with a full stop are being written."""
    for name in FOLDERS:
        yield from _below(folder / name)


def _below(folder: Path) -> Iterator[Path]:
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def no_links(path: str, flags: int) -> int:
    """Opens a file, but not what a symbolic link in its place leads to."""
    return os.open(path, flags | os.O_NOFOLLOW)
