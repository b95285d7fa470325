"""The volunteer's page when there is nothing to answer: paused, all tasks leased by others, no presenter, no tasks."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from support.checks.proofs import examples
from support.person import Person

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser
PICTURE = starters.source("picture") or ""
GRASPING = "<h1 tabindex=-1 id=how>Like this</h1><script>setInterval(() => how.focus(), 20)</script>"


def pause(stage: Any) -> None:
    owner, name = stage.mine.owner, stage.mine.short_name
    assert owner.ask("POST", f"/project/{name}/pause", {}, Authorization=owner.key).status == 200


def go_on(stage: Any) -> None:
    owner, name = stage.mine.owner, stage.mine.short_name
    assert owner.ask("POST", f"/project/{name}/publish", {}, Authorization=owner.key).status == 200


def test_a_paused_project_shows_its_note_and_no_presenter(stage: Any) -> None:
    stage.mine.show(task_presenter=PICTURE)
    pause(stage)
    for path in ("newtask", "task/MINE_TASK0"):
        stage.go(f"/project/MINE/{path}")
        stage.until(lambda: stage.page.is_visible("#closed"))
        assert "paus" in stage.page.inner_text("#closed") and "draft" not in stage.page.inner_text("#banners")
        assert stage.page.locator("#presenter iframe").count() == 0 and stage.page.is_hidden("#whose")
    go_on(stage)
    stage.until(lambda: stage.frame().is_visible("button[value=Yes]"))  # by itself
    assert stage.page.is_visible("#whose") and stage.page.is_hidden("#closed")


@pytest.mark.proof
def test_who_has_a_task_left_in_a_paused_project_answers_it_and_the_presenter_goes(stage: Any) -> None:
    frame = stage.show(PICTURE)
    stage.until(lambda: frame.is_visible("button[value=Yes]"))
    held, places = stage.handed(), {""}
    pause(stage)

    def all_answered() -> bool:
        """Answers the task that is shown, if it has not been; a further one may have been on its way at the pause."""
        if stage.page.locator("#presenter iframe").count() == 0:
            return True
        if (place := frame.inner_text("#place")) not in places:
            frame.click("button[value=Yes]")
            places.add(place)
        return False

    stage.until(all_answered)
    assert stage.page.is_visible("#closed") and {run["task_id"] for run in stage.runs()} >= {held[0]}


@pytest.mark.proof
def test_no_tutorial_opens_over_nothing_and_it_comes_with_the_first_task(
    stage: Any, new_person: Any, new_project: Any
) -> None:
    stage.mine = new_project(tasks=1, n_answers=1)
    other = new_person()
    task = other.ask("GET", f"/api/project/{stage.mine.id}/newtask").json["id"]
    stage.mine.show(task_presenter=PICTURE, tutorial=GRASPING)
    stage.go("/project/MINE/newtask")
    page = stage.page
    stage.until(lambda: "Others are working" in page.inner_text("#finished"))
    assert page.locator("#tutorial[open]").count() == 0
    assert other.ask("POST", f"/api/task/{task}/release", {}).status == 200
    page.evaluate("document.dispatchEvent(new CustomEvent('presenter:restart', { detail: {} }))")  # as leases.js does
    page.locator("#tutorial[open] iframe").wait_for()
    assert page.locator("#presenter iframe").count() == 0 and stage.handed() == []
    stage.until(lambda: page.evaluate("document.activeElement.closest('dialog')?.id") == "tutorial")
    page.keyboard.press("Escape")
    page.locator("#tutorial[open]").wait_for(state="detached")
    stage.until(lambda: stage.frame().is_visible("button[value=Yes]"))
    stage.until(lambda: stage.handed() == [task])


@pytest.mark.proof
def test_a_first_visit_with_a_task_opens_the_tutorial_and_holds_nothing(stage: Any, new_person: Any) -> None:
    stage.mine.show(task_presenter=PICTURE, tutorial=GRASPING)
    stage.go("/project/MINE/newtask")
    stage.page.locator("#tutorial[open] iframe").wait_for()
    other = new_person().ask("GET", f"/api/project/{stage.mine.id}/newtask")
    assert other.json["id"] == stage.mine.tasks[0] and stage.page.locator("#presenter iframe").count() == 0


def test_a_draft_says_what_is_missing_and_its_owner_makes_it(stage: Any) -> None:
    owner, name = stage.mine.owner, f"bare-{uuid.uuid4().hex[:8]}"
    project = owner.api("POST", "project", {"name": name, "short_name": name, "description": "d"})
    stage.sign_in(owner)
    stage.go(f"/project/{name}/newtask")
    page = stage.page
    assert page.inner_text("main h2") == "This project has no questions yet"
    page.get_by_role("link", name="Write questions").click()
    page.wait_for_url("**/tasks/taskpresentereditor")
    page.locator("#builder").get_by_role("heading", name="What do you ask?").wait_for()
    owner.api("PUT", f"project/{project['id']}", {"info": {"task_presenter": PICTURE}})
    stage.go(f"/project/{name}/newtask")
    assert page.get_by_role("link", name="Import tasks").get_attribute("href") == f"/project/{name}/tasks/import"
    stage.go(f"/project/{name}/tutorial")
    assert page.inner_text("main h2") == "This project has no tutorial"
    stage.context.clear_cookies()
    stage.mine.show(task_presenter="")
    stage.go("/project/MINE/newtask")
    assert "The owner is still working on it." in page.inner_text("main")
    assert page.get_by_role("link", name="Write questions").count() == 0 and not stage.console


@examples("True")
@pytest.mark.parametrize("members_only", [False, True])
def test_who_has_answered_everything_is_not_sent_to_start(
    stage: Any, new_person: Any, new_project: Any, members_only: bool
) -> None:
    stage.mine = new_project(tasks=1, n_answers=2)
    stage.mine.owner.api("PUT", f"project/{stage.mine.id}", {"allow_anonymous_contributors": not members_only})
    ada = new_person()
    stage.sign_in(ada)
    stage.go("/project/MINE/")
    assert stage.page.locator(".hero .btn.main").inner_text() == "Start"
    assert "account" not in stage.page.inner_text(".hero")  # she has one
    task = ada.ask("GET", f"/api/{stage.mine.id}/newtask").json["id"]
    body = {"project_id": stage.mine.id, "task_id": task, "info": 1}
    assert ada.ask("POST", "/api/taskrun", body).status == 200
    stage.go("/project/MINE/")
    assert stage.page.locator(".hero .btn.main").inner_text() == "Another project"
    assert stage.page.get_by_role("link", name="Start", exact=True).count() == 0
    stage.context.clear_cookies()
    stage.go("/project/MINE/")
    assert ("You need an account" in stage.page.inner_text(".hero")) is members_only


def test_people_whose_network_has_answered_the_rest_are_asked_to_sign_in(
    stage: Any, live_server: Any, new_person: Any, new_project: Any
) -> None:
    stage.mine = new_project(tasks=1, n_answers=2)
    stage.mine.show(task_presenter=PICTURE, counted_per_network=1)
    mate, ada, page = Person(live_server.url), new_person(), stage.page
    task = mate.api("GET", f"project/{stage.mine.id}/newtask")["id"]
    mate.api("POST", "taskrun", {"project_id": stage.mine.id, "task_id": task, "info": "Yes"})
    stage.go("/project/MINE/newtask")
    stage.until(lambda: page.is_visible("#by-account a"))
    assert page.inner_text("#finished-why") == "Somebody in your network has answered the remaining tasks."
    assert page.is_hidden("#look-again")
    page.click("#by-account a")
    page.fill("[name=email]", ada.name)
    page.fill("[name=password]", "a-long-password-1")
    page.click("main form button:not([type=button])")
    stage.until(lambda: stage.frame().is_visible("button[value=Yes]"))  # back where they were
    assert stage.handed() == [task]
