"""Who sees the answers to which tasks of a project."""

from __future__ import annotations

from crowdd.kinds.roles import OWNERS
from crowdd.storage.projects.rows import ProjectPage


def complete_only(row: ProjectPage) -> bool:
    """Whether those who see a project (its row) see the answers to its complete tasks only."""
    return row["info"].get("answers_when_complete") is True and not row["roles"] & OWNERS
