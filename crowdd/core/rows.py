"""Rows of the background queue and of the logs, and others that belong to no noun."""

from __future__ import annotations

from datetime import datetime
from typing import NotRequired, TypedDict

import attrs

from crowdd.database.access import Bytea
from crowdd.kernel.values import Json, JsonObject


@attrs.frozen
class QueueItem:
    """A background task for its owner and for operators."""

    id: int
    name: str
    arguments: JsonObject
    project_id: int | None
    user_id: int | None
    user_name: str | None
    via: str
    state: str
    created: datetime
    due: datetime
    began: datetime | None
    ended: datetime | None
    attempt: int
    failures: int
    cancel: bool
    done: int
    total: int | None
    done_before: int
    progressed: datetime | None
    checkpoint: Json
    result: Json
    error: str


@attrs.frozen
class ClaimedItem:
    """A background task that a worker has claimed, with the account that it works for as it is now."""

    id: int
    name: str
    arguments: JsonObject
    project_id: int | None
    user_id: int | None
    attempt: int
    failures: int
    cancel: bool
    done: int
    total: int | None
    checkpoint: Json
    user_name: str | None
    fullname: str | None
    email_addr: str | None
    locale: str | None
    is_admin: bool
    blocked: bool


@attrs.frozen
class ItemProgress:
    """What a worker learns when it reports progress: whether to stop, and how many failures count."""

    cancel: bool
    failures: int


class AuditEntry(TypedDict):
    """An entry of the audit log; ``network`` and ``request_id`` are for administrators."""

    id: int
    at: datetime
    user_id: int | None
    user_name: str
    via: str
    action: str
    kind: str
    object_id: int | None
    project_id: int | None
    attribute: str | None
    before: Json
    after: Json
    network: NotRequired[str]
    request_id: NotRequired[str]


class AuditHead(TypedDict):
    """The last row of the chain of the audit log: its position, 0 without rows, and its hash in hexadecimal."""

    position: int
    hash: str


class SecurityEntry(TypedDict):
    """An entry of the security log with the names of its accounts."""

    id: int
    at: datetime
    last_at: datetime
    count: int
    kind: str
    user_id: int | None
    user_name: str | None
    actor_id: int | None
    actor_name: str | None
    tried: str
    network: str
    request_id: str
    agent: str
    detail: str


@attrs.frozen
class RenderedText:
    """The HTML of a Markdown text and its beginning; ``stale``: its use was noted some days ago."""

    key: str
    html: str
    excerpt: str
    stale: bool


@attrs.frozen
class FirstRequest:
    """What the first request with an idempotency key left."""

    body_hash: bytes = attrs.field(converter=bytes)
    ids: list[int]


@attrs.frozen
class Usage:
    """What an account stores."""

    projects: int
    tasks: int
    bytes: int


@attrs.frozen
class Exceeded:
    """The limit (tasks or bytes) that a transaction exceeds, and how much there would be."""

    what: str
    used: int


class EncryptedValue(TypedDict):
    """An encrypted value with the primary key of its row."""

    id: NotRequired[int]
    project_id: NotRequired[int]
    user_id: NotRequired[int]
    provider: NotRequired[str]
    encrypted: Bytea


@attrs.frozen
class SiteRow:
    """What administrators set of the site; None: nothing. ``texts`` are Markdown by name and language."""

    version: int
    updated: datetime | None
    name: str | None
    logo: str | None
    accent_light: str | None
    accent_dark: str | None
    default_redundancy: int | None
    signup: str
    signups_per_hour: int | None
    max_projects: int | None
    texts: JsonObject
    steps_hidden: bool


@attrs.frozen
class FirstSteps:
    """Which of the first steps of an administrator are done."""

    mail: bool
    project: bool
    people: bool


class OpenInvitation(TypedDict):
    """An invitation to sign up that can still be used; ``id`` is not its key."""

    id: str
    created: datetime
    expires: datetime
    by: str
    note: str


class AuditMisfit(TypedDict):
    """Where the chain of the audit log does not hold. ``id`` is None where a row is missing; `core/64_audit_chain.sql` has the reasons."""

    id: int | None
    position: int
    reason: str


@attrs.frozen
class HasAnswered:
    """Whether a volunteer has ever given an answer or is linked with another, at a moment (``core.site_statements``)."""

    answered: bool
    moment: str


class SessionAccount(TypedDict):
    """The account of a session that is used; ages are in seconds."""

    id: int
    name: str
    fullname: str
    admin: bool
    locale: str
    second_factor: bool
    access_version: int
    stale: bool
    proof_age: float
    admin_idle: float
