"""Rows of lists of projects and of the categories that they are in."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.values import JsonObject


class ProjectSummary(TypedDict):
    """A project in a list."""

    id: int
    name: str
    short_name: str
    description: str
    info: JsonObject
    created: datetime
    owner_id: int
    category_id: int
    featured: bool
    published: bool
    first_published: datetime | None
    n_tasks: int
    n_volunteers: int
    n_task_runs: int
    n_completed_tasks: int
    n_results: int
    overall_progress: int
    last_activity_raw: datetime | None
    owner: str
    updated: datetime
    locked: bool


class AdministeredProject(TypedDict):
    """A project in the list of administrators; ``state`` is draft, published or paused."""

    id: int
    name: str
    short_name: str
    owner: str
    state: str
    featured: bool
    created: datetime
    n_tasks: int
    n_task_runs: int
    last_activity: datetime | None


class ListedProject(ProjectSummary):
    """A project of a page of a list; ``total`` is how many the whole list has."""

    total: int
    place: int


class ProjectName(TypedDict):
    """What a project is called."""

    id: int
    name: str
    short_name: str


class OwnProject(ProjectName):
    """A project that somebody owns, in the command palette."""

    published: bool


class NumberedTask(ProjectName):
    """A task by its id, and what its project is called."""


class CategoryRow(TypedDict):
    """The columns of the kind."""

    id: int
    name: str
    short_name: str
    description: str
    created: datetime
    info: JsonObject


class CountedCategory(CategoryRow):
    """A category with the number of its published projects; ``used``: a project is in it, published or not."""

    n_projects: int
    used: bool
