"""Rows of tasks, answers, results and volunteers, and what the ledger is asked."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NotRequired, TypedDict

import attrs

from crowdd.kernel.values import Json, Values


class Ask(TypedDict):
    """A volunteer's request for tasks, as the ledger takes it. ``also``: another actor that the request proves."""

    project: int
    actor: str
    me: int | None
    is_admin: bool
    unlocked: list[str]
    network: str
    maximum: int
    skip: int
    scan: str
    also: str | None


class StoredPrediction(TypedDict):
    """The id of a prediction by its place among those that were sent."""

    nth: int
    id: int


class Handed(TypedDict):
    """What the ledger gives for a request: tasks as JSON texts, or the state that says why there are none."""

    state: str
    retry_in: timedelta | None
    lapsed: int
    tasks: list[str] | None


class Answer(TypedDict):
    """An answer as the ledger takes it. ``also``: another actor that the request proves."""

    project: int
    actor: str
    task: int
    user_id: int | None
    ip: str | None
    external: str | None
    info: Json
    calibration: int | None
    media_url: str | None
    also: str | None
    circumstances: Json


class Submitted(TypedDict):
    """What became of an answer. ``run`` is None where it was not stored. ``feedback``: of a gold task, where it is given."""

    nth: NotRequired[int]
    project: NotRequired[int]
    actor: NotRequired[str]
    state: str
    run: int | None
    granted: datetime | None
    finish_time: datetime
    late_seconds: float | None
    volunteer: str | None
    feedback: Json


@attrs.frozen
class Amended:
    """What became of a correction: changed, same, in result, none or barred."""

    state: str
    run: int | None


class Progress(TypedDict):
    """The tasks that a person has answered (``done``) and the tasks (``total``) of a project, and who may know them.

    ``accuracy``: n_seen, n_right, low and high of their answers to gold tasks, where the owner shows it.
    """

    id: int
    done: int
    total: int
    accuracy: Values | None
    lock_id: str | None
    owners_ids: list[int]
    published: bool
    draft_key: str | None


@attrs.frozen
class Renewal:
    """What became of a lease; ``left`` seconds of it, None without a lease."""

    state: str
    left: float | None


class TaskRunRow(TypedDict):
    """The columns of the kind."""

    id: int
    task_id: int
    project_id: int
    user_id: int | None
    user_ip: str | None
    external_uid: str | None
    volunteer: str | None
    info: Json
    created: datetime
    finish_time: datetime
    calibration: int | None
    timeout: float | None
    media_url: str | None
    circumstances: Json


_Classed = TypedDict("_Classed", {"class": "int | None"})


class ListedRun(TaskRunRow, _Classed):
    """An answer on the page of its task, with its account. ``n_rows``: how many there are on that page at most.

    ``class``: the number of its choice from 1; ``unreliable``: it does not count, because its volunteer was no better
    than chance. ``gold``: its task was a gold task then; ``is_right`` is None while it is compared,
    and ``taught`` says what was learned of its volunteer. ``changed_xid``: the position of its last change.
    """

    actor: str
    counted: bool
    trial: bool
    aside: int | None
    unreliable: bool
    gold: bool
    is_right: bool | None
    taught: Values | None
    origin: str | None
    changed_xid: int
    name: str | None
    fullname: str | None
    privacy_mode: bool | None
    aside_reason: str | None
    aside_at: datetime | None
    aside_by: str | None
    place: int
    n_rows: int
    stored_bytes: int
    bytes: int
    bytes_so_far: int


class ListedTask(TypedDict):
    """A task in the list of its project, with the beginning of its ``info`` as text."""

    id: int
    ordinal: int
    n_answers: int
    n_task_runs: int
    answers: int
    priority_0: float
    retired: bool
    done: bool
    leases: int
    state: str
    nth: NotRequired[int]
    info_text: str | None


class TaskContent(TypedDict):
    """What a table shows of a task: values of its ``info`` as texts, and what its last result says of the answers.

    ``skips``: how many people have skipped it; ``for_review``: too many.
    """

    id: int
    cells: list[str | None]
    skips: int
    for_review: bool
    consensus: Json
    won: bool
    agreement: float | None


@attrs.frozen
class Effect:
    """What a change of tasks does: tasks concerned, completed and reopened, and answers that go."""

    tasks: int
    completed: int
    reopened: int
    answers: int


@attrs.frozen
class Predicted:
    """The names of questions and models that have predictions."""

    questions: list[str] = attrs.field(factory=list)
    models: list[str] = attrs.field(factory=list)


@attrs.frozen
class MatchingTasks:
    """Tasks that match among those that were looked at: their ids, the last that was come to, and how many were looked at."""

    ids: list[int]
    last: int | None
    walked: int


class VolunteerRow(TypedDict):
    """A volunteer as owners see them; ``user_…`` is None without an account."""

    volunteer: str
    actor: str
    answers: int
    user_id: int | None
    user_name: str | None
    barred: bool


class Bar(TypedDict):
    """A volunteer or network that an owner keeps out of a project."""

    id: int
    subject: str
    shown: str | None
    at: datetime
    reason: str
    user_name: str | None
    by_name: str | None
    volunteer: str | None


@attrs.frozen
class BarSubject:
    """Whom a bar keeps out."""

    subject: str
    shown: str | None


@attrs.frozen
class Author:
    """The volunteer of an answer."""

    actor: str
    user_ip: str | None


class OwnAnswer(TypedDict):
    """An answer for the person who gave it; ``info`` is None for a large one."""

    id: int
    project_id: int
    task_id: int
    finish_time: datetime
    counted: bool
    trial: bool
    info: Json


class OwnCollection(TypedDict):
    """A collection in the list of its owner."""

    id: int
    name: str
    published: bool
    n_tasks: int
    has_task: bool


class CollectionPage(TypedDict):
    """A collection with the names of its owner; ``own``: it is the requester's."""

    id: int
    name: str
    description: str
    published: bool
    owner: str
    fullname: str | None
    own: bool


class CollectedTask(TypedDict):
    """A task of a collection with its project; ``info`` is None where it is large."""

    id: int
    task_id: int
    note: str
    project_id: int
    name: str
    short_name: str
    info: Json


class TaskComment(TypedDict):
    """A comment on a task. ``kind``: problem, question or remark; ``info`` of the task is None where it is large.

    ``replies``: id, created and text of each. ``shared``, ``state`` and ``n_reports``: whether other volunteers read it.
    """

    id: int
    task_id: int
    created: datetime
    kind: str
    text: str
    settled: bool
    shared: bool
    state: str
    n_reports: int
    replies: list[Values]
    volunteer: str | None
    info: Json


class ReadComment(TypedDict):
    """A comment as a volunteer reads it, with its ``replies``.

    ``own``: they wrote it. ``shared``: others read it, unless its ``state`` is ``held`` or ``hidden``.
    """

    id: int
    created: datetime
    text: str
    shared: bool
    state: str
    own: bool
    replies: list[Values]


class KnownVolunteer(TypedDict):
    """What is known of a volunteer; figures are None where the project has no label, or nothing is known.

    ``seconds``: the median of their newest answers. ``counts``: answers of theirs count; ``lifted``: because the owner
    has decided so.
    """

    volunteer: str
    gold_right: float | None
    gold_seen: float | None
    peer_right: float | None
    peer_seen: float | None
    accuracy: float | None
    counts: bool
    lifted: bool
    seconds: float | None
    last_active: datetime | None
