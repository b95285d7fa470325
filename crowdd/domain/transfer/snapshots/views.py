"""Snapshots as pages and programs get them."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.storage.transfer.snapshot_rows import SnapshotFile, SnapshotRow
from crowdd.values import Values


class SnapshotView(TypedDict):
    """A snapshot. ``url``, ``hash``, ``counts`` and what follows are None until it is made.

    ``user_name``, ``queue_item`` and ``error`` are for owners, null for others. ``withdrawn``: volunteers of the
    project who deleted their account since.
    """

    id: int
    project_id: int
    created: datetime
    state: str
    done: int
    total: int | None
    public: bool
    user_name: str | None
    queue_item: int | None
    error: str | None
    hash: str | None
    url: str | None
    as_of: datetime | None
    bytes: int
    counts: Values | None
    license: str | None
    authors: list[Values] | None
    citation: str | None
    software: str | None
    audit_log: Values | None
    withdrawn: int


class SnapshotFileView(TypedDict):
    """A file of a snapshot. ``content``: the hash of the snapshot depends on it."""

    name: str
    bytes: int
    sha256: str
    content: bool


def view(snapshot: SnapshotRow, address: str, *, owns: bool) -> SnapshotView:
    """A row; ``address`` is that of the project's snapshots."""
    manifest: Values = {**(snapshot["manifest"] or {})}
    return SnapshotView(
        id=snapshot["id"],
        project_id=snapshot["project_id"],
        created=snapshot["created"],
        state=snapshot["state"],
        done=snapshot["done"],
        total=snapshot["total"],
        public=snapshot["public"],
        user_name=snapshot["user_name"] if owns else None,
        queue_item=snapshot["queue_item"] if owns else None,
        error=snapshot["error"] if owns else None,
        hash=snapshot["hash"],
        url=None if snapshot["hash"] is None else f"{address}/{snapshot['hash']}",
        as_of=snapshot["as_of"],
        bytes=snapshot["bytes"],
        counts=manifest.get("counts"),
        license=manifest.get("license"),
        authors=manifest.get("authors"),
        citation=manifest.get("citation"),
        software=manifest["software"]["version"] if manifest else None,
        audit_log=manifest.get("audit_log"),
        withdrawn=snapshot["withdrawn"],
    )


def file_view(file: SnapshotFile) -> SnapshotFileView:
    """A file."""
    return SnapshotFileView(name=file["name"], bytes=file["bytes"], sha256=file["sha256"], content=file["content"])
