"""Types of the rows of files of answers."""

from __future__ import annotations

import attrs

from crowdd.kernel.values import JsonObject


@attrs.frozen
class Accepted:
    """What a project says of files: ``info.answer_files``, and whether one of its questions asks for one."""

    declared: JsonObject | None
    asked: bool


@attrs.frozen
class SentFile:
    """A file of a volunteer for a task. ``facts`` is None while it is arriving, ``run_id`` until an answer names it."""

    id: int
    project_id: int
    word: str
    run_id: int | None
    bytes: int
    facts: JsonObject | None
    path: str
    thumbnail: str | None


@attrs.frozen
class Room:
    """What there is of a project before another file comes: files and bytes that no answer has named, bytes of all."""

    of_person: int
    of_network: int
    total_bytes: int


@attrs.frozen
class OpenedFile:
    """A file by its address. ``mine``: the requester sent it. ``declared`` is ``info.answer_files``."""

    project_id: int
    run_id: int | None
    facts: JsonObject
    path: str
    thumbnail: str | None
    mine: bool
    declared: JsonObject | None


@attrs.frozen
class PersonalFile:
    """A file of a person, for the archive of their data."""

    id: int
    word: str
    path: str
    type: str
