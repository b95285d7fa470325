"""Rows of gold tasks."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.values import Json, Values


class GoldTask(TypedDict):
    """A gold task: the values that are right (``answers``), and how many answers were compared and were right.

    ``rule`` and ``message`` are None where nothing is set. ``by_name``: the account that made it.
    """

    task_id: int
    answers: list[Json]
    rule: Json
    message: str | None
    since: datetime
    by_name: str | None
    n_seen: int
    n_right: int


class GoldValue(TypedDict):
    """How many gold tasks have this first right answer, as JSON text."""

    value: str
    n: int


class PendingGold(TypedDict):
    """An answer to a gold task that is still to be compared, with what is right; both as JSON text, which nobody reads here."""

    project_id: int
    run: int
    info: str
    value: str
    answers: str
    rule: Values


class GoldFigures(TypedDict):
    """How many gold tasks a project has, how tasks are chosen there, and how many volunteers know all of them.

    ``n_others``: tasks that are not gold; ``n_finished``: those of them that are. Both are exact (``shown_figures``).
    """

    n_gold: int
    n_others: int
    n_finished: int
    sched: str
    n_knowing: int
    n_recent: int
