"""Rows of what an owner should know before a project is published."""

from __future__ import annotations

from typing import TypedDict


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


class ColumnGap(TypedDict):
    """How many of the newest ``tasks`` lack a column."""

    column: str
    lacking: int
    tasks: int
