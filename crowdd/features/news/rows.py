"""Types of the rows of news and of the home page of a volunteer."""

from __future__ import annotations

from datetime import date, datetime
from typing import TypedDict

import attrs

from crowdd.kernel.values import Json, JsonObject


class NewsRow(TypedDict):
    """One thing that a person is told. What does not belong to its ``kind`` is None.

    ``own``: answers of the person in the project. ``told``: everybody may see its results. ``title`` of a blog post, and its text if it is
    a ``letter``; ``comment`` of the person on the task ``task_id``, and the ``reply`` to it. ``new``: the person has not looked at
    their news since.
    """

    id: int
    kind: str
    created: datetime
    subject: int
    name: str
    short_name: str
    info: JsonObject
    own: int
    told: bool
    title: str | None
    letter: str | None
    task_id: int | None
    comment: str | None
    reply: str | None
    n_tasks: int | None
    n_task_runs: int | None
    new: bool


class MutedProject(TypedDict):
    """A project of which a person wants no news."""

    name: str
    short_name: str


class LetterState(TypedDict):
    """When a post was ``sent`` as a letter, when the project may send ``again`` (None: now), and how many ``readers``."""

    sent: datetime | None
    again: datetime | None
    readers: int


class LetterSent(TypedDict):
    """Whether it was sent now."""

    sent: bool


class LetterChoice(TypedDict):
    """Whether a person gets the weekly e-mail, and the kinds of news that it does not have."""

    subscribed: bool
    valid_email: bool
    without: list[str]


@attrs.frozen
class Reader:
    """Somebody whose weekly e-mail is due: news after ``after`` until ``until``, but not these kinds.

    ``returned``: e-mails to the address come back.
    """

    id: int
    name: str
    fullname: str
    email_addr: str
    locale: str
    after: datetime
    until: datetime
    without: list[str]
    returned: bool


class OwnFacts(TypedDict):
    """``settled`` of the last ``recent`` answers have a result, in projects whose results the person may see.

    ``project_id``: of the last answer, None without one. ``week``: answers on each of seven days, from ``since`` on
    (UTC).
    """

    recent: int
    settled: int
    project_id: int | None
    week: list[int]
    since: date


class UnansweredTask(TypedDict):
    """A task that a person has not answered, None where there is none; ``own``: their answers in its project."""

    id: int | None
    info: Json
    own: int


class CameOf(TypedDict):
    """An answer of a person and the result of its task. ``n`` of ``total`` answers are the result."""

    task_id: int
    task_info: Json
    name: str
    short_name: str
    answer: Json
    result: Json
    n: int
    total: int
