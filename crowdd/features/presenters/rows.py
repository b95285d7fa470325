"""Types of rows of the page of thanks."""

from __future__ import annotations

from typing import TypedDict

from crowdd.features.projects.rows import ChainStep
from crowdd.kernel.values import Json


class OwnShare(TypedDict):
    """How many of a volunteer's last answers in a project were looked at, and how many of their tasks have a result."""

    recent: int
    settled: int


class OwnReading(TypedDict):
    """A task with a result that a volunteer answered; ``n`` of ``total`` answers say what the result says.

    ``answer`` and ``result`` are values as they are compared, ``same`` if they are equal. ``task_info``: None where it
    is large.
    """

    task_id: int
    task_info: Json
    answer: Json
    result: Json
    same: bool
    n: int
    total: int


class Steps(TypedDict):
    """Projects around one in its chain."""

    steps: list[ChainStep]
