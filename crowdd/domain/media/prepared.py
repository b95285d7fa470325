"""What is made of a file that an owner brings, as values; ``MediaPreparation`` makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

import attrs

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.config.media import MediaSettings

Kind = Literal["picture", "sound", "video", "document"]
Role = Literal["web", "thumbnail", "original", "page"]


@attrs.frozen
class PreparedFile:
    """A file that was made, in the folder that the caller named.

    ``web`` is what volunteers see or hear (a picture of at most ``web_pixels``; sound and video as they came),
    ``thumbnail`` a small picture of a picture or of a page, ``original`` a picture in its full size, and ``page`` a
    page of a document. ``page`` counts from 1, 0: the file has no pages. Sound and video have a width and height of 0
    unless known.
    """

    role: Role
    path: Path
    type: str
    suffix: str
    bytes: int
    sha256: str
    width: int = 0
    height: int = 0
    page: int = 0


@attrs.frozen
class Prepared:
    """What a file is by its content, and what was made of it.

    ``type`` is the one of the file that came (``image/tiff``); width and height are those of the upright picture, 0
    where there is none; ``seconds`` is the length of sound and video as far as the file says it. ``pages`` counts the
    pages of a document, also of a TIFF with several pictures: each has the files ``page`` and ``thumbnail``. A picture
    has ``web``, ``thumbnail`` and, if wanted, ``original``. Sound and video have ``web``. ``frames``: pictures of an
    animation, of which the first one is shown; otherwise 1. ``place``: latitude and longitude in degrees, if
    ``Choices.location`` asks for it and the picture says it. ``date`` and ``description`` are what a picture says,
    cleaned (``picture_texts.py``); "" for nothing.
    """

    kind: Kind
    type: str
    files: tuple[PreparedFile, ...]
    width: int = 0
    height: int = 0
    seconds: float | None = None
    pages: int = 0
    frames: int = 1
    place: tuple[float, float] | None = None
    date: str = ""
    description: str = ""


@attrs.frozen
class Choices:
    """What an owner wants of pictures. ``location``: say where they were taken (GPS), and keep it in the original."""

    original: bool = False
    location: bool = False


@attrs.frozen
class Member:
    """A file out of a ZIP archive: its path in the archive with ``/``, and where it lies now."""

    name: str
    path: Path
    bytes: int


@attrs.frozen
class RefusedMember:
    """A file of an archive that was left out, and why, in a sentence for the owner."""

    name: str
    reason: str


@attrs.frozen
class Unpacked:
    """An archive: its files in their order, those that were refused, and how many were skipped as rubbish.

    Rubbish is what systems leave in folders: ``__MACOSX/``, ``.DS_Store``, ``Thumbs.db``. Folders do not count.
    """

    members: tuple[Member, ...]
    refused: tuple[RefusedMember, ...]
    skipped: int


class MediaPreparation(Protocol):
    """Prepares files, each in a process of its own with little memory and time; one at a time in this process.

    ``folder`` exists, is empty and is the caller's: it also has to be removed after an error. All methods raise
    InvalidValueError with one sentence for the owner (a ``Sentence``: it can be translated) when the file cannot be
    used, StoppedError when the server is ending, UnavailableError when more than 50 calls wait.
    """

    @property
    def settings(self) -> MediaSettings:
        """What pictures are made by."""

    @property
    def worker_thread(self) -> WorkerThread:
        """The thread that waits for the processes."""

    async def prepare(self, source: Path, folder: Path, choices: Choices) -> Prepared:
        """Finds out what a file is, by its content alone, and makes the files that are served."""

    async def unpack(self, source: Path, folder: Path, *, max_files: int, max_bytes: int) -> Unpacked:
        """Unpacks a ZIP archive into the folder, under names of our own.

        Raises InvalidValueError also for an archive with more files or bytes than the limits.
        """


def is_archive(beginning: bytes) -> bool:
    """Whether a file that begins like this (4 bytes) has to be unpacked instead of prepared."""
    return beginning[:4] in (b"PK\x03\x04", b"PK\x05\x06")
