"""Rows about the questions of a project."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict


class QuestionVersion(TypedDict):
    """A list of questions that the project has or had."""

    version: int
    created: datetime


class FilledColumn(TypedDict):
    """A column of tasks: in how many of those that were looked at it has a value."""

    name: str
    filled: int
