"""The review in a browser: deciding tasks by keys alone, comparing settings, and barring a spammer; axe finds nothing."""

from __future__ import annotations

import importlib.resources
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from support.person import Person

pytestmark = pytest.mark.browser

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '))"""
LABEL = {"name": "kind", "at": "/answer", "type": "label", "choices": ["fox", "owl"], "unsure": None}
SHOWN = (
    "<h1 id=q></h1><script>pybossa.presentTask((task) => {document.getElementById('q').textContent = 'Task ' + task.info.n});"
    "pybossa.run('x')</script>"
)


class Review:
    """The pages of an owner whose tasks three people have answered; the last one says fox each time."""

    def __init__(self, page: Any, url: str, project: Any, spammer: Any) -> None:
        self.page, self.project, self.spammer = page, project, spammer
        self.at = f"{url}/project/{project.short_name}"
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.wrong.append(message.text))

    def faults(self) -> list[str]:
        self.page.evaluate(AXE)
        return list(self.page.evaluate(_RUN))


@pytest.fixture
def review(live_server: Any, browser: Any, new_project: Any) -> Iterator[Review]:
    project = new_project(tasks=3, n_answers=3)
    owner = project.owner
    owner.api("PUT", f"project/{project.id}", {"info": {"task_presenter": SHOWN, "answers": [LABEL]}})
    people = [Person(live_server.url).register(f"person-{uuid.uuid4().hex[:8]}") for _ in range(3)]
    for nth in range(3):
        for person, value in zip(people, ("owl", "owl", "fox") if nth else ("owl", "fox", None), strict=True):
            task = person.api("GET", f"{project.id}/newtask")
            answer = {"project_id": project.id, "task_id": task["id"], "info": {"answer": value}}
            person.api("POST", "taskrun", answer)
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(owner.cookies(live_server.url))
    shown = Review(context.new_page(), live_server.url, project, people[2])
    yield shown
    assert shown.wrong == []
    context.close()


def test_tasks_are_decided_by_keys_alone(review: Review) -> None:
    page, tasks = review.page, review.project.tasks
    page.goto(f"{review.at}/review")
    assert review.faults() == []
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/review/{tasks[0]}")
    page.frame_locator("#review-task iframe").get_by_text("Task 0").wait_for()
    assert review.faults() == []
    page.locator("#review-keys-open").wait_for()
    page.keyboard.press("?")
    assert page.locator("#review-keys kbd").all_inner_texts()[:3] == ["1", "2", "3"]
    assert review.faults() == []
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    for key in ("2", "s", "?"):
        page.keyboard.press(key)
    assert not page.locator("#review-second").is_checked() and not page.locator("#review-keys").is_visible()
    page.reload()  # the choice stays
    page.locator("#review-keys-open").click()
    assert not page.get_by_label("Use these keys").is_checked()
    page.get_by_label("Use these keys").check()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.wait_for_url(f"**/review/{tasks[1]}")
    assert page.get_by_text("The task is decided.").count() == 1
    page.keyboard.press("s")
    assert page.locator("#review-second").is_checked()
    page.keyboard.press("1")
    page.wait_for_url(f"**/review/{tasks[2]}")
    page.keyboard.press("g")
    assert page.locator("#review-gold").is_checked()
    page.keyboard.press("2")
    page.wait_for_url("**/review")
    assert page.get_by_text("Nothing to review").count() == 1
    rows = review.project.owner.api("GET", "result", project_id=review.project.id)
    results = {one["task_id"]: one for one in rows if one["last_version"]}
    assert [(results[task]["reason"], results[task]["consensus"]["kind"]["value"]) for task in tasks] == [
        ("expert", "owl"), ("full", "owl"), ("expert", "owl"),
    ]  # fmt: skip
    page.goto(f"{review.at}/tasks/gold")
    assert page.locator("tbody th").all_inner_texts() == [str(tasks[2])]
    assert review.faults() == []


@pytest.mark.proof
def test_settings_are_compared_and_a_spammer_is_barred(review: Review) -> None:
    page = review.page
    page.goto(f"{review.at}/adaptive")
    assert review.faults() == []
    page.get_by_label("Stop early when volunteers agree").check()
    page.get_by_role("spinbutton", name="Model value (%)").fill("80")
    page.get_by_role("button", name="Compare settings").click()
    page.get_by_text("With these settings you would have needed").wait_for()
    assert page.get_by_role("table", name="What other settings would have done").locator("tbody tr").count() == 4
    assert review.faults() == []
    page.get_by_role("button", name="Show effect").click()
    page.locator("[role=status] .flash").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("The settings are saved.").wait_for()
    page.goto(f"{review.at}/volunteers")
    assert review.faults() == []
    page.locator("tr", has_text=review.spammer.name).get_by_role("link", name="Block").click()
    page.get_by_role("button", name="Block volunteer", exact=True).click()
    page.get_by_text("The volunteer is blocked.").wait_for()
    assert page.locator("tr", has_text=review.spammer.name).get_by_text("Blocked").count() >= 1
