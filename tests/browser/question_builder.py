"""The page of the builder of questions, for tests by mouse and by keyboard."""

from __future__ import annotations

import json
from typing import Any

AT = "/project/MINE/tasks/taskpresentereditor?part=questions"


def build(stage: Any, new_project: Any, document: Any = None) -> Any:
    """The page of the builder in a new project of the owner, with these questions or none."""
    stage.begin()
    stage.mine = new_project(n_answers=2)
    stage.sign_in(stage.mine.owner)
    if document is not None:
        stage.mine.show(questions=document, task_presenter=None)
    stage.go(AT)
    stage.page.locator(".b-toolbar").wait_for()
    return stage.page


def written(page: Any) -> Any:
    """The questions as the form would send them."""
    return json.loads(page.locator("#questions").input_value())


def stored(stage: Any) -> Any:
    return stage.mine.owner.api("GET", f"project/{stage.mine.id}")["info"]


def status(stage: Any, words: str) -> None:
    def told() -> bool:
        return bool(stage.page.locator(".b-status").inner_text() == words)

    stage.until(told)


def add(page: Any, place: Any, kind: str, words: str = "Add a question") -> None:
    """Adds an entry of a type by the catalogue."""
    place.get_by_role("button", name=words, exact=True).last.click()
    page.locator(f"dialog[open] .b-tile[data-type={kind}]").click()
