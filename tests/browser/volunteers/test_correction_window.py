"""An answer that is changed by who gave it: by key, by touch, in the presenters to begin with and in all others."""

from __future__ import annotations

from typing import Any

import pytest
from presenters import FAMILY, KEYS, OWN_LIBRARY

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser


def open_starter(stage: Any, name: str) -> Any:
    source = starters.source(name)
    for number, task in enumerate(stage.mine.tasks):
        info = {**starters.samples(source)[0], "title": f"Sample {number}"}
        stage.mine.owner.api("PUT", f"task/{task}", {"info": info})
    frame = stage.show(source)
    stage.until(lambda: frame.inner_text("#place") == "Sample 0")
    return frame


def infos(stage: Any) -> list[Any]:
    return [run["info"] for run in stage.runs()]


def said(stage: Any, words: str) -> None:
    stage.until(lambda: words in stage.page.inner_text("#said"))


def at(stage: Any, frame: Any, number: int) -> None:
    stage.until(lambda: frame.inner_text("#place") == f"Sample {number}")
    stage.page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before


def test_by_key_and_the_next_task_comes_back(stage: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=3, n_answers=1)  # each answer completes its task
    frame = open_starter(stage, "picture")
    stage.page.keyboard.press("1")
    at(stage, frame, 1)
    said(stage, "Saved")
    stage.page.locator("#change:visible").wait_for()
    stage.press_out_of_frame("z")
    at(stage, frame, 0)
    stage.until(lambda: stage.page.is_visible("#changing") and stage.page.is_hidden("#skip"))
    assert frame.get_attribute("button[value=Yes]", "aria-pressed") == "true"  # what he said
    assert stage.page.is_hidden("#change")
    stage.page.keyboard.press("2")
    said(stage, "Changed")
    at(stage, frame, 1)
    stage.until(lambda: stage.page.is_visible("#skip") and stage.page.is_hidden("#changing"))
    assert infos(stage) == [{"answer": "No"}]
    assert stage.page.inner_text("#count") == "1"
    stage.page.keyboard.press("1")
    at(stage, frame, 2)
    stage.until(lambda: infos(stage) == [{"answer": "No"}, {"answer": "Yes"}])
    results = stage.mine.owner.api("GET", "result", project_id=stage.mine.id, last_version="false")
    assert [result["task_id"] for result in results] == [stage.mine.tasks[0]]
    assert not stage.console


@pytest.mark.proof
def test_by_touch_on_a_phone_and_left_as_it_was(make_stage: Any) -> None:
    stage = make_stage(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    frame = open_starter(stage, "picture")
    frame.tap("button[value=Yes]")
    at(stage, frame, 1)
    stage.page.locator("#change:visible").wait_for()
    assert stage.page.evaluate("document.documentElement.scrollWidth") == 360
    stage.page.tap("#change")
    at(stage, frame, 0)
    stage.page.tap("#unchanged")
    at(stage, frame, 1)
    stage.until(lambda: stage.page.is_hidden("#changing"))
    stage.until(lambda: stage.path().endswith(f"/task/{stage.mine.tasks[1]}"))
    frame.tap("button[value=No]")
    at(stage, frame, 2)
    stage.until(lambda: infos(stage) == [{"answer": "Yes"}, {"answer": "No"}])
    stage.page.tap("#change")
    at(stage, frame, 1)
    frame.tap("button[value=Yes]")
    at(stage, frame, 2)
    stage.until(lambda: infos(stage) == [{"answer": "Yes"}, {"answer": "Yes"}])


@pytest.mark.proof
def test_what_was_typed_for_the_next_one_is_there_again(stage: Any) -> None:
    frame = open_starter(stage, "text")
    frame.fill("#field", "a strom")
    frame.press("#field", "Enter")
    at(stage, frame, 1)
    said(stage, "Saved")
    frame.focus("#field")
    stage.page.keyboard.type("zz")  # two letters, no shortcut
    stage.page.click("#change")
    at(stage, frame, 0)
    assert frame.input_value("#field") == "a strom"
    frame.fill("#field", "a storm")
    frame.press("#field", "Enter")
    at(stage, frame, 1)
    assert frame.input_value("#field") == "zz"
    stage.until(lambda: infos(stage) == [{"answer": "a storm"}])


def test_an_answer_that_waits_for_the_line_is_replaced_where_it_waits(stage: Any) -> None:
    frame = open_starter(stage, "picture")
    stage.until(lambda: stage.mine.tasks[1] in stage.handed())
    stage.settle()  # its picture, too
    stage.context.set_offline(True)
    frame.click("button[value=Yes]")
    at(stage, frame, 1)
    stage.page.locator("#change:visible").wait_for()
    stage.press_out_of_frame("z")
    at(stage, frame, 0)
    frame.click("button[value=No]")
    at(stage, frame, 1)
    assert infos(stage) == []
    stage.context.set_offline(False)
    stage.until(lambda: infos(stage) == [{"answer": "No"}])
    said(stage, "Saved")
    assert stage.page.inner_text("#count") == "1"
    assert not [asked for asked in stage.asked() if asked.path.endswith("/correct")]


@pytest.mark.proof
def test_an_answer_that_got_there_unseen_is_changed_there(stage: Any) -> None:
    frame = open_starter(stage, "picture")
    lost: list[str] = []

    def lose(route: Any) -> None:
        if lost:
            return route.fallback()
        lost.append(route.fetch().text())  # it is stored, and nobody hears of it
        return route.abort()

    stage.page.route("**/api/taskrun", lose)
    frame.click("button[value=Yes]")
    at(stage, frame, 1)
    stage.until(
        lambda: stage.page.is_visible("#change") and "waits in this browser" in stage.page.inner_text("#unsent")
    )
    stage.page.click("#change")
    at(stage, frame, 0)
    frame.click("button[value=No]")
    stage.page.evaluate("dispatchEvent(new Event('online'))")
    stage.until(lambda: infos(stage) == [{"answer": "No"}])
    stage.until(lambda: stage.page.inner_text("#count") == "1" and stage.page.is_hidden("#offline"))


@pytest.mark.proof
@pytest.mark.parametrize("source", [KEYS, OWN_LIBRARY], ids=["library", "own library"])
def test_presenters_that_know_nothing_of_it(stage: Any, source: str) -> None:
    first, second, third = stage.mine.tasks
    frame = stage.show(source)
    stage.until(lambda: frame.inner_text("#work") == f"Task {first}")
    frame.click("button[value=yes]")
    stage.until(lambda: frame.inner_text("#work") == f"Task {second}")
    stage.page.locator("#change:visible").wait_for()
    stage.page.focus("#leave")
    stage.page.keyboard.press("z")
    stage.until(lambda: stage.frame().inner_text("#work") == f"Task {first}")
    frame = stage.frame()
    frame.click("button[value=no]")
    stage.until(lambda: frame.inner_text("#work") == f"Task {second}")  # the one that he was at
    assert infos(stage) == ["no"]
    frame.click("button[value=yes]")
    stage.until(lambda: frame.inner_text("#work") == f"Task {third}")
    assert infos(stage) == ["no", "yes"]
    assert stage.page.inner_text("#count") == "2"


@pytest.mark.proof
def test_a_presenter_that_asks_by_hand_gets_the_task_once_more(stage: Any) -> None:
    first, second, _ = stage.mine.tasks
    frame = stage.show(FAMILY["by hand"].source)
    stage.until(lambda: frame.inner_text("#task-id") == str(first))
    frame.click(".go")
    stage.until(lambda: frame.inner_text("#task-id") == str(second))
    stage.page.click("#change")
    stage.until(lambda: stage.frame().inner_text("#task-id") == str(first))
    stage.page.click("#unchanged")
    stage.until(lambda: stage.frame().inner_text("#task-id") == str(second))


@pytest.mark.proof
def test_what_has_its_result_for_long_stays(stage: Any, new_project: Any, live_server: Any) -> None:
    stage.mine = new_project(tasks=2, n_answers=1)
    frame = open_starter(stage, "picture")
    frame.click("button[value=Yes]")
    at(stage, frame, 1)
    stage.page.click("#change")
    at(stage, frame, 0)
    refusal = '{"status": "failed", "status_code": 403, "exception_cls": "Forbidden", "exception_msg": "x", "error_code": "in_result"}'
    stage.page.route(
        "**/correct", lambda route: route.fulfill(status=403, content_type="application/json", body=refusal)
    )
    frame.click("button[value=No]")
    stage.until(lambda: "Your first answer stays" in stage.page.inner_text("#refused"))
    at(stage, frame, 1)
    assert infos(stage) == [{"answer": "Yes"}]


@pytest.mark.proof
def test_after_the_last_task(stage: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=1, n_answers=1)
    frame = open_starter(stage, "picture")
    frame.click("button[value=Yes]")
    stage.until(lambda: frame.is_visible("#thanks") and stage.page.is_visible("#finished"))
    stage.page.click("#change")
    at(stage, frame, 0)
    stage.until(lambda: frame.is_hidden("#thanks") and stage.page.is_hidden("#finished"))
    frame.click("button[value=No]")
    stage.until(lambda: frame.is_visible("#thanks") and stage.page.is_visible("#finished"))
    stage.until(lambda: infos(stage) == [{"answer": "No"}])


@pytest.mark.proof
def test_it_is_offered_for_half_a_minute(stage: Any) -> None:
    stage.page.clock.install()
    frame = open_starter(stage, "picture")
    frame.click("button[value=Yes]")
    stage.page.locator("#change:visible").wait_for()
    stage.page.clock.fast_forward(10_000)
    assert stage.page.is_visible("#change")
    stage.page.clock.fast_forward(25_000)
    stage.until(lambda: stage.page.is_hidden("#change"))
