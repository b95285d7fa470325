"""Rows about the server as a whole."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TypedDict

import attrs

from crowdd.database.access import Bytea
from crowdd.kernel.values import JsonObject


@attrs.frozen
class DashboardSnapshot:
    """The figures of the dashboard and their age in seconds."""

    figures: JsonObject
    age: float


class DayFigures(TypedDict):
    """What happened on a day."""

    day: date
    users: int
    anon: int
    runs: int
    accounts: int
    tasks: int


class Returning(TypedDict):
    """How many people answered on so many days."""

    days: int
    people: int


class WeekPeople(TypedDict):
    """How many people answered in the week, each counted once."""

    users: int
    anon: int


class RecentProject(TypedDict):
    """A project of the week with its owner."""

    day: str
    id: int
    short_name: str
    p_name: str
    owner_id: int
    u_name: str
    email_addr: str


class ReplicaHealth(TypedDict):
    """``last_transaction``: seconds since the last one of the primary that it has, also where nothing was committed since."""

    follows: bool
    last_transaction: float
    keeps_rows: bool


class DatabaseHealth(TypedDict):
    """Settings and load of PostgreSQL, and what waits; times are in seconds.

    ``comparison_failure`` says where the first of the ``comparisons_failed`` is, and why.
    """

    version: int
    max_connections: int
    connections: int
    read_only: bool
    fsync: bool
    synchronous: bool
    bytes: int
    oldest_transaction: float
    now: float
    owns_tables: bool
    elsewhere: bool
    encrypted: bool
    admins: int
    queue_dead: int
    queue_waits: float
    mail_refused: int  # addresses in the last day
    mail_delayed: int
    mail_error: str
    mail_held: int
    comparisons_failed: int
    comparison_failure: str | None
    last_backup: float | None
    first_project: float | None


class ServerFigures(TypedDict):
    """What is under way, for metrics; times are in seconds."""

    queue_waiting: int
    queue_running: int
    queue_late: float
    deliveries_waiting: int
    deliveries_late: float
    webhooks_failing: int
    mail_waiting: int
    leases: int
    last_backup: float
    unfolded: int


@attrs.frozen
class BegunJob:
    """Whether a periodic job is to run: ``state`` ours, early, busy or broken; ``wait`` is in seconds."""

    state: str
    wait: float | None
    began: datetime | None
    failures: int | None


@attrs.frozen
class JobWait:
    """A periodic job, and in how many seconds it is due."""

    name: str
    wait: float


class JobState(TypedDict):
    """A periodic job with its last run; ``overdue`` is in seconds."""

    name: str
    due: datetime
    outcome: str
    began: datetime | None
    seconds: float | None
    words: str
    failures: int
    runs: int
    overdue: float


class JobRun(TypedDict):
    """A run in the log of a periodic job."""

    began: datetime
    seconds: float
    outcome: str
    words: str


@attrs.frozen
class CounterDifference:
    """A counter that differs from the recount; ``total`` is how many differences there are."""

    project_id: int | None
    what: str
    key: str
    stored: Decimal
    counted: Decimal
    total: int


class ServerKey(TypedDict):
    """A key that the database was used with."""

    fingerprint: Bytea
    id: Bytea


class EncryptedApiKey(TypedDict):
    """The encrypted API key of an account."""

    id: int
    encrypted: Bytea


@attrs.frozen
class EndedJob:
    """How a run of a job went: done or failed, what it says, and in how many seconds the next one is due."""

    outcome: str
    words: str
    wait: float
    logged: bool


@attrs.frozen
class QueueFilter:
    """Which background tasks to list. None means any, ``before`` is an id, ``everybodys`` is for administrators."""

    everybodys: bool = False
    state: str | None = None
    name: str | None = None
    project_id: int | None = None
    before: int | None = None
    limit: int = 20
