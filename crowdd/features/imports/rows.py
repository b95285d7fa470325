"""Rows of imports."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.kernel.values import JsonObject


class ImportChoices(TypedDict):
    """What an owner chooses of a file."""

    dialect: JsonObject | None
    kind: str
    uses: dict[str, str] | None
    key_name: str | None
    keep_columns: bool
    again: bool
    n_answers: int | None


class LockedImport(ImportChoices):
    """The choices of an import that is locked; ``queue_item`` is the background task that adds its rows."""

    queue_item: int | None


class PendingImport(LockedImport):
    """An import with what is known of its file, and its figures."""

    id: int
    project_id: int
    user_id: int | None
    created: datetime
    name: str
    format: str
    file: str
    bytes: int
    rows: int
    columns: list[str]
    sample: list[JsonObject]
    doubts: list[JsonObject]
    sheets: list[JsonObject]
    roles: dict[str, str]
    source_id: int | None
    on_error: str | None
    auto: bool
    check_item: int | None
    check_error: str
    checked: JsonObject | None
    preview: dict[str, int] | None
    added: int
    present: int
    twice: int
    kept: int
    updated: int
    refused: int
    empty: int
    ended: datetime | None


class ImportRow(PendingImport):
    """An import with its state and its background task (``work``)."""

    state: str
    work: JsonObject | None


@attrs.frozen
class ImportProgress:
    """How far an import is. ``reading``: its file has not been read; from ``state`` on: of its background task."""

    import_state: str
    reading: bool
    rows: int
    added: int
    updated: int
    present: int
    refused: int
    state: str | None
    done: int
    total: int | None
    began: datetime | None
    done_before: int
    progressed: datetime | None


class ListedImport(TypedDict):
    """An import in the list of its project."""

    id: int
    created: datetime
    name: str
    format: str
    bytes: int
    rows: int
    kind: str
    queue_item: int | None
    added: int
    updated: int
    present: int
    refused: int
    ended: datetime | None
    state: str


@attrs.frozen
class PendingCounts:
    """How many imports wait for a decision: of the project, and of the person in all projects."""

    project: int
    person: int


class KeyedFate(TypedDict):
    """What would become of a row with a key, and whether its task is retired."""

    fate: str
    retired: bool


class KeyedFigures(TypedDict):
    """What became of rows with a key."""

    added: int
    updated: int
    same: int
    kept: int


class AddedFigures(TypedDict):
    """What became of the tasks of a file."""

    added: int
    present: int


class GoneTask(TypedDict):
    """A task whose key a file does not have."""

    task_id: int
    key: str
    state: str
    answers: int


class ImportFigures(TypedDict):
    """The figures of an import that is done."""

    rows: int
    added: int
    updated: int
    present: int
    twice: int
    kept: int
    refused: int
    empty: int
    project_id: int
    file: str


class RefusedRow(TypedDict):
    """A row of a file that was refused, and why."""

    line: int
    reason: str
    text: str
