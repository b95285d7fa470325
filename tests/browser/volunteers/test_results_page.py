"""The page of results that every project has: readable answers, their shares, and nothing for those who may not see them."""

from __future__ import annotations

from typing import Any

import pytest
from support.checks.shows import shows

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser


def answer(people: list[Any], project: Any, words: list[Any]) -> None:
    for person, info in zip(people, words, strict=True):
        task = person.ask("GET", f"/api/{project.id}/newtask").json["id"]
        body = {"project_id": project.id, "task_id": task, "info": info}
        assert person.ask("POST", "/api/taskrun", body).status == 200


@shows("page-results")
def test_finished_tasks_are_drawn_with_the_shares_of_their_answers(
    stage: Any, new_person: Any, new_project: Any
) -> None:
    stage.mine = new_project(tasks=3, n_answers=3)
    owner, page = stage.mine.owner, stage.page
    stage.mine.show(task_presenter=starters.source("picture"))
    first, second, _ = stage.mine.tasks
    owner.api("PUT", f"task/{first}", {"info": {"title": "<b>Moth</b> 1", "secret": "for the owner"}})
    stage.go("/project/MINE/results")
    assert page.inner_text("main h2") == "No task is finished yet" and page.locator(".tabs").count() == 1
    people = [new_person() for _ in range(3)]
    answer(people, stage.mine, [{"answer": "Cinnabar"}, {"answer": "Cinnabar"}, {"answer": "Heath"}])
    answer(people, stage.mine, [{"answer": None}, {"answer": "by hand"}, {"answer": {"boxes": [1]}}])
    answer(people[:1], stage.mine, [{"answer": "unfinished"}])
    stage.page.emulate_media(color_scheme="dark")
    stage.go("/project/MINE/results")
    rows = page.locator(".outcomes > li")
    texts = rows.all_inner_texts()
    assert len(texts) == 2 and "tasks with a result" in page.inner_text("main")
    assert f"Task {second}" in texts[0] and "Can’t tell" in texts[0] and "by hand" in texts[0] and "\n1\t" in texts[0]
    lines = rows.nth(1).locator("tbody tr").all_inner_texts()
    assert [line.split() for line in lines] == [
        ["Cinnabar", "67", "%", "2", "of", "3"],
        ["Heath", "33", "%", "1", "of", "3"],
    ]
    assert "<b>Moth</b> 1" in texts[1] and "for the owner" not in page.inner_text("main")
    assert page.get_by_role("link", name="Export").get_attribute("href").endswith("/tasks/export")
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert background not in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)") and stage.console == []
    bars = page.get_by_role("table", name="Tasks by their most frequent answer").locator("tbody tr")
    assert [line.split() for line in bars.all_inner_texts()] == [
        ["Cinnabar", "1", "50", "%"],
        ["No", "single", "winner", "1", "50", "%"],
    ]
    bars.first.get_by_role("link").click()
    page.get_by_role("link", name="Show all").wait_for()
    assert rows.count() == 1 and "Cinnabar" in rows.inner_text()
    rows.get_by_role("link").click()
    page.wait_for_url(f"**/tasks/{first}")

    owner.api("PUT", f"project/{stage.mine.id}", {"zip_download": False})
    stage.go("/project/MINE/results")
    assert page.inner_text("main h2") == "The answers are not public" and "Cinnabar" not in page.inner_text("body")
    stage.sign_in(owner)
    stage.go("/project/MINE/results")
    assert "Cinnabar" in page.inner_text("main")


@shows("page-results")
def test_a_page_of_an_owners_own_takes_its_place(stage: Any) -> None:
    stage.mine.show(results="<h1>Mine</h1>")
    stage.go("/project/MINE/results")
    stage.until(lambda: stage.frame().inner_text("h1") == "Mine")


@pytest.mark.proof
@shows("page-results")
def test_results_come_page_by_page(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=22, n_answers=1)
    ada = new_person()
    for number in range(22):
        answer([ada], stage.mine, [{"answer": f"No. {number}"}])
    stage.go("/project/MINE/results")
    assert stage.page.locator(".outcomes > li").count() == 20
    stage.page.get_by_role("link", name="Show more").click()
    stage.page.get_by_role("link", name="First page").wait_for()
    texts = stage.page.locator(".outcomes > li").all_inner_texts()
    assert len(texts) == 2 and "No. 0" in texts[-1] and stage.page.get_by_role("link", name="Show more").count() == 0
