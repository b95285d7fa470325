"""The tasks in a volunteer's hands: skipped by the page, given back when it is closed, kept while somebody looks at it."""

from __future__ import annotations

from typing import Any

import psycopg2
import pytest
from presenters import SIMPLE

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser
HIDE = (
    "how => { Object.defineProperty(document, 'hidden', {value: how, configurable: true});"
    " document.dispatchEvent(new Event('visibilitychange')) }"
)


@pytest.fixture
def leases(live_server: Any) -> Any:
    """The leases of a task as (actor, seconds left)."""

    def of(task: int) -> list[tuple[str, float]]:
        return run("SELECT actor, extract(epoch FROM expires - clock())::float8 FROM lease WHERE task_id = %s", task)

    def run(statement: str, *values: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    connection = psycopg2.connect(live_server.dsn, options="-c search_path=public,code")
    connection.autocommit = True
    of.run = run
    yield of
    connection.close()


def shown(stage: Any, frame: Any = None) -> int:
    """The task that the page shows."""
    stage.until(lambda: "/task/" in stage.page.url and stage.page.is_visible("#skip"))
    return int(stage.page.url.rpartition("/")[2])


def open_page(stage: Any, path: str = "/project/MINE/newtask") -> int:
    stage.show(SIMPLE, path)
    return shown(stage)


def test_the_page_skips_for_presenters_that_know_nothing_of_it(stage: Any, leases: Any) -> None:
    first, second, _ = stage.mine.tasks
    assert open_page(stage) == first
    stage.page.click("#skip")
    stage.page.click("text=It is broken")
    stage.until(lambda: stage.page.url.endswith(f"/task/{second}"))
    assert leases(first) == []
    assert leases.run("SELECT reason, n FROM task_skip WHERE task_id = %s", first) == [("broken", 1)]
    stage.page.focus("#leave")
    stage.page.keyboard.press("s")
    stage.page.locator("#why").wait_for()
    stage.page.keyboard.press("Escape")  # stays
    assert leases(second) and stage.page.url.endswith(f"/task/{second}")
    stage.page.keyboard.press("s")
    stage.page.locator("#why").wait_for()
    stage.page.keyboard.press("Enter")  # the focus is on the first reason: none
    stage.until(lambda: stage.page.url.endswith(f"/task/{stage.mine.tasks[2]}"))
    stage.until(lambda: leases(second) == [])
    assert leases.run("SELECT reason, n FROM task_skip WHERE task_id = %s", second) == [("none", 1)]
    stage.page.click("#skip")
    stage.page.click("text=Just not this one")
    stage.until(lambda: stage.page.url.endswith(f"/task/{first}"))  # what was skipped first comes first again


def test_a_closed_page_gives_back_all_that_it_had(stage: Any, leases: Any, new_person: Any) -> None:
    first, second, _ = stage.mine.tasks
    open_page(stage)
    stage.until(lambda: second in stage.handed())  # it is kept ready
    assert leases(first) and leases(second)
    stage.go("/project/MINE/")
    stage.until(lambda: not leases(first) and not leases(second))
    (released,) = [asked for asked in stage.asked() if asked.path.endswith("/release")]
    assert released.header("x-csrftoken") and released.header("content-type") == "application/json"
    stage.go("/project/MINE/newtask")
    assert shown(stage) == first  # who comes back gets it again


def test_a_page_that_is_looked_at_keeps_its_task(stage: Any, leases: Any) -> None:
    task = open_page(stage)
    leases.run("UPDATE lease SET expires = clock() + interval '5 seconds' WHERE task_id = %s", task)
    stage.page.evaluate("performance.now = () => 1e9")  # some time has gone by
    stage.page.evaluate(HIDE, True)
    stage.settle(0.5)
    assert leases(task)[0][1] <= 5  # nobody looks at it
    stage.page.evaluate(HIDE, False)
    stage.until(lambda: leases(task)[0][1] > 3000)
    assert stage.page.is_hidden("#lapsed")


def test_who_lost_his_task_is_told_and_loses_no_answer(
    stage: Any, leases: Any, new_person: Any, new_project: Any
) -> None:
    stage.mine = new_project(tasks=1, n_answers=1)
    task = open_page(stage)
    leases.run("UPDATE lease SET expires = clock() - interval '1 second' WHERE task_id = %s", task)
    assert new_person().ask("GET", f"/api/{stage.mine.id}/newtask").json["id"] == task
    stage.page.evaluate("performance.now = () => 1e9")
    stage.page.evaluate(HIDE, False)
    stage.until(lambda: stage.page.is_visible("#lapsed"))
    stage.frame().click("button")
    stage.until(lambda: len(stage.runs()) == 1)
    stage.until(lambda: stage.page.is_hidden("#lapsed"))


@pytest.mark.proof
def test_who_takes_another_task_instead_finds_what_he_typed_when_it_comes_back(
    stage: Any, leases: Any, new_person: Any, new_project: Any
) -> None:
    stage.mine = new_project(tasks=2, n_answers=1)
    source = starters.source("text")
    for number, task in enumerate(stage.mine.tasks):
        info = {**starters.samples(source)[0], "title": f"Sample {number}"}
        stage.mine.owner.api("PUT", f"task/{task}", {"info": info})
    stage.show(source)
    first, second = stage.mine.tasks
    assert shown(stage) == first
    stage.frame().fill("#field", "half a sentence")
    leases.run("UPDATE lease SET expires = clock() - interval '1 second' WHERE task_id = %s", first)
    other = new_person()
    assert other.ask("GET", f"/api/{stage.mine.id}/newtask").json["id"] == first
    stage.page.evaluate("performance.now = () => 1e9")
    stage.page.evaluate(HIDE, False)
    stage.page.locator("#lapsed:visible").wait_for()
    assert stage.frame().input_value("#field") == "half a sentence"
    stage.page.click("#lapsed-other")
    stage.until(lambda: stage.frame().inner_text("#place") == "Sample 1")
    assert stage.page.is_hidden("#lapsed") and stage.frame().input_value("#field") == ""
    other.api("POST", f"task/{first}/release", {})
    stage.frame().fill("#field", "another one")
    stage.frame().press("#field", "Enter")
    stage.until(lambda: stage.frame().inner_text("#place") == "Sample 0")  # it comes last
    assert stage.frame().input_value("#field") == "half a sentence"
    assert [(run["task_id"], run["info"]) for run in stage.runs()] == [(second, {"answer": "another one"})]


@pytest.mark.proof
def test_closing_one_tab_leaves_the_task_to_the_other(stage: Any, leases: Any) -> None:
    task = open_page(stage)
    other = stage.context.new_page()
    other.goto(stage.page.url)
    other.wait_for_selector("#skip:visible")
    other.goto(f"{stage.witness.url}/project/{stage.mine.short_name}/")
    stage.until(lambda: any(asked.path == f"/api/task/{task}/renew" for asked in stage.asked()))
    stage.until(lambda: leases(task))
    assert stage.page.is_hidden("#lapsed")


@pytest.mark.proof
def test_how_many_tasks_others_are_at_and_when_one_may_come_back(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=2, n_answers=1)
    for _ in range(2):
        assert new_person().ask("GET", f"/api/{stage.mine.id}/newtask").json["id"]
    stage.show(SIMPLE)
    stage.until(lambda: stage.page.is_visible("#finished"))
    assert stage.page.inner_text("#finished-why") == "Others are working on the last 2 tasks."
    assert stage.page.inner_text("#finished-when") == "A task may become available in 60 minutes."
    assert stage.page.is_hidden("#skip")


def test_a_presenter_may_give_back_its_own_tasks_only(stage: Any, leases: Any) -> None:
    stage.mine.owner.ask("GET", f"/api/{stage.other.id}/newtask?api_key={stage.mine.owner.key}")
    task = open_page(stage)
    frame = stage.frame()
    asked = "id => fetch(`/api/task/${id}/release`, {method: 'POST', body: '{\"skip\": true}'}).then(answer => answer.status)"
    assert frame.evaluate(asked, stage.other.tasks[0]) == 404
    assert frame.evaluate(asked, task) == 200
    stage.until(lambda: leases(task) == [])
    assert frame.evaluate("fetch('/api/task/1/renew', {method: 'POST'}).then(answer => answer.status)") == 403
