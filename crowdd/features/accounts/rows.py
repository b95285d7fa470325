"""Rows of accounts and of what belongs to them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.database.access import Bytea
from crowdd.kernel.values import JsonObject


class PersonRow(TypedDict):
    """The columns of the kind ``user``."""

    id: int
    created: datetime
    name: str
    fullname: str
    locale: str
    email_addr: str
    api_key_encrypted: Bytea
    passwd_hash: None
    admin: bool
    pro: bool
    restrict: bool
    privacy_mode: bool
    subscribed: bool
    newsletter_prompted: bool
    valid_email: bool
    confirmation_email_sent: bool
    consent: bool
    flags: int | None
    category: int | None
    catalog_api: str | None
    google_user_id: str | None
    github_user_id: str | None
    orcid_user_id: str | None
    info: JsonObject


class ScoredPerson(PersonRow):
    """A person with the number of their answers, under both names that clients know."""

    score: int
    n_answers: int


class Leader(ScoredPerson):
    """A person on the leaderboard; people with equal scores share a rank."""

    rank: int


class RankedPerson(ScoredPerson):
    """A person with their rank among ``total``; None for people without a rank."""

    rank: int | None
    total: int


class ListedAccount(TypedDict):
    """An account in the list of administrators."""

    id: int
    name: str
    fullname: str
    email_addr: str
    created: datetime
    admin: bool
    restrict: bool
    n_answers: int


class AccountPage(RankedPerson):
    """An account for its own pages; ``access_version`` counts its passwords.

    ``mail_returned`` is why e-mails to its address come back, None where they do not.
    """

    has_password: bool
    access_version: int
    mail_returned: str | None


class Account(TypedDict):
    """What signing in, mails and rights need of an account; ``access_version`` counts its passwords."""

    id: int
    name: str
    fullname: str
    email_addr: str
    valid_email: bool
    admin: bool
    locale: str
    access_version: int
    restrict: bool


class AccountWithPassword(Account):
    """The same with the password hash; None: the person signs in with a provider only."""

    passwd_hash: str | None


class Administrator(Account):
    """An administrator."""

    created: datetime


class ExportedAccount(TypedDict):
    """An account in the list for operators."""

    id: int
    name: str
    fullname: str
    email_addr: str
    created: datetime
    locale: str
    admin: bool
    consent: bool
    restrict: bool


class AccountState(TypedDict):
    """What an administrator may change of an account."""

    id: int
    name: str
    admin: bool
    restrict: bool


class Address(TypedDict):
    """Where an account gets its mail."""

    email_addr: str
    valid_email: bool
    name: str
    locale: str


class LockedAddress(Address):
    """The address of an account that is locked."""

    id: int


class TokenAccount(TypedDict):
    """The account of an API token that is used."""

    id: int
    name: str
    fullname: str
    admin: bool
    locale: str
    access_version: int
    token_id: int
    scope: str
    project_id: int | None
    stale: bool


@attrs.frozen
class Session:
    """A session of a person."""

    id: int
    token_hash: bytes = attrs.field(converter=bytes, repr=False)
    created: datetime
    last_seen: datetime
    expires: datetime
    agent: str
    address: str


class ApiToken(TypedDict):
    """An API token in the list of its person; ``project`` is the short name of the one project it may write."""

    id: int
    name: str
    scope: str
    project_id: int | None
    project: str | None
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    expired: bool


@attrs.frozen
class OneTimeLink:
    """A link that works once."""

    user_id: int | None
    data: JsonObject


@attrs.frozen
class Passkey:
    """The public key of a person's device; ``address_proved``: the e-mail address was, when the passkey was added."""

    id: int
    user_id: int
    credential_id: bytes = attrs.field(converter=bytes)
    public_key: bytes = attrs.field(converter=bytes)
    sign_count: int
    name: str
    created: datetime
    last_used: datetime | None
    address_proved: bool


@attrs.frozen
class UsedPasskey(Passkey):
    """A passkey that somebody signs in with; ``blocked``: its account is, whose ``access_version`` this is."""

    blocked: bool
    access_version: int


class KeepableWay(TypedDict):
    """A way into an account that its person may keep when they take the account back.

    ``kind`` is the name of a declaration (``features.signin.ways_in``), and ``key`` tells the ways of a kind apart.
    """

    kind: str
    key: str
    name: str
    created: datetime
    last_used: datetime | None
    address_proved: bool


@attrs.frozen
class TotpSecret:
    """The encrypted secret of an authenticator app; ``now`` is in epoch seconds."""

    encrypted: bytes = attrs.field(converter=bytes, repr=False)
    created: datetime
    confirmed: datetime | None
    last_step: int
    now: float


@attrs.frozen
class ProviderToken:
    """The encrypted token that a provider gave."""

    provider: str
    encrypted: bytes = attrs.field(converter=bytes, repr=False)


@attrs.frozen
class Answered:
    """A task that a volunteer has answered."""

    project_id: int
    task_id: int


@attrs.frozen
class ActorLink:
    """Two actors of one person; ``project_id``: of the project whose external user one of them is, else 0.

    ``due``: since which transaction their double answers are to be looked for.
    """

    actor: str
    other: str
    project_id: int
    due: str


@attrs.frozen
class PersonalExport:
    """A request for everything that is stored about a person; ``file`` is None until it is ready."""

    requested: datetime
    ready: datetime | None
    file: str | None
    bytes: int | None


@attrs.frozen
class BegunDeletion:
    """An account that is being deleted, or was lately; ``old``: some hours ago."""

    user_id: int
    pseudonym: str
    old: bool


class OwnedProject(TypedDict):
    """A project that keeps its owner from deleting their account."""

    id: int
    short_name: str
    name: str


@attrs.frozen
class NewLink:
    """A link that works once. ``subject`` and ``origin``: keyed hashes of the address and the network that it is for."""

    token_hash: bytes
    purpose: str
    hours: int
    user_id: int | None = None
    data: Mapping[str, object] = attrs.field(factory=dict)
    subject: bytes | None = None
    origin: bytes | None = None


@attrs.frozen
class NewToken:
    """A token that is to be made; with ``days`` None it does not expire."""

    name: str
    scope: str
    project_id: int | None
    days: int | None
