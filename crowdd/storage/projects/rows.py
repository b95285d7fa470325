"""Rows of projects and of what belongs to them."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.kinds.roles import Role
from crowdd.storage.database import Bytea
from crowdd.values import JsonObject


class ProjectRow(TypedDict):
    """The columns of the kind."""

    id: int
    created: datetime
    updated: datetime
    name: str
    short_name: str
    description: str
    long_description: str
    info: JsonObject
    owner_id: int
    owners_ids: list[int]
    category_id: int
    published: bool
    featured: bool
    allow_anonymous_contributors: bool
    zip_download: bool
    contacted: bool
    webhook: str | None
    secret_key_encrypted: Bytea
    contrib_button: str
    n_blogposts: int
    n_results: int
    n_completed_tasks: int
    n_task_runs: int
    n_tasks: int
    n_volunteers: int
    overall_progress: int
    last_activity: None
    last_activity_raw: datetime | None
    owner: str


class ProjectPage(ProjectRow):
    """A project for its pages, with the requester's roles."""

    roles: frozenset[Role]
    first_published: datetime | None
    lock_id: str | None
    draft_key: str | None
    has_gold: bool
