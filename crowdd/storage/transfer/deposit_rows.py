"""Rows of deposits."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs


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
