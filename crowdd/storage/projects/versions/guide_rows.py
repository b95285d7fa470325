"""Rows of the versions of guides."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.values import JsonObject


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
