"""Rows of what owners see and set of a project: owners, settings, what to look at, keys and the password."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.storage.accounts.rows import RankedPerson
from crowdd.storage.database import Bytea


class ProjectOwners(TypedDict):
    """Who owns a project: the owner, and all owners."""

    owner_id: int
    owners_ids: list[int]


class ProjectOwner(RankedPerson):
    """An owner of a project; ``is_creator`` is true for the owner, false for co-owners."""

    is_creator: bool


class ProjectAttention(TypedDict):
    """What the owners of a project should look at. The names of webhook states are those of its page.

    ``import_state`` is the state of the newest import, ``broken_task`` the first of the ``n_broken`` tasks that
    volunteers skipped as broken. ``n_comments`` are those that are open. In ``n_disputed`` tasks no answer has half of the votes; they are counted up to
    MAX_DISPUTED + 1.
    """

    import_id: int | None
    import_state: str | None
    webhook_off: bool
    webhook_failing: bool
    n_failed_deliveries: int
    n_failed_work: int
    n_broken: int
    broken_task: int | None
    n_comments: int
    n_disputed: int


class ProjectSettings(TypedDict):
    """What the settings of a project are, beside what its own row says.

    ``n_wanted``: answers that its tasks ask for. ``n_anonymous``: answers from people without an account.
    ``counted_per_network``: the project's own limit, or that of the site. ``prioritised``: an open task has a priority
    above 0. ``n_at_work``: volunteers who have a task now.
    """

    n_wanted: int
    n_anonymous: int
    counted_per_network: int
    prioritised: bool
    n_at_work: int
    n_barred: int
    n_reviewers: int
    category: str
    webhook_off: bool
    webhook_failing: bool


class ProjectLock(TypedDict):
    """What a password of a project is checked with."""

    id: int
    short_name: str
    lock_id: str | None
    passwd_hash: str | None
    owners_ids: list[int]
    reviewer_ids: list[int]


class ProjectKey(TypedDict):
    """What tokens of external users are checked with."""

    id: int
    short_name: str
    secret_key_encrypted: Bytea
    token_per_volunteer: bool


class CurrentProjectKey(ProjectKey):
    """The same with the time of the database in epoch seconds."""

    draft_key: str | None
    now: float


class Invitation(TypedDict):
    """The open invitation to a project."""

    created: datetime
    expires: datetime
