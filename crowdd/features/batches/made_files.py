"""The media files made of an uploaded file, the columns of a task that they fill, and why a file was refused.

A refusal is stored as a sentence that can still be translated. The columns are those that the project's questions read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from crowdd.features.batches.rows import MediaFile
from crowdd.features.media.prepared import Prepared, PreparedFile
from crowdd.features.media.store import MediaNames
from crowdd.kernel.languages import Sentence
from crowdd.kernel.languages import _ as sentence
from crowdd.kernel.languages import ngettext as plural
from crowdd.kernel.values import JsonObject
from crowdd.kinds.questions.columns import PICTURE

MAX_COLUMN = 100  # characters, as sources of questions have it
TILES = "_tiles"  # behind the name of a column with a picture


@attrs.frozen
class Medium:
    """What a prepared file gives a task.

    ``facts`` are further columns (``thumbnail``, ``width``, ``height``, ``type``, ``date`` …) with their values.
    ``tiles`` is the address of the picture in tiles, "" for none.
    """

    kind: str
    url: str
    filename: str
    facts: Mapping[str, Any]
    tiles: str = ""


def columns_for(kind: str, questions: Mapping[str, Sequence[str]], chosen: str = "") -> list[str]:
    """The columns that files of a kind fill, the first file the first one.

    ``chosen`` is what the owner has named; otherwise those of the questions, or the name of the kind.
    """
    of_questions = list(questions.get(kind, ())) or [kind]
    return [chosen, *(column for column in of_questions if column != chosen)] if chosen else of_questions


def task_info_of(media: Sequence[Medium], questions: Mapping[str, Sequence[str]], chosen: str = "") -> dict[str, Any]:
    """The columns of a task with these media, in the order of its group.

    Each file of a kind fills the next column of that kind; behind the last one the first is counted on (``picture_2``).
    Facts are those of the first file, those of further ones are counted on in the same way. The address of a picture's
    tiles is in the column of that name beside the picture's (``picture_tiles``), where the viewer of pictures finds it.
    """
    info: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for number, medium in enumerate(media, 1):
        nth = counts[medium.kind] = counts.get(medium.kind, 0) + 1
        columns = columns_for(medium.kind, questions, chosen)
        shown = columns[nth - 1] if nth <= len(columns) else f"{columns[0]}_{nth}"
        info[shown] = medium.url
        if medium.tiles:
            info[f"{shown}{TILES}"] = medium.tiles
        for name, value in {"filename": medium.filename, **medium.facts}.items():
            column = name if number == 1 else f"{name}_{number}"
            if value not in (None, "") and column not in info:
                info[column] = value
    return info


_PLACE = ("latitude", "longitude")
_OF_FILE = ("thumbnail", "original", "width", "height")


@attrs.frozen
class MadeFile:
    """A file for the media store under its key."""

    key: str
    path: Path
    type: str
    bytes: int


def list_made_files(names: MediaNames, project_id: int, prepared: Prepared) -> list[MadeFile]:
    """The files that were made, each with its key; a small picture may be its own thumbnail."""
    made = (MadeFile(_key(names, project_id, each), each.path, each.type, each.bytes) for each in prepared.files)
    return list({each.key: each for each in made}.values())


def _key(names: MediaNames, project_id: int, file: PreparedFile) -> str:
    return names.key(project_id, file.sha256, file.suffix)


def facts_of(names: MediaNames, project_id: int, prepared: Prepared, page: int = 0) -> JsonObject:
    """What is stored of a prepared file, or of a page of it: kind, addresses, size, type.

    Addresses begin with ``/uploads/``; ``files`` are the keys of all its files.
    """
    mine = [each for each in prepared.files if each.page == page]
    roles = {each.role: each for each in mine}
    shown = roles["page"] if page else roles["web"]
    addresses = {role: f"/uploads/{_key(names, project_id, each)}" for role, each in roles.items()}
    return {
        "kind": PICTURE if page else prepared.kind,
        "url": addresses["page" if page else "web"],
        "thumbnail": addresses.get("thumbnail"),
        "original": addresses.get("original"),
        "tiles": addresses.get("tiles"),
        "width": shown.width or None,
        "height": shown.height or None,
        **_size_of_original(prepared, shown),
        "type": shown.type,
        "seconds": prepared.seconds,
        "date": prepared.date or None,
        "description": prepared.description or None,
        "page": page or None,
        "latitude": prepared.place[0] if prepared.place else None,
        "longitude": prepared.place[1] if prepared.place else None,
        "files": list({_key(names, project_id, each): None for each in mine}),
    }


def _size_of_original(prepared: Prepared, shown: PreparedFile) -> JsonObject:
    """The size of the picture that came, where what is shown is a reduced copy of it."""
    if shown.role != "web" or prepared.kind != PICTURE or prepared.width <= (shown.width or 0):
        return {}
    return {"original_width": prepared.width, "original_height": prepared.height}


def pages_of(names: MediaNames, file: MediaFile, digest: bytes, prepared: Prepared) -> list[JsonObject]:
    """A row for each page of a document, prepared. The content of a page is told by the document's and its number."""
    return [
        {
            "page": page,
            "path": file.path,
            "key": f"{file.id}/{page}",
            "bytes": sum(each.bytes for each in prepared.files if each.page == page),
            "state": "prepared",
            "reason": None,
            "digest": hashlib.sha256(digest + b"/%d" % page).hexdigest(),
            "prepared": facts_of(names, file.project_id, prepared, page),
        }
        for page in range(1, prepared.pages + 1)
    ]


def medium_of(file: MediaFile) -> Medium:
    """What a prepared file gives a task."""
    facts = file.prepared or {}
    names = (*_OF_FILE, "original_width", "original_height", "type", "seconds", "date", "description", "page", *_PLACE)
    more = {name: facts.get(name) for name in names}
    return Medium(str(facts["kind"]), str(facts["url"]), file.path, more, str(facts.get("tiles") or ""))


def keys_of(files: Sequence[MadeFile]) -> list[str]:
    """The keys of files."""
    return [each.key for each in files]


def encode_reason(words: object) -> JsonObject:
    """A sentence, or other words, as JSON."""
    if not isinstance(words, Sentence):
        return {"one": None, "text": str(words)[:500]}
    values: JsonObject = {
        name: value if isinstance(value, int | float) else str(value) for name, value in words.values.items()
    }
    return {"one": words.one, "many": words.many, "number": words.number, "values": values, "text": str(words)[:500]}


def decode_reason(reason: JsonObject | None) -> str:
    """The words again: a Sentence where they were one; "" for none."""
    if reason is None:
        return ""
    one, values = reason.get("one"), reason.get("values")
    if not isinstance(one, str) or not isinstance(values, dict):
        return str(reason["text"])
    many, number = reason.get("many"), reason.get("number")
    named: dict[str, Any] = dict(values)
    if isinstance(many, str) and isinstance(number, int):
        named.pop("num", None)
        return plural(one, many, number, **named)
    return sentence(one, **named)


def reason_of_error(error: Exception) -> JsonObject:
    """The words of an error: ``str()`` would forget that they are a Sentence."""
    return encode_reason(error.args[0] if error.args else error)
