"""Why a file cannot be used, as sentences for its owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from crowdd.languages import _

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


def sentence(word: object, values: object) -> str:
    """The sentence of a word, in each language; the one of ``costly`` for what the process must not say."""
    formatter = SENTENCES.get(word) if isinstance(word, str) else None
    try:
        return (formatter or SENTENCES["costly"])(values if isinstance(values, dict) else {})
    except (KeyError, ValueError, TypeError):
        return SENTENCES["costly"]({})
