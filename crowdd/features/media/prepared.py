"""What preparation makes of an uploaded file, as values: files, cleaned descriptions, and why a file was refused.

``MediaPreparation`` makes it. Anybody can have written the texts of a picture, so they are cleaned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import attrs

from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config.data import MediaSettings
from crowdd.kernel.languages import _

Kind = Literal["picture", "sound", "video", "document"]
Role = Literal["web", "thumbnail", "original", "tiles", "page"]


@attrs.frozen
class PreparedFile:
    """A file that was made, in the folder that the caller named.

    ``web`` is what volunteers see or hear (a picture of at most ``web_pixels``; sound and video as they came),
    ``thumbnail`` a small picture of a picture or of a page, ``original`` a picture in its full size, ``tiles`` the same
    in tiles (``tiles.Pyramid``), and ``page`` a page of a document. ``page`` counts from 1, 0: the file has no pages.
    Sound and video have a width and height of 0 unless known.
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
    has ``web``, ``thumbnail``, ``tiles`` if ``web`` lacks much, and, if wanted, ``original``. Sound and video have
    ``web``. ``frames``: pictures of an animation, of which the first one is shown; otherwise 1. ``place``: latitude and
    longitude in degrees, if ``Choices.location`` asks for it and the picture says it. ``date`` and ``description`` are
    what a picture says, cleaned (``clean_date``, ``clean_description``); "" for nothing.
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
    """What an owner wants of pictures. ``location``: say where they were taken (GPS), and keep it in the original.

    ``tiles``: make tiles of every picture that is scaled down.
    """

    original: bool = False
    location: bool = False
    tiles: bool = False


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


MAX_DESCRIPTION: Final = 2000  # characters
_JOINERS: Final = "\u200c\u200d"  # words of some languages need them
_DATE: Final = re.compile(r"(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.\d+)?\s*([+-]\d\d:\d\d|Z)?")


def clean_description(description: object) -> str:
    """One line without control characters and marks of direction, cut at ``MAX_DESCRIPTION`` characters."""
    if not isinstance(description, str):
        return ""
    shown = (c if c.isprintable() or c in _JOINERS else " " if c.isspace() else "" for c in description)
    words = " ".join("".join(shown).split())
    return words if len(words) <= MAX_DESCRIPTION else f"{words[: MAX_DESCRIPTION - 1]}…"


def clean_date(raw_date: object) -> str:
    """ISO 8601, ``2024-05-01T12:34:56`` or with an offset; "" for what is no date (cameras write 0000:00:00)."""
    match = _DATE.fullmatch(raw_date.strip()) if isinstance(raw_date, str) else None
    if match is None:
        return ""
    year, month, day, hour, minute, second, offset = match.groups()
    text = f"{year}-{month}-{day}T{hour}:{minute}:{second}{(offset or '').replace('Z', '+00:00')}"
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return ""
    return text


_MILLION: Final = 1_000_000


def _number(value: Any) -> str:
    return f"{int(value):,}"


SENTENCES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "unknown": lambda v: _(
        "This kind of file is not supported. Use JPEG, PNG, GIF, WebP, TIFF, MP3, M4A, WAV, Ogg, FLAC, MP4, WebM, PDF"
        " or ZIP."
    ),
    "table": lambda v: _(
        "This is a table. Import it after the upload, with the key column “filename”, to add its columns to the tasks."
    ),
    "empty": lambda v: _("The file is empty."),
    "svg": lambda v: _("SVG files are not accepted because they can contain scripts. Save the picture as PNG."),
    "web_page": lambda v: _("This is a web page or an XML file, not a picture, sound, video or PDF."),
    "heic": lambda v: _("This server cannot read HEIC pictures. Save them as JPEG."),
    "pdf": lambda v: _(
        "This server lacks a library for PDF files. Its operator can install it: pip install 'crowdd[pdf]'."
    ),
    "quicktime": lambda v: _("QuickTime videos do not play in every browser. Save the video as MP4."),
    "matroska": lambda v: _("Matroska videos (MKV) do not play in every browser. Save the video as MP4 or WebM."),
    "archive": lambda v: _("This is an archive or an Office document. Save its content as pictures or as PDF."),
    "damaged": lambda v: _("The %(format)s file is damaged or incomplete.", format=str(v["format"])),
    "foreign": lambda v: _(
        "The %(format)s file contains extra data after its end. Save it again with the program that created it.",
        format=str(v["format"]),
    ),
    "form": lambda v: _(
        "This form of %(format)s is not supported. Save the file again in a common form.", format=str(v["format"])
    ),
    "pixels": lambda v: _(
        "The picture has %(count)s million pixels. The limit is %(max)s million.",
        count=_number(-(-int(v["count"]) // _MILLION)),
        max=_number(int(v["max"]) // _MILLION),
    ),
    "pages": lambda v: _(
        "The file has %(count)s pages. The limit is %(max)s. Split it.",
        count=_number(v["count"]),
        max=_number(v["max"]),
    ),
    "page_size": lambda v: _("Page %(page)s is empty or has an impossible size.", page=_number(v["page"])),
    "password": lambda v: _("The file has a password. Save it without one."),
    "written": lambda v: _(
        "The files made from this one would take more than %(max)s MB. Split it, or make it smaller.",
        max=_number(v["max"]),
    ),
    "costly": lambda v: _("The file is damaged, or reading it takes too much memory or time."),
    "no_tracks": lambda v: _("The %(format)s file has neither sound nor video.", format=str(v["format"])),
    "zip_files": lambda v: _(
        "The archive has %(count)s files. The limit is %(max)s. Split it.",
        count=_number(v["count"]),
        max=_number(v["max"]),
    ),
    "zip_bytes": lambda v: _(
        "The files in the archive take %(count)s MB. The limit is %(max)s MB. Split it.",
        count=_number(-(-int(v["count"]) // _MILLION)),
        max=_number(int(v["max"]) // _MILLION),
    ),
    "zip_overlap": lambda v: _("Files in the archive overlap. Create the archive again."),
    "member_name": lambda v: _("Its path in the archive is not allowed."),
    "member_link": lambda v: _("It is a link or another special file."),
    "member_password": lambda v: _("It has a password. Make the archive without one."),
    "member_nested": lambda v: _("Archives inside an archive are not unpacked. Add this one on its own."),
    "member_ratio": lambda v: _("It is compressed far more than pictures, sound or video can be."),
    "member_damaged": lambda v: _("It is damaged, or compressed in a way that is not supported."),
}


def refusal_sentence(word: object, values: object) -> str:
    """The sentence of a word, in each language; the one of ``costly`` for what the process must not say."""
    formatter = SENTENCES.get(word) if isinstance(word, str) else None
    try:
        return (formatter or SENTENCES["costly"])(values if isinstance(values, dict) else {})
    except (KeyError, ValueError, TypeError):
        return SENTENCES["costly"]({})


class RefusedFile(Exception):  # noqa: N818 - it is no fault of ours
    """The file is not used. ``word`` says why, ``values`` are short texts and numbers."""

    def __init__(self, word: str, **values: str | int) -> None:
        super().__init__(word)
        self.word, self.values = word, values


def damaged(format_: str) -> RefusedFile:
    """The file is not what a format prescribes."""
    return RefusedFile("damaged", format=format_)


def foreign(format_: str) -> RefusedFile:
    """Behind the end of the content there is something else."""
    return RefusedFile("foreign", format=format_)
