"""The volunteer's page around the frame: what was saved, counts, shortcuts, help, the line, the offer of an account."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from presenter_page import frame_in
from presenters import KEYS

pytestmark = pytest.mark.browser


def open_with_keys(stage: Any, path: str = "/project/MINE/newtask") -> Any:
    frame = stage.show(KEYS, path)
    stage.until(lambda: frame.inner_text("#work").startswith("Task"))
    return frame


def test_an_answer_is_confirmed_and_counted(stage: Any) -> None:
    frame = open_with_keys(stage)
    assert stage.page.inner_text("#count") == "0"
    frame.click("text=Yes")
    stage.until(lambda: "Saved" in stage.page.inner_text("#said"))
    assert stage.page.get_attribute("#said", "role") == "status"
    assert stage.page.inner_text("#count") == "1"
    assert stage.page.locator("#marks path").count() == 1
    assert len(stage.runs()) == 1
    stage.page.reload()
    assert stage.page.inner_text("#count") == "1"


def test_keys_work_inside_and_outside_the_frame(stage: Any) -> None:
    frame = open_with_keys(stage)
    stage.page.focus("#leave")
    stage.page.keyboard.press("y")  # outside
    stage.until(lambda: len(stage.runs()) == 1)
    stage.until(lambda: frame.inner_text("#work") == f"Task {stage.mine.tasks[1]}")
    frame.focus("button[value=no]")
    stage.page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before
    stage.page.keyboard.press("n")  # inside
    stage.until(lambda: len(stage.runs()) == 2)
    assert [run["info"] for run in stage.runs()] == ["yes", "no"]
    assert frame.evaluate("pressed") == ["y", "n"]  # each once


def test_keys_are_off_while_somebody_types(stage: Any) -> None:
    frame = open_with_keys(stage)
    frame.fill("#typing", "")
    stage.page.keyboard.type("yns")
    stage.until(lambda: frame.input_value("#typing") == "yns")
    assert frame.evaluate("pressed") == []


def test_the_list_of_keys_and_switching_them_off(stage: Any) -> None:
    frame = open_with_keys(stage)
    frame.focus("button[value=yes]")
    stage.press_out_of_frame("?")
    stage.page.locator("#keys").wait_for()
    assert "There is a face" in stage.page.inner_text("#offers")
    stage.page.uncheck("#use-keys")
    stage.page.keyboard.press("Escape")
    stage.page.focus("#leave")
    stage.page.keyboard.press("y")
    frame.focus("button[value=yes]")
    stage.page.keyboard.press("n")
    frame.evaluate("new Promise(go => setTimeout(go))")  # after the frame has seen both
    assert frame.evaluate("pressed") == []
    stage.page.reload()
    frame = stage.frame()
    assert not stage.page.is_checked("#use-keys")
    stage.page.focus("#leave")
    stage.page.keyboard.press("y")
    frame.evaluate("new Promise(go => setTimeout(go))")
    assert frame.evaluate("pressed") == []


@pytest.mark.proof
def test_skip_presses_the_presenters_own_key_where_it_offers_one(stage: Any) -> None:
    frame = open_with_keys(stage)
    stage.page.click("#skip")
    stage.until(lambda: frame.evaluate("pressed") == ["s"])
    assert not [asked for asked in stage.asked() if asked.path.endswith("/release")]


def test_the_offer_of_an_account_comes_after_three_answers_until_it_is_declined(stage: Any) -> None:
    frame = open_with_keys(stage)
    for number in range(3):
        assert stage.page.is_hidden("#sign-up")
        stage.until(lambda number=number: frame.inner_text("#work") == f"Task {stage.mine.tasks[number]}")
        frame.click("text=Yes")
        stage.until(lambda number=number: stage.page.inner_text("#count") == str(number + 1))
    stage.until(lambda: stage.page.is_visible("#sign-up"))
    assert "/account/register?next=" in stage.page.get_attribute("#sign-up a", "href")
    stage.page.click("#sign-up-no")
    assert stage.page.is_hidden("#sign-up")
    assert stage.page.evaluate("localStorage.getItem('sign-up-offer')") == "declined"


@pytest.mark.proof
def test_nothing_is_offered_to_those_who_have_an_account(stage: Any, new_person: Any) -> None:
    stage.sign_in(new_person())
    open_with_keys(stage)
    assert stage.page.locator("#sign-up").count() == 0


def test_nothing_left_is_said(stage: Any) -> None:
    frame = open_with_keys(stage)
    for task in stage.mine.tasks:
        stage.until(lambda task=task: frame.inner_text("#work") == f"Task {task}")
        assert stage.page.is_hidden("#finished")
        frame.click("text=Yes")
    stage.until(lambda: stage.page.is_visible("#finished"))
    assert "no task left" in stage.page.inner_text("#finished")
    assert stage.page.is_hidden("#look-again")


@pytest.mark.proof
def test_the_last_tasks_in_other_hands_are_no_end(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=1, n_answers=1)
    other = new_person()
    assert other.ask("GET", f"/api/project/{stage.mine.id}/newtask").json["id"] == stage.mine.tasks[0]
    stage.show(KEYS)
    stage.until(lambda: "Others are working" in stage.page.inner_text("#finished"))
    stage.mine.owner.api("PUT", f"task/{stage.mine.tasks[0]}", {"n_answers": 2})
    stage.page.click("#look-again a")
    stage.until(lambda: stage.frame().inner_text("#work") == f"Task {stage.mine.tasks[0]}")


def test_an_answer_waits_for_the_line(stage: Any) -> None:
    frame = open_with_keys(stage)
    stage.context.set_offline(True)
    frame.click("text=Yes")
    stage.until(lambda: stage.page.is_visible("#offline"))
    stage.until(lambda: "last answer" in stage.page.inner_text("#unsent"))
    assert stage.runs() == []
    stage.context.set_offline(False)
    stage.until(lambda: len(stage.runs()) == 1)
    stage.until(lambda: stage.page.is_hidden("#offline"))
    stage.until(lambda: frame.inner_text("#work") == f"Task {stage.mine.tasks[1]}")


def test_a_refusal_is_told(stage: Any) -> None:
    frame = open_with_keys(stage)
    first, second = stage.page, stage.context.new_page()
    second.goto(first.url)  # the same volunteer in another tab
    other = stage.until(lambda: frame_in(second.query_selector("#presenter iframe")))
    other.click("text=Yes")
    stage.until(lambda: len(stage.runs()) == 1)
    frame.click("text=Yes")
    stage.until(lambda: stage.page.is_visible("#refused"))
    assert stage.page.inner_text("#refused-why")
    assert len(stage.runs()) == 1


def test_help_opens_beside_the_task_and_gives_the_focus_back(stage: Any) -> None:
    stage.mine.owner.api("PUT", f"project/{stage.mine.id}", {"long_description": "**Look** closely."})
    frame = open_with_keys(stage)
    stage.page.focus("#leave")
    stage.page.keyboard.press("h")
    assert stage.page.inner_text("#help strong") == "Look"
    assert stage.page.evaluate("document.activeElement.id") == "help-close"
    assert stage.page.get_attribute("#help-open", "aria-expanded") == "true"
    stage.page.keyboard.press("Escape")
    assert stage.page.is_hidden("#help")
    assert stage.page.evaluate("document.activeElement.id") == "help-open"
    assert frame.inner_text("#work").startswith("Task")


@pytest.mark.proof
def test_the_link_to_comment_follows_the_task_and_leaves_an_unsent_answer_alone(stage: Any) -> None:
    frame = open_with_keys(stage)
    first, second = stage.mine.tasks[:2]
    stage.until(lambda: (stage.page.get_attribute("#comment", "href") or "").endswith(f"/task/{first}/comment"))
    frame.fill("#typing", "half an answer")
    with stage.page.context.expect_page() as opened:
        stage.page.click("#comment")
    opened.value.check("input[name=kind][value=problem]")
    opened.value.fill("#text", "The picture is black.")
    opened.value.click("main form .btn.main")
    opened.value.locator("text=Your comment has been sent").wait_for()
    opened.value.close()
    assert frame.input_value("#typing") == "half an answer"
    frame.click("text=Yes")
    stage.until(lambda: (stage.page.get_attribute("#comment", "href") or "").endswith(f"/task/{second}/comment"))
    assert len(stage.runs()) == 1


def test_a_task_in_the_address_is_announced(stage: Any) -> None:
    open_with_keys(stage)
    stage.until(lambda: stage.page.text_content("#presenter-news") == f"Task {stage.mine.tasks[0]}")
    assert stage.page.get_attribute("#presenter-news", "role") == "status"
    assert not stage.console


@pytest.mark.proof
def test_the_page_fits(stage: Any) -> None:
    picture = "<div class='see'><img src='/static/img/mark.svg' alt=''></div>"
    answers = "<div class='answers'><button class='answer'>One</button><button class='answer'>Two</button></div>"
    frame = stage.show(f"<div class='frame'>{picture}<form class='say'><h1>What?</h1>{answers}</form></div>")
    for width, scheme in product((320, 360, 1280), ("light", "dark")):
        stage.page.set_viewport_size({"width": width, "height": 740})
        stage.page.emulate_media(color_scheme=scheme)
        stage.until(lambda: stage.page.evaluate("document.querySelector('#presenter iframe').offsetHeight") > 300)
        assert stage.page.evaluate("document.documentElement.scrollWidth") == width
        stage.until(lambda width=width: frame.evaluate("innerWidth") == width)
        assert frame.evaluate("document.documentElement.scrollWidth") == width
        stage.until(lambda: stage.page.evaluate("document.documentElement.scrollHeight <= innerHeight"))
    assert not stage.console


@pytest.mark.proof
@pytest.mark.parametrize("size", [(1280, 800), (390, 800), (320, 640)])
def test_the_line_goes_and_comes_while_something_is_pressed_and_moves_nothing(make_stage: Any, size: Any) -> None:
    stage = make_stage(viewport={"width": size[0], "height": size[1]})
    frame = open_with_keys(stage)
    places = "() => ['#presenter iframe', '.deck', '#skip'].map((it) => document.querySelector(it).getBoundingClientRect().toJSON())"

    def where() -> Any:
        stage.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return stage.page.evaluate(places)

    button, mouse = frame.locator("text=Yes").bounding_box(), stage.page.mouse
    before = where()
    mouse.move(button["x"] + button["width"] / 2, button["y"] + 4)  # near its edge: what moves is missed
    stage.context.set_offline(True)
    stage.until(lambda: stage.page.is_visible("#offline"))
    assert where() == before
    stage.context.set_offline(False)
    stage.until(lambda: stage.page.is_hidden("#offline"))
    mouse.down()
    stage.context.set_offline(True)
    stage.until(lambda: stage.page.is_visible("#offline"))
    assert where()[1:] == before[1:]
    mouse.up()
    stage.until(lambda: "last answer" in stage.page.inner_text("#unsent"))
    after = where()
    assert [after[0]["top"], after[1:]] == [before[0]["top"], before[1:]]
    stage.context.set_offline(False)
    stage.until(lambda: len(stage.runs()) == 1)
    stage.until(lambda: stage.page.is_hidden("#offline"))
    assert [where()[0]["top"], where()[1:]] == [before[0]["top"], before[1:]]
