"""The files of our own pages, read and compressed once at the start: style, scripts, pictures.

No request touches the disk, so no path in a request can lead out of the folder. Texts are compressed, with gzip at each
start and with Brotli once: it takes long, and makes a sixth less of them. Brotli's files are kept between starts.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import attrs

from crowdd import PACKAGE
from crowdd.http.edge.headers import BROTLI, GZIP, best_coding, coded_etag
from crowdd.http.html.bundles import BUNDLES, bundles, without_comments
from crowdd.kernel.lazy import lazy


def folder_for(beside: Path, data: Path | None, name: str) -> Path | None:
    """``__pycache__`` in the folder ``beside``, or ``name`` in the data folder where that cannot be written.

    Returns None if neither is writable. A server runs what it finds there, so keep both folders from people who may not
    change crowdd.
    """
    own = [] if sys.dont_write_bytecode else [beside / "__pycache__"]
    for folder in [*own, *([] if data is None else [data / name])]:
        try:
            folder.mkdir(exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None


if TYPE_CHECKING:
    import brotli
else:
    brotli = lazy("brotli", seldom=True)

TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
_PACKED: Final = frozenset({".jpg", ".png", ".webp", ".woff", ".woff2"})
_MIN_SIZE: Final = 256  # bytes; below this the gzip frame eats the gain
_LEVEL = 6  # of gzip: 9 takes twice the time of the start for a hundredth of the bytes


@attrs.frozen
class StaticFile:
    """One file as it is sent. ``packed`` are its compressed forms by their coding, where there are any."""

    path: str
    body: bytes = attrs.field(repr=False)
    content_type: str
    digest: str
    packed: dict[str, bytes] = attrs.field(factory=dict, repr=False)

    @property
    def version(self) -> str:
        """Eight hexadecimal digits that change with the content."""
        return self.digest[:8]

    def coding(self, accept_encoding: str) -> str:
        """That of the form for a client; empty for the file as it is."""
        return best_coding(accept_encoding, tuple(each for each in (BROTLI, GZIP) if each in self.packed))

    def etag(self, coding: str = "") -> str:
        """The quoted entity tag; a compressed form is another entity and has another one."""
        entity_tag = f'"{self.digest[:32]}"'
        return coded_etag(entity_tag, coding) if coding else entity_tag

    def cache_control(self, version: str = "") -> str:
        """For ever under the address that names this content, otherwise ask each time (a script's own imports do)."""
        return "public, max-age=31536000, immutable" if version == self.version else "no-cache"


class StaticFiles:
    """The table of all files below a folder, by their path inside it."""

    def __init__(
        self, files: Mapping[str, StaticFile], prefix: str = "/static/", compressed_folder: Path | None = None
    ) -> None:
        """``compressed_folder``: for compressed forms that are made once."""
        self._files = dict(files)
        self._prefix, self._compressed_folder = prefix, compressed_folder
        self._texts: dict[tuple[str, ...], str] = {}
        if compressed_folder is not None:
            for file in self._compressed():
                with suppress(OSError):
                    file.packed[BROTLI] = (compressed_folder / _kept_name(file)).read_bytes()

    @classmethod
    def read(cls, folder: Path | None = None, prefix: str = "/static/", data: Path | None = None) -> Self:
        """Reads every file below ``folder`` (the package's own by default), but not hidden ones, and makes the bundles.

        Scripts and style sheets are sent without our comments; those of others stay as they are.
        ``data``: the data folder of the server, if it has one.
        """
        root = folder or PACKAGE / "http/static"
        paths = (path for path in sorted(root.rglob("*")) if path.is_file() and not _hidden(path.relative_to(root)))
        contents = {path.relative_to(root).as_posix(): _content(path) for path in paths}
        if folder is None:
            contents |= bundles(BUNDLES, contents, prefix)
        files = {path: _file(path, content) for path, content in contents.items()}
        return cls(files, prefix, folder_for(root, data, "static"))

    def pack(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Makes and keeps what is missing of the forms in Brotli, for a thread, while the server goes on.

        Without the library of Brotli there are none. All files together take seconds.
        """
        if self._compressed_folder is None:
            return
        wanted = {_kept_name(file): file for file in self._compressed()}
        with suppress(ModuleNotFoundError, OSError):
            for name, file in wanted.items():
                if not goes_on():
                    return
                if BROTLI not in file.packed:
                    packed = brotli.compress(file.body, mode=brotli.MODE_TEXT)
                    _write(self._compressed_folder / name, packed)
                    file.packed[BROTLI] = packed
            for path in self._compressed_folder.glob("*.br"):
                if path.name not in wanted:
                    path.unlink(missing_ok=True)

    def _compressed(self) -> list[StaticFile]:
        return [file for file in self._files.values() if GZIP in file.packed]

    def lookup(self, path: str) -> StaticFile | None:
        """The file at ``path`` (``img/mark.svg``), or None."""
        return self._files.get(path)

    def url(self, path: str) -> str:
        """The address that may be kept for ever. KeyError for a file that is not there: a template names it wrongly."""
        return f"{self._prefix}{path}?v={self._files[path].version}"

    @cached_property
    def release(self) -> str:
        """Eight hexadecimal digits that change with any of the files: what browsers keep of earlier ones is over."""
        digests = "".join(self._files[path].digest for path in sorted(self._files))
        return hashlib.sha256(digests.encode()).hexdigest()[:8]

    def text(self, *paths: str) -> str:
        """Scripts or style sheets as a page has them in itself, one after the other."""
        if paths not in self._texts:
            self._texts[paths] = "".join(self._files[path].body.decode() for path in paths)
        return self._texts[paths]

    def source(self, *paths: str) -> str:
        """How a policy names the text of files in a page (Content Security Policy 3, hash sources)."""
        digest = hashlib.sha256(self.text(*paths).encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    def size(self, path: str) -> int:
        """How many bytes a file has as most browsers get it."""
        file = self._files[path]
        return len(file.packed.get(BROTLI) or file.packed.get(GZIP) or file.body)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _content(path: Path) -> bytes:
    body = path.read_bytes()
    own = path.suffix in (".css", ".js") and "vendor" not in path.parts
    return without_comments(body.decode()).encode() if own else body


def _file(path: str, body: bytes) -> StaticFile:
    suffix = Path(path).suffix
    return StaticFile(
        path=path,
        body=body,
        content_type=TYPES.get(suffix, "application/octet-stream"),
        digest=hashlib.sha256(body).hexdigest(),
        packed={} if suffix in _PACKED else {**_gzip(body)},
    )


def _gzip(body: bytes) -> dict[str, bytes]:
    """The same bytes at each start (no time inside), or nothing if they are not smaller."""
    packed = gzip.compress(body, _LEVEL, mtime=0)
    return {GZIP: packed} if len(body) >= _MIN_SIZE and len(packed) < len(body) else {}


def _kept_name(file: StaticFile) -> str:
    return f"{file.digest}.br"


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing: another process may write the same file."""
    unfinished = path.with_suffix(f".{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
