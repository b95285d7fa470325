"""The steps from a new project to a published one. Each is a page that can be left out and taken up again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

import attrs

from crowdd.features.questions.questions import data_page
from crowdd.kinds.questions.validation import asks

Name = Literal["ask", "tasks", "redundancy", "visibility", "try", "publish"]


@attrs.frozen
class Step:
    """``ready``: whether the page has something to show yet; ``done``: whether anything is left to do there."""

    name: Name
    address: str
    ready: bool
    done: bool


_PAGES: Final[Mapping[Name, str]] = {
    "ask": "tasks/taskpresentereditor",
    "tasks": "tasks/import",
    "redundancy": "tasks/redundancy",
    "visibility": "settings#visibility",
    "try": "newtask",
    "publish": "publish",
}


def draft_steps(project: Mapping[str, Any], n_tasks: int | None, n_task_runs: int | None) -> list[Step]:
    """The steps of a draft, in their order."""
    at = f"/project/{quote(project['short_name'])}/"
    does_ask, has_tasks = asks(project.get("info") or {}), bool(n_tasks)
    ready: dict[Name, bool] = {"redundancy": has_tasks, "try": does_ask and has_tasks}
    done: dict[Name, bool] = {"ask": does_ask, "tasks": has_tasks, "redundancy": has_tasks, "try": bool(n_task_runs)}
    done["visibility"] = does_ask  # it is open, or closed where people say what they think; publishing names it
    pages = {**_PAGES, "tasks": data_page(project.get("info") or {})}
    return [Step(name, at + page, ready.get(name, True), done.get(name, False)) for name, page in pages.items()]


def next_step(steps: list[Step], here: str) -> Step | None:
    """The step that a page leads on to: the next that is ready; from a page that is no step, the first not done."""
    names = [step.name for step in steps]
    if here in names:
        return next((step for step in steps[names.index(here) + 1 :] if step.ready), None)
    return next((step for step in steps if step.ready and not step.done), None)
