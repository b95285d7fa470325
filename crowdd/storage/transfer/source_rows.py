"""Rows of sources of imports."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.values import JsonObject


@attrs.frozen
class ImportSource:
    """An address that is read again. ``choices`` are those of an import (``ImportChoices``), ``period`` is in seconds.

    ``etag``, ``last_modified`` and ``digest`` tell whether the file has changed since it was imported last.
    """

    id: int
    project_id: int
    user_id: int
    url: str
    period: int
    choices: JsonObject
    active: bool
    queue_item: int | None
    failures: int
    etag: str
    last_modified: str
    digest: str


@attrs.frozen
class DueSource:
    """A source that is to be read, in the name of a person."""

    id: int
    project_id: int
    user_id: int
    admin: bool


@attrs.frozen
class SourceMail:
    """Whom to write when a source is switched off: the project's owner."""

    name: str
    short_name: str
    url: str
    email_addr: str
    locale: str


class ListedSource(TypedDict):
    """A source for its owner. ``waits``: its project is paused. The figures are those of its last import, if any."""

    id: int
    url: str
    period: int
    active: bool
    why_off: str
    next_at: datetime
    reading: bool
    read_at: datetime | None
    outcome: str
    problem: str
    failures: int
    waits: bool
    import_id: int | None
    rows: int | None
    added: int | None
    updated: int | None
    present: int | None
    refused: int | None
