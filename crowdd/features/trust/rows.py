"""Rows of the review, and of what is known of volunteers."""

from __future__ import annotations

from datetime import datetime
from typing import NotRequired, TypedDict

import attrs

from crowdd.kernel.values import Json


class ReviewedTask(TypedDict):
    """A completed task in the queue with its last result; ``class_`` is None if several are as probable, or none is.

    ``opinions``: how many people have said what they think while a second opinion is wanted; ``comments``: open ones.
    """

    result_id: int
    task_id: int
    class_: int | None
    confidence: float | None
    model: float | None
    agreement: float | None
    reason: str | None
    answers: int
    opinions: int
    comments: int
    info: Json


class ReviewCounts(TypedDict):
    """How many tasks wait, each counted up to a bound: without an answer that fits, unsure, for an opinion, commented."""

    none: int
    full: int
    sure: int
    opinions: int
    commented: int


class ReviewCase(TypedDict):
    """The last result of a completed task, with the choices of its project.

    ``added`` is what its posterior is made of (result.log_likelihoods); ``decided``: what an expert answered. Without a
    label there are no choices, and a reason only once an expert has decided.
    """

    result_id: int
    task_id: int
    version: int
    class_: int | None
    confidence: float | None
    model: float | None
    agreement: float | None
    reason: str | None
    posterior: list[float] | None
    added: list[float] | None
    task_run_ids: list[int]
    choices: list[Json]
    decided_by: int | None
    decided_name: str | None
    decided_at: datetime | None
    decided: Json


class ReviewOpinion(TypedDict):
    """What somebody thinks of a task for which a second opinion is wanted; ``class_`` None: they have only asked."""

    user_id: int
    user_name: str
    class_: int | None
    at: datetime


@attrs.frozen
class Decided:
    """What became of a decision; ``result`` is the last result of the task now."""

    state: str
    result: int | None


class ReplayedRun(TypedDict):
    """An answer of one of the tasks that are replayed. ``class_`` is from 1; ``network`` is None for people with an account.

    ``truth``: the class that an expert said of the task, if its result was drawn at random.
    """

    task_id: int
    result_class: int | None
    expert: bool
    truth: int | None
    actor: str
    class_: int
    network: str | None
    gold_right: float
    gold_seen: float


class TrustFigures(TypedDict):
    """How the tasks of a project stopped: ``tasks`` with answers that fit, by reason. ``min_answers`` is None while redundancy
    is not adaptive. ``below_maximum``: how many answers less than their maximum they have. ``answers`` and ``completed`` are those of the project, ``mean_answers`` of the
    newest 20,000 results. ``accuracy`` was learned of ``judged`` answers.
    """

    min_answers: int | None
    confidence: float | None
    choices: list[Json]
    guarded: bool
    accuracy: float
    judged: int
    tasks: int
    below_maximum: int
    sure: int
    full: int
    none: int
    expert: int
    answers: int
    completed: int
    mean_answers: float | None
    gold_seen: float


class CheckedResult(TypedDict):
    """What a result said before an expert decided: how sure it was, and whether it said the same."""

    confidence: float
    right: bool


class ReviewedRun(TypedDict):
    """An answer to a task that is reviewed; ``accuracy`` is that of its volunteer, None while nothing is known."""

    id: int
    class_: int | None
    info: Json
    counted: bool
    unreliable: bool
    volunteer: str | None
    accuracy: float | None


class GoldRun(TypedDict):
    """An answer to a gold task, with what is known of its volunteer; ``class_`` counts from 1, as do the right ``truths``."""

    task_id: int
    truths: list[int]
    class_: int
    actor: str
    network: str
    known: bool
    says: list[float]


class SampledResult(TypedDict):
    """A result that was drawn at random: what it says, and what an expert ``decided`` without seeing it; None: not yet."""

    task_id: int
    class_: int
    confidence: float
    decided: int | None
    drawn: datetime


class CheckedPair(TypedDict):
    """How often (``n``) a choice was ``said`` where another one is the ``truth``, both numbers from 1; ``by``: see CheckedAgreement."""

    by: str
    truth: int
    said: int
    n: int


MIN_MEASURED = 50
"""So many results with a known truth are needed to measure how often others are right."""


class Recalibration(TypedDict):
    """A curve through points, straight between them: of the model's ``values`` which ``shares`` are right.

    ``method`` is platt or isotonic. ``n`` results tell, ``right`` of them were right. ``loss`` is the mean -ln of what
    it said of those left out, ``raw_loss`` that of the model's values. ``at``: since when it holds. ``told``: up to
    which result those who follow changes have been told; left out when they all have.
    """

    method: str
    n: int
    right: float
    values: list[float]
    shares: list[float]
    loss: float
    raw_loss: float
    at: NotRequired[str]
    told: NotRequired[int]
