"""Rows about the servers that run on this database."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs


class NodeState(TypedDict):
    """A server with its processes. ``migration`` is the newest that it knows."""

    name: str
    host: str
    version: str
    migration: int
    started: datetime
    seen: datetime
    processes: int
    state: str


@attrs.frozen
class RunningProcess:
    """What a running process was written for."""

    name: str
    version: str
    newest_migration: int
    fingerprint: str
