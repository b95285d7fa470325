"""Rows of statements about shards."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs


class ListedShard(TypedDict):
    """A database that projects may live on."""

    number: int
    name: str
    added: datetime
    projects: int


@attrs.frozen
class OwnShard:
    """Which shard a database is."""

    number: int
    name: str


@attrs.frozen
class Contents:
    """What a database has that is to become a shard."""

    accounts: int
    projects: int
    system_identifier: int
    database: str


@attrs.frozen
class Place:
    """Where a project lives: the number of a shard, 0 for home."""

    project_id: int
    shard: int


@attrs.frozen
class Copying:
    """How far the copy of the shared tables is. ``waiting``: tables whose first copy has not ended."""

    tables: int
    waiting: int
    running: bool


@attrs.frozen
class AccountState:
    """What a request needs of an account, as a shard has it."""

    id: int
    name: str
    fullname: str
    admin: bool
    locale: str


@attrs.frozen
class Card:
    """What home shows of a project: ``project`` and ``figures`` are the versions of its rows, ``card`` has them."""

    project_id: int
    project: str
    figures: str | None
    card: dict[str, object]


@attrs.frozen
class Score:
    """How many answers somebody has given on a shard."""

    user_id: int
    runs: int


@attrs.frozen
class ShardState:
    """How a shard is doing. ``receives``: rows of home arrive; ``notices``: triggers fire for them; ``may_move``: its
    role may copy projects.
    """

    receives: bool
    notices: bool
    may_move: bool


@attrs.frozen
class SlotState:
    """What home keeps for a shard: bytes of its log that the shard has not confirmed."""

    behind: int


@attrs.frozen
class BegunMove:
    """A move that has not ended."""

    project_id: int
    minutes: float
