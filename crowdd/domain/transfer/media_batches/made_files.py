"""What was made of a file: its files in the media store, and what a task says of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import attrs

from crowdd.domain.media.prepared import Prepared, PreparedFile
from crowdd.domain.media.store import MediaNames
from crowdd.domain.transfer.media_batches.task_columns import PICTURE, Medium
from crowdd.storage.transfer.media_rows import MediaFile
from crowdd.values import JsonObject

_PLACE = ("latitude", "longitude")


@attrs.frozen
class MadeFile:
    """A file for the media store under its key."""

    key: str
    path: Path
    type: str
    bytes: int


def made_files(names: MediaNames, project_id: int, prepared: Prepared) -> list[MadeFile]:
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
        "width": shown.width or None,
        "height": shown.height or None,
        "type": shown.type,
        "seconds": prepared.seconds,
        "date": prepared.date or None,
        "description": prepared.description or None,
        "page": page or None,
        "latitude": prepared.place[0] if prepared.place else None,
        "longitude": prepared.place[1] if prepared.place else None,
        "files": list({_key(names, project_id, each): None for each in mine}),
    }


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
    names = ("thumbnail", "original", "width", "height", "type", "seconds", "date", "description", "page", *_PLACE)
    return Medium(str(facts["kind"]), str(facts["url"]), file.path, {name: facts.get(name) for name in names})


def keys_of(files: Sequence[MadeFile]) -> list[str]:
    """The keys of files."""
    return [each.key for each in files]
