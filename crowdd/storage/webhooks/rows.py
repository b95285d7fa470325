"""Rows of events, webhooks and deliveries."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.values import JsonObject


def _bytes(value: bytes | memoryview | None) -> bytes | None:
    return None if value is None else bytes(value)


class Event(TypedDict):
    """What happened in a project."""

    project_id: int
    seq: int
    id: int
    kind: str
    task_id: int | None
    result_id: int | None
    at: datetime
    data: JsonObject


@attrs.frozen
class DueDelivery:
    """A delivery that may be sent now, with all that its message needs."""

    id: int
    project_id: int
    seq: int | None
    kind: str
    task_id: int | None
    attempts: int
    again: bool
    planned: datetime
    url: str
    short_name: str
    secret_encrypted: bytes = attrs.field(converter=bytes, repr=False)
    old_secret_encrypted: bytes | None = attrs.field(converter=_bytes, repr=False)
    result_id: int | None
    at: datetime
    data: JsonObject | None
    now: datetime


class Attempt(TypedDict):
    """What was sent to a receiver and what came back; ``status`` is None without a response."""

    url: str
    body: str
    status: int | None
    answer: str
    problem: str
    seconds: float


class LoggedAttempt(Attempt):
    """An attempt in the log."""

    at: datetime


@attrs.frozen
class ReceiverHealth:
    """Failures in a row, whether the webhook is on, and whether an attempt overlaps the last one that failed."""

    failures: int
    active: bool
    overlapping: bool


@attrs.frozen
class SwitchedOff:
    """The project whose webhook was switched off, and its owner."""

    id: int
    short_name: str
    name: str
    email_addr: str
    fullname: str
    locale: str


@attrs.frozen
class WebhookState:
    """Address, health and counts of a webhook; the columns of the webhook are None where there never was an address."""

    project_id: int
    short_name: str
    name: str
    url: str | None
    owner_id: int
    active: bool | None
    why_off: str | None
    failures: int | None
    failed_at: datetime | None
    next_at: datetime | None
    last_seq: int
    gap_from: int | None
    gap_to: int | None
    replay_from: int | None
    replay_to: int | None
    old_secret_until: datetime | None
    n_events: int
    n_waiting: int
    n_failed: int
    delivered: datetime | None


@attrs.frozen
class WebhookSecrets:
    """The encrypted secrets that sign; the old one is None once it does not sign any more."""

    secret_encrypted: bytes = attrs.field(converter=bytes, repr=False)
    old_secret_encrypted: bytes | None = attrs.field(converter=_bytes, repr=False)


@attrs.frozen
class Delivery:
    """A delivery in the log with its last attempt, whose columns are None before the first."""

    id: int
    project_id: int
    event_id: int | None
    seq: int | None
    kind: str
    task_id: int | None
    created: datetime
    again: bool
    state: str
    attempts: int
    next_at: datetime
    finished: datetime | None
    at: datetime | None
    url: str | None
    body: str | None
    status: int | None
    answer: str | None
    problem: str | None
    seconds: float | None
