"""Rows of templates."""

from __future__ import annotations

from datetime import datetime

import attrs

from crowdd.values import JsonObject


@attrs.frozen
class ListedTemplate:
    """A template in a list. ``owner`` is a name, "" for one of the site; ``thumbnail`` the name of a file, or ""."""

    id: int
    token: str
    owner: str
    own: bool
    offered: bool
    created: datetime
    card: JsonObject
    thumbnail: str
    bytes: int


@attrs.frozen
class StoredTemplate(ListedTemplate):
    """A template with its questions, the ``info`` of its tasks, and the names of its files."""

    questions: JsonObject
    tasks: list[JsonObject]
    n_answers: int | None
    files: list[str]
