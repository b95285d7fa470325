"""Rows of media that owners bring."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.kernel.values import JsonObject


class BatchChoices(TypedDict):
    """What an owner chooses for a batch."""

    grouping: str
    column_name: str
    keep_location: bool
    keep_original: bool
    n_answers: int


class Batch(BatchChoices):
    """A batch with the state of its background task (``work_state``; None: none)."""

    id: int
    project_id: int
    user_id: int | None
    created: datetime
    closed: datetime | None
    queue_item: int | None
    n_files: int
    open_files: int
    work_state: str | None
    work_error: str | None


@attrs.frozen
class BatchProgress:
    """How far the background task of a batch is (as ``sched.queue.Attempt``)."""

    closed: datetime | None
    state: str | None
    done: int
    total: int | None
    began: datetime | None
    done_before: int
    progressed: datetime | None


class ListedBatch(TypedDict):
    """A batch in a list: files that came, and tasks that they have become."""

    id: int
    created: datetime
    closed: datetime | None
    files: int
    tasks: int
    refused: int
    unfinished: int


@attrs.frozen
class BatchFigures:
    """Files of a batch by their states. Archives and documents that were split are not counted; their parts are."""

    arriving: int
    waiting: int
    prepared: int
    added: int
    present: int
    refused: int
    split: int
    tasks: int
    arriving_bytes: int


@attrs.frozen
class MediaFile:
    """A file, a member of an archive, or a page of a document."""

    id: int
    batch_id: int
    project_id: int
    parent_id: int | None
    page: int
    path: str
    key: str
    n_bytes: int
    state: str
    expires: datetime | None
    reason: JsonObject | None
    digest: bytes | None
    prepared: JsonObject | None
    task_id: int | None


@attrs.frozen
class Unfinished:
    """Files that are arriving or waiting, and their bytes: of a person, of a project, of its owner's projects, of all."""

    person_files: int
    person_bytes: int
    project_files: int
    project_bytes: int
    owner_files: int
    owner_bytes: int
    site_files: int
    site_bytes: int


@attrs.frozen
class MediaTotals:
    """Bytes that projects hold: those of the owner of a project (0 for an administrator), and all of the site."""

    site_bytes: int
    owner_bytes: int
