"""What the figures of both servers say after a move-in."""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.database.access import Database
from crowdd.features.movein import statements

_SHOWN: Final = 20


@attrs.frozen
class ProjectDifference:
    """A project whose rows did not all come over."""

    id: int
    tasks: int
    tasks_here: int
    answers: int
    answers_here: int


@attrs.frozen
class Place:
    """A place on PyBossa's leaderboard: the answers there, all answers here, and the score here."""

    user_id: int
    answers: int
    answers_here: int
    score: int


@attrs.frozen
class Comparison:
    """Projects and users by whether their figures agree; the first of those that differ; the leaderboard.

    ``missing_tasks`` and ``missing_answers`` are the sums of all differences of projects: as many as were refused.
    """

    projects_same: int
    projects_differ: int
    users_same: int
    users_differ: int
    missing_tasks: int
    missing_answers: int
    projects: list[ProjectDifference]
    leaderboard: list[Place]


async def compare(db: Database, projects: dict[int, tuple[int, int]], users: dict[int, int]) -> Comparison:
    """Compares tasks and answers of PyBossa's projects, and answers of its users, with what is here."""
    here = {each.id: (each.tasks, each.answers) for each in await statements.list_project_figures(db)}
    theirs = {each.id: (each.answers, each.score) for each in await statements.list_user_figures(db)}
    pairs = [
        (project_id, pybossa_counts, here.get(project_id, (0, 0))) for project_id, pybossa_counts in projects.items()
    ]
    differ = [
        ProjectDifference(i, pybossa_counts[0], local_counts[0], pybossa_counts[1], local_counts[1])
        for i, pybossa_counts, local_counts in pairs
        if pybossa_counts != local_counts
    ]
    same_users = sum(theirs.get(user_id, (0, 0))[0] == n for user_id, n in users.items())
    first = sorted(users.items(), key=lambda pair: (-pair[1], pair[0]))[:_SHOWN]
    return Comparison(
        projects_same=len(pairs) - len(differ),
        projects_differ=len(differ),
        users_same=same_users,
        users_differ=len(users) - same_users,
        missing_tasks=sum(each.tasks - each.tasks_here for each in differ),
        missing_answers=sum(each.answers - each.answers_here for each in differ),
        projects=differ[:_SHOWN],
        leaderboard=[Place(user_id, n, *theirs.get(user_id, (0, 0))) for user_id, n in first],
    )
