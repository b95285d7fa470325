"""Rows of what answers say together: of a task, and of all tasks of a project."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.kernel.values import Json, Values


class Vote(TypedDict):
    """A value among the answers to a task and how many gave it (``n``); ``counts`` are those of all values, sorted."""

    key: str | None
    value: Json
    n: int
    counts: list[int]


class FinishedVote(TypedDict):
    """An answer to a finished task, and how many gave it."""

    answer: Json
    n: int


class ChoiceProbability(TypedDict):
    """How probable it is that a choice is right."""

    value: Json
    probability: float


class Said(TypedDict):
    """What answers to a task say together: at the first field, and in ``further`` at the others (None: there are none).

    ``won`` says whether they have a consensus, ``short`` whether it is kept. Without an answer that could be compared,
    ``n_compared`` is 0; None while they are still to be compared. ``failed``: some could not be compared so far.
    ``model``: how probable the model of the volunteers says the consensus of the first field is; ``confidence`` is then
    what was measured of it, None while nothing was.
    """

    consensus: Json
    won: bool
    short: bool
    n_compared: int | None
    agreement: float | None
    confidence: float | None
    model: float | None
    further: list[Values | None] | None
    failed: bool


class FinishedTask(Said):
    """A result with its task and the most frequent answers; ``info`` is None where it is large.

    ``reason``: why the task was complete; None where the first answer field is no label.
    """

    id: int
    task_id: int
    info: Json
    task_info: Json
    reason: str | None
    votes: list[FinishedVote]
    total: int
    kinds: int


class Outcome(TypedDict):
    """A value that is the most frequent among the answers to ``n`` tasks; ``short`` is false for one that is not kept."""

    answer: Json
    short: bool
    n: int


class ResultSummary(TypedDict):
    """What the last results of a project say together at an answer field, or at the value by which answers are compared.

    ``several`` are those of two answers or more: their mean ``agreement`` and how many are ``unanimous``. ``bands`` are
    those of them with an agreement of 0, 0.5, 0.75 and 1 at least. ``tied`` have no most frequent value, ``unanswered`` none
    that could be compared. ``kinds`` is how
    many different values won, None for more than are counted by themselves; ``outcomes`` are the most frequent of them, and
    ``others`` tasks have another one. ``pending`` are still to be compared; ``due``: older ones are compared again.
    """

    tasks: int
    answers: int
    several: int
    agreement: float | None
    unanimous: int
    bands: list[int]
    tied: int
    unanswered: int
    pending: int
    kinds: int | None
    others: int
    outcomes: list[Outcome]
    due: bool


class BinnedAnswer(TypedDict):
    """A value that won; ``short`` is false for one that is not kept."""

    answer: Json
    short: bool


class PlaceBin(TypedDict):
    """``n`` tasks at about the longitude ``x`` and the latitude ``y``, with the answer ``group`` of ResultBins."""

    x: float
    y: float
    group: int
    n: int


class TimeBin(TypedDict):
    """``n`` tasks of a century, decade, year, month or day: ``time`` is the beginning of its date, of 2, 3, 4, 7 or 10 characters."""

    time: str
    group: int
    n: int


class ResultBins(TypedDict):
    """Last results by place and date, of each ``step``-th task: ``tasks`` in all.

    A ``group`` is the place of its answer in ``answers``; the next number stands for all other answers, the one after it for none.
    """

    step: int
    tasks: int
    answers: list[BinnedAnswer]
    places: list[PlaceBin]
    times: list[TimeBin]


class ResultRow(TypedDict):
    """The columns of the kind that never change, without ``info``, which may be large, and ``consensus``."""

    id: int
    created: datetime
    project_id: int
    task_id: int
    task_run_ids: list[int]
    last_version: bool


class ResultFate(TypedDict):
    """What would become of an exported result."""

    result_id: int | None
    fate: str


class AgreementMeasure(TypedDict):
    """A coefficient of agreement, with the interval that 95 % of the draws lie in; None where it is not defined.

    ``name``: alpha_nominal, alpha_ordinal, alpha_interval, alpha_ratio, fleiss_kappa, gwet_ac1 or gwet_ac2. It rests on
    ``answers`` to ``tasks``.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    tasks: int
    answers: int


class ClassAgreement(TypedDict):
    """A choice that ``answers`` say: how often another answer to the task says it, too."""

    value: Json
    answers: int
    agreement: float | None
    low: float | None
    high: float | None


class PairAgreement(TypedDict):
    """Two volunteers, by their codes, who say the same of ``same`` of the ``tasks`` that both answered."""

    volunteers: list[str]
    tasks: int
    same: int
    low: float
    high: float


class DifficultTask(TypedDict):
    """A task: the share of pairs of its ``answers`` that differ."""

    task_id: int
    answers: int
    difficulty: float


class CheckedShare(TypedDict):
    """``right`` of ``n``, and between which shares the true one lies with 95 % (Wilson 1927). None without any."""

    right: int
    n: int
    share: float | None
    low: float | None
    high: float | None


class CheckedClass(TypedDict):
    """A choice: how many of those that say it are right, and of how many where it is right they say it."""

    value: Json
    precision: CheckedShare
    recall: CheckedShare


class CheckedAgreement(TypedDict):
    """What is right against what was said. ``by``: gold (answers to gold tasks), sample (results that were drawn at
    random, by experts) or experts (all results that they have decided, mostly doubtful ones).

    ``confusion``: how many say a choice (column) where another one (row) is right, in the order of ``classes``.
    """

    by: str
    accuracy: CheckedShare
    classes: list[CheckedClass]
    confusion: list[list[int]]


class AgreementFigures(TypedDict):
    """How far volunteers agree, by an analysis of the answers to ``tasks`` with two ``answers`` or more.

    ``at``: when; ``pairs`` and ``difficult`` are for owners.
    """

    analysis_id: int
    at: datetime | None
    tasks: int
    answers: int
    measures: list[AgreementMeasure]
    classes: list[ClassAgreement]
    pairs: list[PairAgreement]
    difficult: list[DifficultTask]
    checked: list[CheckedAgreement]


class SuggestionOutcomes(TypedDict):
    """What became of suggestions for a question that were shown; ``seconds``: the median until that."""

    name: str
    accepted: int
    changed: int
    rejected: int
    seconds: float | None


class SuggestedAnswer(TypedDict):
    """What was answered to a question and what had been suggested for it; null for nothing."""

    name: str
    shown: bool
    answer: Json
    suggested: Json


class AnswerSample(TypedDict):
    """An answer that counts."""

    task_id: int
    info: Json


class ResultSample(TypedDict):
    """What the answers to a task say at each declared field, as in ``result.further``; None: they are still to be compared."""

    task_id: int
    said: list[Values | None]
