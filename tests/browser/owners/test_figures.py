"""Figures and sentences on pages, against what was done before."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def answer(person: Any, project: Any) -> None:
    task = person.ask("GET", f"/api/{project.id}/newtask").json
    body = {"project_id": project.id, "task_id": task["id"], "info": {"answer": "yes"}}
    assert person.ask("POST", "/api/taskrun", body).status == 200


@pytest.mark.proof
def test_bar_label_and_heading_are_one_measure(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=2, n_answers=2)
    ada, page = new_person(), stage.page
    for _ in range(2):
        answer(ada, stage.mine)  # half of the answers, no task finished
    for path, bar in (("", "#figures progress"), ("stats", "progress"), ("newtask", "#progress")):
        stage.go(f"/project/MINE/{path}")
        page.locator(bar).first.wait_for()
        assert page.evaluate("bar => [bar.value, bar.max]", page.query_selector(bar)) == [50, 100], path
        assert "50\u00a0%" in page.inner_text("body")
    stage.go("/project/MINE/")
    assert "0 of 2 tasks are finished" in page.inner_text("#figures")
    stage.go("/project/MINE/stats")
    assert "too few answers for an estimate" in page.inner_text("main")


@pytest.mark.proof
def test_fewer_answers_wanted_do_not_finish_a_project(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=2, n_answers=5)
    first, owner = stage.mine.tasks[0], stage.mine.owner
    for _ in range(4):
        ada = new_person()
        ada.ask("GET", f"/api/{stage.mine.id}/newtask")
        body = {"project_id": stage.mine.id, "task_id": first, "info": 1}
        assert ada.ask("POST", "/api/taskrun", body).status == 200
    for task in stage.mine.tasks:
        owner.api("PUT", f"task/{task}", {"n_answers": 1})
    stage.go("/project/MINE/")
    assert "1 of 2 tasks are finished" in stage.page.inner_text("#figures")
    assert stage.page.get_by_role("link", name="See the results").count() == 0
    assert owner.api("GET", f"project/{stage.mine.id}")["overall_progress"] == 99


def test_the_export_page_counts_what_the_files_hold(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=3, n_answers=1)
    for _ in range(2):
        answer(new_person(), stage.mine)
    stage.mine.owner.api(
        "PUT", f"project/{stage.mine.id}", {"info": {"task_presenter": "x", "answers_when_complete": True}}
    )
    answered = [run["task_id"] for run in stage.runs()]
    for path in ("tasks/export", f"tasks/export?task_ids={answered[0]}"):
        stage.go(f"/project/MINE/{path}")
        rows = stage.page.locator("main ul.list > li")
        counts = {rows.nth(n).locator("h2").inner_text(): rows.nth(n).locator("p.num").inner_text() for n in range(3)}
        for name, type_ in (("Tasks", "task"), ("Answers", "task_run"), ("Results", "result")):
            glue = "&" if "?" in path else "?"
            file = stage.mine.owner.ask("GET", stage.fill(f"/project/MINE/{path}{glue}type={type_}&format=csv"))
            held = len(list(csv.reader(io.StringIO(file.text)))) - 1
            assert counts[name].startswith(f"{held} row"), (path, name, counts)


@pytest.mark.proof
def test_what_happened_is_told_by_what_was_done(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=2, n_answers=1)
    ada, owner = new_person(), stage.mine.owner
    answer(ada, stage.mine)
    post = {"project_id": stage.mine.id, "title": "News", "body": "x", "published": True}
    owner.api("POST", "blogpost", post)
    stage.go("/account/page/1")
    lines = stage.page.locator("[aria-labelledby=latest] li").all_inner_texts()
    about = [line.split("\n")[0] for line in lines if stage.mine.short_name in line]
    assert f"{ada.name} answered in {stage.mine.short_name}" in about
    assert f"{owner.name} answered in {stage.mine.short_name}" not in about
    assert f"{owner.name} published {stage.mine.short_name}" in about
    assert f"{owner.name} wrote about {stage.mine.short_name}" in about


def test_the_first_page_counts_open_projects_and_claims_nothing(stage: Any, new_person: Any, new_project: Any) -> None:
    def figures() -> dict[str, int]:
        stage.go("/")
        pairs = stage.page.locator("dl.figures > div")
        names = [pairs.nth(n).locator("dt").inner_text() for n in range(pairs.count())]
        values = [pairs.nth(n).locator("dd").inner_text().replace(",", "") for n in range(pairs.count())]
        return {name.split()[0].rstrip("s"): int(value) for name, value in zip(names, values, strict=True)}

    done = new_project(tasks=1, n_answers=1)
    stage.mine = new_project(tasks=1, n_answers=1)
    answer(new_person(), stage.mine)
    before = figures()
    ada = new_person()  # somebody who has not answered is nobody who has
    draft = ada.api("POST", "project", {"name": f"d-{ada.name}", "short_name": f"d-{ada.name}", "description": "d"})
    ada.api("POST", "task", {"project_id": draft["id"], "info": {}})
    trial = ada.ask("GET", f"/api/{draft['id']}/newtask").json
    assert ada.ask("POST", "/api/taskrun", {"project_id": draft["id"], "task_id": trial["id"], "info": 1}).status == 200
    assert figures() == before
    answer(ada, done)
    after = figures()
    assert after["answer"] == before["answer"] + 1 and after["public"] == before["public"] - 1
    text = stage.page.inner_text("body")
    for claim in ("real research", "Four thousand", "three minutes", "half a minute", "needs no account"):
        assert claim not in text
