"""Rows of projects: themselves, lists of them, figures, owners and settings, and the checks before publishing."""

from __future__ import annotations

from datetime import date, datetime
from typing import NotRequired, TypedDict

from crowdd.database.access import Bytea
from crowdd.features.accounts.rows import RankedPerson
from crowdd.kernel.values import JsonObject, Values
from crowdd.kinds.roles import Role
from crowdd.kinds.translations import Translated


class ChainStep(TypedDict):
    """A public project before or behind another one in a chain. ``open``: some of its tasks still need answers."""

    name: str
    short_name: str
    before: bool
    open: bool


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
    steps: list[ChainStep]


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
    MAX_DISPUTED + 1. ``n_failed_comparisons``: results, fields of alpha and answers to gold tasks that could not be compared.
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
    n_failed_comparisons: int


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
    n_translations: int
    category: str
    webhook_off: bool
    webhook_failing: bool


class Helper(TypedDict):
    """An account that does something for a project beside answering: a reviewer, or a translator."""

    id: int
    name: str
    fullname: str


class ProjectLock(TypedDict):
    """What a password of a project is checked with."""

    id: int
    short_name: str
    lock_id: str | None
    passwd_hash: str | None
    owners_ids: list[int]
    reviewer_ids: list[int]
    translator_ids: list[int]


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


class PublishingFacts(TypedDict):
    """What the page to publish computes its estimate from.

    ``open_tasks`` want ``remaining`` answers. In two weeks, volunteers gave ``answers`` on ``days``, a day for each of
    them. ``seconds`` is the median of ``timed`` answers; ``trial``: some of them were trials.
    """

    open_tasks: int
    remaining: int
    days: int
    answers: int
    timed: int
    seconds: float | None
    trial: bool


class ColumnValues(TypedDict):
    """What some of the newest tasks have in some columns, by the names of these."""

    info: Values


class ColumnGap(TypedDict):
    """How many of the newest ``tasks`` lack a column."""

    column: str
    lacking: int
    tasks: int


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
    """A project for its pages, with the requester's roles.

    ``translation`` is the one that was asked for, ``translated`` has the languages of attributes that are translated.
    """

    roles: frozenset[Role]
    first_published: datetime | None
    lock_id: str | None
    draft_key: str | None
    has_gold: bool
    translation: dict[str, Translated] | None
    translated: NotRequired[dict[str, str]]
