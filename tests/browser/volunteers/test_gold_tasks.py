"""Gold tasks: an owner makes them by clicks, and a volunteer hears whether they were right."""

from __future__ import annotations

from typing import Any

import psycopg2
import pytest

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser


@pytest.mark.proof
def test_owner_marks_gold_tasks_and_volunteer_hears_whether_they_were_right(
    stage: Any, browser: Any, live_server: Any, new_project: Any
) -> None:
    stage.mine = project = new_project(tasks=3, n_answers=1)
    source = starters.source("picture")
    for task in project.tasks:
        info = {**starters.samples(source)[0], "title": f"Sample {task}"}
        project.owner.api("PUT", f"task/{task}", {"info": info})
    project.show(task_presenter=stage.fill(source))
    owner = browser.new_context()
    owner.set_default_timeout(60_000)  # a busy machine is no failure
    owner.add_cookies(project.owner.cookies(live_server.url))
    page, at = owner.new_page(), f"{live_server.url}/project/{project.short_name}"
    for task, message in ((project.tasks[0], "Look at the tail."), (project.tasks[1], "")):
        page.goto(f"{at}/tasks/{task}")
        page.get_by_role("link", name="Use as gold task …").click()
        page.get_by_label("Right answer").fill("Yes")
        page.get_by_label("Explanation").fill(message)
        page.get_by_role("button", name="Use as gold task").click()
        page.get_by_text("1 task is a gold task now.").wait_for()
    assert page.get_by_role("heading", name="2 gold tasks").is_visible()
    page.get_by_label("Tell volunteers whether they were right").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The settings for gold tasks have been saved.").wait_for()
    with psycopg2.connect(live_server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE project_ledger SET gold_rate = 1 WHERE project_id = %s", (project.id,))  # no chance here
    stage.go("/project/MINE/newtask")
    frame, feedback = stage.frame(), stage.page.locator("#gold")
    stage.until(lambda: "Sample" in frame.inner_text("#place"))
    stage.page.keyboard.press("1")
    stage.until(lambda: feedback.is_visible() and "That was right." in feedback.inner_text())
    stage.until(
        lambda: "/task/" in stage.page.url and len(stage.runs()) == 1 and "Sample" in frame.inner_text("#place")
    )
    stage.page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before
    stage.page.keyboard.press("2")
    stage.until(lambda: "The right answer is:" in feedback.inner_text() and "Yes" in feedback.inner_text())
    # A key that comes while the next task is loaded answers nothing.
    stage.until(lambda: len(stage.runs()) == 2 and f"Sample {project.tasks[2]}" in frame.inner_text("#place"))
    stage.page.wait_for_timeout(300)
    stage.page.keyboard.press("1")  # an ordinary one: nothing is said
    stage.until(lambda: feedback.is_hidden())
    page.goto(f"{at}/tasks/gold")
    shares = [cell.inner_text() for cell in page.locator("td[data-label=Right]").all()]
    assert sorted(share[:1] for share in shares) == ["0", "1"]  # one of them was right
    page.get_by_role("button", name=f"End gold task {project.tasks[0]}").click()
    page.get_by_text(f"Task {project.tasks[0]} is no longer a gold task.").wait_for()
    assert not stage.console
    owner.close()


def test_the_three_answers_that_may_be_right_are_named(stage: Any) -> None:
    stage.mine.show(task_presenter=stage.fill(starters.source("picture")))
    stage.go("/project/MINE/newtask")
    stage.frame()
    event = "(answers) => document.dispatchEvent(new CustomEvent('presenter:saved', {detail: {task: 1, gold: {is_right: false, answers}}}))"
    for answers, words in (([[]], "Nothing there"), ([None], "Can’t tell"), (["fox", []], "fox · Nothing there")):
        stage.page.evaluate(event, answers)
        assert stage.page.inner_text("#gold-answer") == words
