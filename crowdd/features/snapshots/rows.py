"""Rows of snapshots and of deposits."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.kernel.values import Json, JsonObject


class SnapshotRow(TypedDict):
    """A snapshot. ``state`` is waiting, running, done, failed or cancelled.

    ``hash``, ``as_of``, ``complete`` and ``manifest`` are None until it is made. ``done`` of ``total`` rows are read.
    ``withdrawn``: how many of its volunteers may have deleted their account since. ``bytes``: of all its files.
    """

    id: int
    project_id: int
    created: datetime
    user_id: int | None
    user_name: str | None
    queue_item: int | None
    state: str
    done: int
    total: int | None
    error: str
    public: bool
    hash: str | None
    as_of: datetime | None
    complete: bool | None
    hidden_columns: Json
    manifest: JsonObject | None
    bytes: int
    withdrawn: int


class SnapshotFile(TypedDict):
    """A file of a snapshot: the key of its deflated content in the media store, and what the content is."""

    name: str
    key: str
    bytes: int
    sha256: str
    crc32: int
    content: bool


@attrs.frozen
class SnapshotProject:
    """What the content of a snapshot says of the project itself, as of one moment. ``category`` is a short name.

    ``trial``: it was never published. ``gold``: the embargo of its gold tasks is over.
    """

    id: int
    name: str
    short_name: str
    description: str
    long_description: str
    info: JsonObject
    allow_anonymous_contributors: bool
    category: str | None
    has_gold: bool
    gold: bool
    trial: bool
    hidden_columns: Json
    now: datetime


class SnapshotSchedule(TypedDict):
    """How often a project has a snapshot made (week, month), and when the next one is due."""

    every: str
    due: datetime


@attrs.frozen
class DueSnapshot:
    """A project whose schedule is due, and who set that up; None and "" once that account is deleted."""

    project_id: int
    user_id: int | None
    user_name: str
    admin: bool


class DepositRow(TypedDict):
    """A deposit of a snapshot. ``state`` is waiting, running, failed, cancelled, uploaded or published.

    ``done`` of ``total`` files are in the repository. ``publish``: it is to be published when all are.
    """

    id: int
    snapshot_id: int
    created: datetime
    user_name: str | None
    queue_item: int | None
    state: str
    done: int
    total: int | None
    error: str
    url: str
    publish: bool
    page: str
    published: datetime | None
    doi: str


@attrs.frozen
class DepositWork:
    """What the work on a deposit needs. ``remote_id`` is None until it is created in the repository."""

    id: int
    snapshot_id: int
    url: str
    publish: bool
    remote_id: str | None
    published: datetime | None
    token_encrypted: bytes | None = attrs.field(repr=False)
