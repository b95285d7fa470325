"""The headers of tus 1.0.0, a protocol for files that are sent in parts (tus.io): read and written."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final

import attrs

VERSION: Final = "1.0.0"
EXTENSIONS: Final = "creation,creation-with-upload,termination,expiration,checksum"
CONTENT_TYPE: Final = "application/offset+octet-stream"
CHECKSUMS: Final = ("sha1", "sha256")
MAX_LENGTH: Final = 2**53
_MAX_METADATA = 4096  # characters


class TusError(Exception):
    """A request that is not as the protocol has it: the status of the answer, and a sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


@attrs.frozen
class Creation:
    """What a request to create an upload says of a file."""

    length: int
    metadata: Mapping[str, str]


def require_version(headers: Mapping[str, str]) -> None:
    """Raises TusError (412) for a client that speaks another version, or none."""
    if headers.get("tus-resumable") != VERSION:
        raise TusError(412, f"Send the header Tus-Resumable: {VERSION}.")


def require_content_type(content_type: str) -> None:
    """Raises TusError (415) for a part of another type."""
    if content_type != CONTENT_TYPE:
        raise TusError(415, f"Send each part with Content-Type: {CONTENT_TYPE}.")


def creation(headers: Mapping[str, str]) -> Creation:
    """What is to be created. Raises TusError (400)."""
    return Creation(_number(headers, "upload-length"), metadata_of(headers.get("upload-metadata", "")))


def offset(headers: Mapping[str, str]) -> int:
    """Where the part begins. Raises TusError (400)."""
    return _number(headers, "upload-offset")


def checksum(headers: Mapping[str, str]) -> tuple[str, bytes] | None:
    """Algorithm and digest of the part; None without one. Raises TusError (400)."""
    text = headers.get("upload-checksum", "")
    if not text:
        return None
    algorithm, _, digest = text.partition(" ")
    if algorithm not in CHECKSUMS:
        raise TusError(400, f"Upload-Checksum must use one of {', '.join(CHECKSUMS)}.")
    try:
        return algorithm, base64.b64decode(digest, validate=True)
    except (binascii.Error, ValueError):
        raise TusError(400, "Upload-Checksum is not Base64.") from None


def metadata_of(text: str) -> dict[str, str]:
    """The values of ``Upload-Metadata`` by their names: ``name base64,name base64``. Raises TusError (400)."""
    if len(text) > _MAX_METADATA:
        raise TusError(400, f"Upload-Metadata has more than {_MAX_METADATA} characters.")
    metadata = {}
    for pair in filter(None, (each.strip() for each in text.split(","))):
        name, _, value = pair.partition(" ")
        try:
            metadata[name] = base64.b64decode(value, validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            raise TusError(400, "Upload-Metadata is not Base64.") from None
    return metadata


def answer(offset: int | None = None, length: int | None = None, expires: datetime | None = None) -> dict[str, str]:
    """The headers of an answer."""
    headers = {"Tus-Resumable": VERSION, "Cache-Control": "no-store"}
    if offset is not None:
        headers["Upload-Offset"] = str(offset)
    if length is not None:
        headers["Upload-Length"] = str(length)
    if expires is not None:
        headers["Upload-Expires"] = format_datetime(expires.astimezone(UTC), usegmt=True)
    return headers


def capabilities(max_size: int) -> dict[str, str]:
    """What the server can do, for OPTIONS."""
    return {
        **answer(),
        "Tus-Version": VERSION,
        "Tus-Extension": EXTENSIONS,
        "Tus-Max-Size": str(max_size),
        "Tus-Checksum-Algorithm": ",".join(CHECKSUMS),
    }


def _number(headers: Mapping[str, str], name: str) -> int:
    text = headers.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 17) or int(text) > MAX_LENGTH:
        raise TusError(400, f"{name.title()} must be a whole number of bytes.")
    return int(text)
