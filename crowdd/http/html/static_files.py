"""The files of our own pages, read once at the start: style, scripts, pictures.

No request touches the disk, so no path in a request can lead out of the folder.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

import attrs

from crowdd.http.transport.request_headers import coded_etag

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


@attrs.frozen
class StaticFile:
    """One file as it is sent. ``gzipped`` is None where packing gains nothing."""

    path: str
    body: bytes = attrs.field(repr=False)
    content_type: str
    digest: str
    gzipped: bytes | None = attrs.field(default=None, repr=False)

    @property
    def version(self) -> str:
        """Eight hexadecimal digits that change with the content."""
        return self.digest[:8]

    def etag(self, *, packed: bool = False) -> str:
        """The quoted entity tag; the packed form is another entity and has another one."""
        entity_tag = f'"{self.digest[:32]}"'
        return coded_etag(entity_tag) if packed else entity_tag

    def cache_control(self, version: str = "") -> str:
        """For ever under the address that names this content, otherwise ask each time (a script's own imports do)."""
        return "public, max-age=31536000, immutable" if version == self.version else "no-cache"


class StaticFiles:
    """The table of all files below a folder, by their path inside it."""

    def __init__(self, files: Mapping[str, StaticFile], prefix: str = "/static/") -> None:
        self._files = dict(files)
        self._prefix = prefix

    @classmethod
    def read(cls, folder: Path | None = None, prefix: str = "/static/") -> Self:
        """Reads every file below ``folder`` (the package's own by default), but not hidden ones."""
        root = folder or Path(__file__).parents[1] / "static"
        found = (path for path in sorted(root.rglob("*")) if path.is_file() and not _hidden(path.relative_to(root)))
        return cls({file.path: file for file in (_read(root, path) for path in found)}, prefix)

    def lookup(self, path: str) -> StaticFile | None:
        """The file at ``path`` (``img/mark.svg``), or None."""
        return self._files.get(path)

    def url(self, path: str) -> str:
        """The address that may be kept for ever. KeyError for a file that is not there: a template names it wrongly."""
        return f"{self._prefix}{path}?v={self._files[path].version}"


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _read(root: Path, path: Path) -> StaticFile:
    body = path.read_bytes()
    return StaticFile(
        path=path.relative_to(root).as_posix(),
        body=body,
        content_type=TYPES.get(path.suffix, "application/octet-stream"),
        digest=hashlib.sha256(body).hexdigest(),
        gzipped=None if path.suffix in _PACKED else _gzip(body),
    )


def _gzip(body: bytes) -> bytes | None:
    """The same bytes at each start (no time inside), or None if they are not smaller."""
    packed = gzip.compress(body, mtime=0)
    return packed if len(body) >= _MIN_SIZE and len(packed) < len(body) else None
