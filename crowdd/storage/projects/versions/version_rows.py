"""Rows that versions of questions and of guides have in common."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.values import Values


class KeptVersion(TypedDict):
    """A version with its document: a list of questions, or a guide."""

    version: int
    created: datetime
    document: Values
