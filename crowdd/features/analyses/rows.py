"""Rows of analyses."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.kernel.values import Json, JsonObject


class AnalysisRow(TypedDict):
    """An analysis. ``state`` is waiting, running, done, failed or cancelled; figures are None until it is done.

    ``done`` of ``total`` steps of its background task (``queue_item``, None once that is forgotten) are behind it.
    """

    id: int
    project_id: int
    method: str
    answers: str
    parameters: JsonObject
    created: datetime
    user_id: int | None
    user_name: str | None
    queue_item: int | None
    state: str
    done: int
    total: int | None
    error: str
    ended: datetime | None
    seconds: float | None
    n_answers: int | None
    n_unfit: int | None
    n_tasks: int | None
    n_volunteers: int | None
    n_different: int | None
    choices: list[Json] | None
    frequencies: list[float] | None
    input_hash: str | None
    versions: JsonObject | None
    rounds: int | None
    converged: bool | None


class TaskEstimate(TypedDict):
    """What an analysis says of a task. ``class``: number of the choice from 1; None: several are equally probable.

    ``text``: what was chosen, of texts.
    ``result``: whether the task has one; ``consensus`` is what stands there now, None if there is none.
    """

    task_id: int
    number: int | None
    posterior: list[float]
    text: str | None
    different: bool
    result: bool
    consensus: Json


class VolunteerEstimate(TypedDict):
    """What an analysis says of a volunteer, by the code of their answers."""

    volunteer: str
    answers: int
    accuracy: float
    skill: float | None


class ItemEstimate(TypedDict):
    """How strong an item is by its comparisons with others.

    ``score``: ln of its strength, 0 on average; ``low`` to ``high`` its 95 % interval (Wald).
    """

    item: str
    score: float
    low: float
    high: float
    chosen: int
    compared: int


@attrs.frozen
class AnswerPiece:
    """The answers to the next tasks: lines of JSON [task, actor, value], by task and answer.

    ``last`` is the last of ``tasks`` tasks, None behind the end. ``unfit`` answers have no value that can be a choice.
    """

    last: int | None
    tasks: int
    fitting: int
    unfit: int
    lines: str | None
