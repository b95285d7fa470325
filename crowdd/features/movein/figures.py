"""What the figures of both servers say after a move-in, and which differences the rows that were refused explain."""

from __future__ import annotations

from collections import Counter
from typing import Final

import attrs

from crowdd.database.access import Database
from crowdd.features.movein import statements
from crowdd.features.movein.files import Aside
from crowdd.features.movein.statements import Pybossa

_SHOWN: Final = 20
_AT_ONCE: Final = 10_000


@attrs.frozen
class ProjectDifference:
    """A project whose figures differ. ``explained``: by exactly its rows that were refused."""

    id: int
    tasks: int
    tasks_here: int
    answers: int
    answers_here: int
    explained: bool


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

    ``projects_explained``, ``users_explained``: how many of those that differ do so by exactly the rows that were
    refused, or because the user did not come over. ``projects`` begins with those that nothing explains.
    ``missing_tasks`` and ``missing_answers`` are the sums of all differences of projects.
    """

    projects_same: int
    projects_differ: int
    projects_explained: int
    users_same: int
    users_differ: int
    users_explained: int
    missing_tasks: int
    missing_answers: int
    projects: list[ProjectDifference]
    leaderboard: list[Place]


@attrs.frozen
class Absent:
    """How many rows of PyBossa are not here: by project, and by user for those who came over."""

    tasks: Counter[int]
    answers: Counter[int]
    of_users: Counter[int]
    users_here: set[int]


async def compare(db: Database, source: Pybossa, aside: Aside) -> Comparison:
    """Compares tasks and answers of PyBossa's projects, and answers of its users, with what is here."""
    projects, users = await aside(source.figures)
    here = {each.id: (each.tasks, each.answers) for each in await statements.list_project_figures(db)}
    theirs = {each.id: (each.answers, each.score) for each in await statements.list_user_figures(db)}
    other_projects = {i: figures for i, figures in projects.items() if figures != here.get(i, (0, 0))}
    other_users = {i: n for i, n in users.items() if n != theirs.get(i, (0, 0))[0]}
    absent = await _count_absent(db, source, aside) if other_projects or other_users else None
    differ = [_difference(i, figures, here.get(i, (0, 0)), absent) for i, figures in other_projects.items()]
    first = sorted(users.items(), key=lambda pair: (-pair[1], pair[0]))[:_SHOWN]
    return Comparison(
        projects_same=len(projects) - len(differ),
        projects_differ=len(differ),
        projects_explained=sum(each.explained for each in differ),
        users_same=len(users) - len(other_users),
        users_differ=len(other_users),
        users_explained=sum(_explains(absent, i, n, theirs.get(i, (0, 0))[0]) for i, n in other_users.items()),
        missing_tasks=sum(each.tasks - each.tasks_here for each in differ),
        missing_answers=sum(each.answers - each.answers_here for each in differ),
        projects=sorted(differ, key=lambda each: each.explained)[:_SHOWN],
        leaderboard=[Place(user_id, n, *theirs.get(user_id, (0, 0))) for user_id, n in first],
    )


def _difference(
    project_id: int, there: tuple[int, int], here: tuple[int, int], absent: Absent | None
) -> ProjectDifference:
    refused = (absent.tasks[project_id], absent.answers[project_id]) if absent else (0, 0)
    explained = (there[0] - here[0], there[1] - here[1]) == refused
    return ProjectDifference(project_id, there[0], here[0], there[1], here[1], explained)


def _explains(absent: Absent | None, user_id: int, there: int, here: int) -> bool:
    """Whether exactly the answers that were refused are missing. Those of a user who is not here have no account."""
    if absent is None or user_id not in absent.users_here:
        return here == 0
    return there - here == absent.of_users[user_id]


async def _count_absent(db: Database, source: Pybossa, aside: Aside) -> Absent:
    """Looks for every task, answer and user of PyBossa. Ids stay, so those that are not here were refused."""
    absent = Absent(Counter(), Counter(), Counter(), set())
    for table, by_project in (("task", absent.tasks), ("task_run", absent.answers)):
        last = 0
        while rows := await aside(source.placed_after, table, last, _AT_ONCE):
            last = rows[-1]["id"]
            here = await statements.find_existing_ids(db, table, [row["id"] for row in rows])
            missing = [row for row in rows if row["id"] not in here]
            by_project.update(row["project_id"] for row in missing)
            absent.of_users.update(row["user_id"] for row in missing if table == "task_run")
            people = {row["user_id"] for row in rows} - absent.users_here - {None}
            absent.users_here.update(await statements.find_existing_ids(db, "account", sorted(people)))
    return absent
