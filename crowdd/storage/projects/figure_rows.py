"""Rows of figures: what the statements about a project's or the site's numbers return."""

from __future__ import annotations

from datetime import date, datetime
from typing import TypedDict

from crowdd.values import JsonObject, Values


class ProjectOverview(TypedDict):
    """What the page of a project tells of it. ``agreement`` is the average of the ``n_agreement`` last results that
    compare several answers, as on the results page. ``leaders`` are people with an account: name, fullname, info, answers.
    """

    subject: str
    subject_name: str
    n_here: int
    n_agreement: int
    agreement: float | None
    leaders: list[Values]


class Contributors(TypedDict):
    """Who made the results of a project: ``leaders`` as of its overview, and the ``own`` answers of who asks."""

    own: int
    leaders: list[Values]


class ProjectState(TypedDict):
    """Figures of a project for its watchers, and what decides who may see them."""

    n_tasks: int
    n_completed_tasks: int
    n_task_runs: int
    n_volunteers: int
    overall_progress: int
    last_activity_raw: datetime | None
    short_name: str
    published: bool
    first_published: datetime | None
    lock_id: str | None
    draft_key: str | None
    owners_ids: list[int]


class FeedEntry(TypedDict):
    """An act on the site: who did it, and in which project."""

    action: str
    at: datetime
    person: str | None
    name: str | None
    short_name: str | None
    category_id: int | None


class Hour(TypedDict):
    """What happened in a project in an hour; ``hour`` is in ISO 8601."""

    hour: str
    runs_anonymous: int
    runs_authenticated: int
    counted: int
    completed: int


class TopVolunteers(TypedDict):
    """The volunteers with the most answers, as public JSON."""

    anonymous: list[JsonObject]
    authenticated: list[JsonObject]


class TwoWeeks(TopVolunteers):
    """What happened in a project since the day ``since``."""

    id: int
    now: datetime
    since: date
    people_anonymous: int
    people_authenticated: int
    hours: list[Hour]


class ProjectFigures(TypedDict):
    """The figures of a project since its beginning."""

    project_id: int
    n_tasks: int
    n_wanted: int
    n_counted: int
    n_completed_tasks: int
    n_results: int
    seconds: float
    runs_anonymous: int
    runs_authenticated: int
    people_anonymous: int
    people_authenticated: int
    first_published: datetime | None
    published: bool


class SiteFigures(TypedDict):
    """Sums over the projects of the site."""

    n_tasks: int
    n_wanted: int
    n_counted: int
    n_task_runs: int
    n_results: int
    n_anonymous: int
    n_published: int
    n_draft: int
    n_accounts: int


class HomeFigures(TypedDict):
    """The figures of the home page; ``of_category``: published projects by the category's short name."""

    n_answers: int
    n_people: int
    n_open: int
    of_category: dict[str, int]


class ListSize(TypedDict):
    """How many projects a category, or one of the special lists, has."""

    short_name: str
    n: int


class BusyProject(TypedDict):
    """A project with its answers of 24 hours."""

    id: int
    name: str
    short_name: str
    info: JsonObject
    n_answers: int
