"""What an owner does by clicks to rely on answers: declaring the answer, gold tasks by ticks, an analysis; axe finds nothing."""

from __future__ import annotations

import importlib.resources
import re
import uuid
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from support.person import Person
from support.until import until_on

pytestmark = pytest.mark.browser

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '))"""
SAID = (("fox", "fox", "owl"), ("owl", "owl", "owl"), ("fox", "fox", "fox"))
"""What three volunteers say to three tasks."""


@attrs.frozen
class Owner:
    """The pages of an owner, whose tasks have their answers: objects with several keys."""

    page: Any
    project: Any
    at: str
    wrong: list[str]

    def go(self, path: str) -> None:
        self.page.goto(f"{self.at}/{path}")
        self.look()

    def look(self) -> None:
        """Lets axe look at the page as it is now."""
        self.page.evaluate(AXE)
        assert self.page.evaluate(_RUN) == [], self.page.url


@pytest.fixture
def owner(live_server: Any, browser: Any, new_project: Any) -> Iterator[Owner]:
    project = new_project(tasks=3, n_answers=3)
    people = [Person(live_server.url).register(f"person-{uuid.uuid4().hex[:8]}") for _ in range(3)]
    for values in SAID:
        for person, value in zip(people, values, strict=True):
            task = person.api("GET", f"{project.id}/newtask")
            info = {"kind": value, "seconds": 3, "note": f"by {person.name}"}
            person.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": info})
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(project.owner.cookies(live_server.url))
    shown = Owner(context.new_page(), project, f"{live_server.url}/project/{project.short_name}", [])
    shown.page.on("pageerror", lambda error: shown.wrong.append(str(error)))
    yield shown
    assert shown.wrong == []
    context.close()


def consensus(owner: Owner) -> list[Any]:
    """What the last results say at the first answer field, in the order of the tasks."""
    results = owner.project.owner.api("GET", "result", project_id=owner.project.id)
    last = {one["task_id"]: one["consensus"] for one in results if one["last_version"]}
    return [(last[task] or {}).get("kind", {}).get("value") for task in owner.project.tasks]


def test_the_answer_is_declared_then_gold_tasks_are_ticked(owner: Owner) -> None:
    page, tasks = owner.page, owner.project.tasks
    owner.go("answerfields")
    page.get_by_role("button", name=re.compile("Use this.*kind")).click()
    page.get_by_text("What answers contain has been saved.").wait_for()
    owner.look()
    declared = page.get_by_role("table", name="Declared fields").locator("tbody tr")
    assert declared.count() == 1 and "fox" in declared.inner_text() and "9 of 9" in declared.inner_text()
    until_on(page, lambda: consensus(owner) == ["fox", "owl", "fox"], seen=lambda: str(consensus(owner)))
    owner.go("tasks/browse?state=completed")
    for task in tasks[1:]:
        page.get_by_label(f"Task {task}", exact=True).check()
    owner.look()
    page.get_by_role("button", name="Use as gold tasks").click()
    page.wait_for_url("**/tasks/gold/add*")
    owner.look()
    page.get_by_role("button", name="Use as gold tasks").click()
    page.get_by_role("heading", name="2 gold tasks").wait_for()
    owner.look()
    rows = page.get_by_role("table", name="Gold tasks").locator("tbody tr")
    assert {row.split()[0]: row.split()[1] for row in rows.all_inner_texts()} == {
        str(tasks[1]): "owl",
        str(tasks[2]): "fox",
    }


@pytest.mark.proof
def test_an_analysis_is_followed_and_its_labels_are_compared(owner: Owner) -> None:
    page = owner.page
    field = {"name": "kind", "at": "/kind", "type": "label", "choices": ["fox", "owl"]}
    owner.project.owner.api("PUT", f"project/{owner.project.id}", {"info": {"answers": [field]}})
    until_on(page, lambda: consensus(owner) == ["fox", "owl", "fox"], seen=lambda: str(consensus(owner)))
    owner.go("analyses")
    page.get_by_label("Majority").check()
    page.get_by_role("button", name="Start analysis").click()
    page.get_by_text("The analysis has started.").wait_for()
    page.get_by_role("cell", name="Done").wait_for()  # the row follows by itself
    owner.look()
    page.get_by_role("link", name="Majority").click()
    page.get_by_text("The analysis agrees with all results.").wait_for()
    owner.look()
    page.get_by_role("link", name="Show all tasks").click()
    assert page.get_by_role("table", name="Tasks of the analysis").locator("tbody tr").count() == 3
    page.get_by_role("link", name="Accuracy of volunteers").click()
    page.get_by_role("heading", name="Accuracy of volunteers").wait_for()
    owner.look()
    assert page.get_by_role("table", name="Accuracy of volunteers").locator("tbody tr").count() == 3
