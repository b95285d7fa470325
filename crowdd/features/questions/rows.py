"""Rows of the versions of questions and of guides."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.kernel.values import JsonObject, Values


class GuideVersionSummary(TypedDict):
    """A version of a guide in a list; ``bytes`` is the size of its JSON."""

    version: int
    created: datetime
    bytes: int


class GuideVersion(TypedDict):
    """A version of a guide."""

    version: int
    created: datetime
    document: JsonObject


class QuestionVersion(TypedDict):
    """A list of questions that the project has or had."""

    version: int
    created: datetime


class FilledColumn(TypedDict):
    """A column of tasks: in how many of those that were looked at it has a value."""

    name: str
    filled: int


class KeptVersion(TypedDict):
    """A version with its document: a list of questions, or a guide."""

    version: int
    created: datetime
    document: Values
