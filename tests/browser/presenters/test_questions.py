"""Questions as data, as volunteers meet them: each type by mouse and by keyboard, steps, conditions, languages."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import jsonschema_rs
import pytest
from support.questions.marking import forward
from support.questions.question_lists import ONE, every_form
from test_accessibility import AXE, RUN_IN

from crowdd.kinds.questions import answer_schema

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shared(make_stage: Any) -> Any:
    return make_stage()


def ask(stage: Any, document: Any, new_project: Any) -> Any:
    """The frame with the questions of a document, in a new project."""
    stage.begin()
    stage.mine = new_project(n_answers=1)
    stage.mine.show(questions=document)
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    frame.wait_for_selector("form.say")
    return frame


def question(frame: Any, name: str) -> Any:
    return frame.locator(f"[data-question={name}]")


def button(frame: Any, name: str) -> Any:
    return frame.get_by_role("button", name=name, exact=True)


def choose(stage: Any, choice: Any) -> None:
    """Clicks a radio button until it is chosen: the page may still make the frame as high as its new content."""
    stage.until(lambda: choice.is_checked() or choice.click())


def stored(stage: Any, n: int, document: Any) -> Any:
    """The last of ``n`` answers, once it is there; it is valid."""
    runs = stage.until(lambda: (rows := stage.mine.runs()) and len(rows) == n and rows)
    jsonschema_rs.validate(answer_schema(document), runs[-1]["info"])
    return runs[-1]["info"]


@pytest.mark.proof
def test_every_type_is_answered_by_mouse(shared: Any, new_project: Any) -> None:
    document = every_form()
    frame = ask(shared, document, new_project)
    button(frame, "Next").click()
    assert question(frame, "animal").locator(".bad").inner_text() == "Answer this question."
    assert not question(frame, "colours").locator(".bad").is_visible() and not question(frame, "age").is_visible()
    frame.get_by_label("Fox").check()
    assert not question(frame, "animal").locator(".bad").is_visible()
    frame.get_by_label("Grey").check()
    forward(frame)
    assert question(frame, "colours").locator(".bad").inner_text() == "Choose at least 2."
    frame.get_by_label("Red").check()
    question(frame, "young").get_by_label("I can’t tell").check()
    question(frame, "age").locator("input").fill("3.5")
    forward(frame)
    assert question(frame, "age").locator(".bad").inner_text() == "Enter a whole number."
    question(frame, "age").locator("input").fill("3")
    forward(frame)
    heading(shared, frame, "Words")
    choose(shared, question(frame, "clear").get_by_label("4", exact=True))
    question(frame, "light").locator("input[type=range]").click()
    question(frame, "light").get_by_label("I can’t tell").check()
    question(frame, "name").locator("input").fill(" Reynard ")
    question(frame, "story").locator("textarea").fill("One\nTwo")
    question(frame, "day").locator("input").fill("2019-05-01")
    forward(frame)
    assert question(frame, "day").locator(".bad").inner_text() == "Enter January 1, 2020 or later."
    question(frame, "day").locator("input").fill("2024-02-29")
    forward(frame)
    frame.get_by_role("button", name="Move up: Play").click()
    frame.get_by_role("button", name="Move up: Play").click()
    matrix = question(frame, "habits")
    choose(shared, matrix.locator("tbody tr").nth(0).locator("input").nth(1))
    forward(frame)
    assert matrix.locator(".bad").first.inner_text() == "Choose an answer in every row."
    choose(shared, matrix.locator("tbody tr").nth(1).locator("input").nth(0))
    forward(frame)
    choose(shared, question(frame, "sly").get_by_label("Yes"))
    forward(frame, "Send")
    assert stored(shared, 1, document) == {
        "animal": "fox",
        "colours": ["red", "grey"],
        "young": None,
        "age": 3,
        "clear": 4,
        "light": None,
        "name": "Reynard",
        "story": "One\nTwo",
        "day": "2024-02-29",
        "first": ["play", "food", "sleep"],
        "habits": {"day": "rests", "night": "hunts"},
        "sly": True,
        "questions_version": 1,
    }
    assert shared.console == []


FOCUSED = """() => { const e = document.activeElement, of = e.closest('[data-question]');
    return [of ? of.dataset.question : '', e.closest('label')?.textContent || e.ariaLabel || e.title || e.textContent || '']; }"""


def tab_to(stage: Any, frame: Any, name: str, words: str = "") -> None:
    """Presses Tab until a field of the question ``name`` has the focus, one that says ``words``."""
    for _ in range(30):
        stage.page.keyboard.press("Tab")
        of, text = frame.evaluate(FOCUSED)
        if of == name and words in text:
            return
    raise AssertionError(f"{name} {words} is not reached")


def heading(stage: Any, frame: Any, words: str) -> None:
    stage.until(lambda: frame.evaluate("document.activeElement.textContent") == words)


def test_every_type_is_answered_by_keyboard_and_changed_afterwards(shared: Any, new_project: Any) -> None:
    document = every_form()
    frame = ask(shared, document, new_project)
    press = partial(shared.page.keyboard.press, delay=80)  # two presses within 60 ms are one that bounces
    frame.locator("form h1").focus()
    press("o")
    shared.until(lambda: frame.get_by_label("Owl").is_checked())
    tab_to(shared, frame, "colours", "Red")
    press("Space")
    tab_to(shared, frame, "colours", "White")
    press("Space")
    tab_to(shared, frame, "young", "Yes")
    press("Space")
    assert not question(frame, "age").is_visible()
    press("ArrowDown")
    tab_to(shared, frame, "age")
    shared.page.keyboard.type("7")
    press("Enter")
    heading(shared, frame, "Words")
    press("Enter")
    shared.until(lambda: frame.evaluate(FOCUSED)[0] == "clear")  # what is wrong has the focus
    press("Space")
    press("ArrowRight")
    tab_to(shared, frame, "light")
    press("ArrowRight")
    tab_to(shared, frame, "name")
    shared.page.keyboard.type("Strix")
    tab_to(shared, frame, "story")
    shared.page.keyboard.type("Hoo")
    tab_to(shared, frame, "day")
    shared.page.keyboard.type("02292024")
    press("Enter")
    heading(shared, frame, "Order")
    tab_to(shared, frame, "first", "Move down: Food")
    press("Enter")
    shared.until(lambda: frame.locator("[role=status].sr").inner_text() == "Food is now at 2 of 3.")
    tab_to(shared, frame, "habits")
    press("Space")
    tab_to(shared, frame, "habits")
    press("Space")
    button(frame, "Back").focus()
    press("Enter")
    heading(shared, frame, "Words")
    assert question(frame, "name").locator("input").input_value() == "Strix"
    press("Enter")
    heading(shared, frame, "Order")
    press("Enter")  # no fox: there is no further step
    expected = {
        "animal": "owl",
        "colours": ["red", "white"],
        "young": False,
        "age": 7,
        "clear": 2,
        "light": 7,
        "name": "Strix",
        "story": "Hoo",
        "day": "2024-02-29",
        "first": ["sleep", "food", "play"],
        "habits": {"day": "hunts", "night": "hunts"},
        "questions_version": 1,
    }
    assert stored(shared, 1, document) == expected
    heading(shared, frame, "Look")
    assert not frame.get_by_label("Owl").is_checked()
    shared.page.locator("#change:visible").wait_for()
    shared.page.wait_for_timeout(1_600)  # until then a letter belongs to the text
    shared.press_out_of_frame("z")
    shared.until(lambda: frame.get_by_label("Owl").is_checked())
    assert question(frame, "age").locator("input").input_value() == "7"
    choose(shared, question(frame, "young").get_by_label("Yes"))
    # A key within a quarter of a second of a new task was meant for the one before, so it may take a second press.
    shared.until(lambda: "Step 2" in frame.locator("form .over").text_content() or forward(frame))
    shared.until(lambda: question(frame, "light").locator("output").inner_text() == "7")  # fields are shown together
    forward(frame)
    forward(frame, "Send")
    changed = {name: value for name, value in expected.items() if name != "age"} | {"young": True}
    shared.until(lambda: shared.mine.runs()[-1]["info"] == changed)
    assert len(shared.mine.runs()) == 1 and shared.console == []


def test_one_question_is_answered_by_one_click_or_key(shared: Any, new_project: Any) -> None:
    frame = ask(shared, ONE, new_project)
    first, second, _ = shared.mine.tasks
    assert frame.inner_text("form h1") == "Which animal?" and not button(frame, "Send").is_visible()
    assert frame.get_attribute("img", "alt") == "A trap"
    button(frame, "Fox").click()
    assert stored(shared, 1, ONE) == {"animal": "fox", "questions_version": 1}
    shared.until(lambda: frame.inner_text(".over") == f"Task {second}")
    frame.locator("form h1").focus()
    shared.page.wait_for_timeout(300)  # a key within 250 ms was meant for the task before
    shared.page.keyboard.press("o")
    assert stored(shared, 2, ONE) == {"animal": "owl", "questions_version": 1}
    assert [run["task_id"] for run in shared.mine.runs()] == [first, second]
    assert not [asked.path for asked in shared.asked() if "/static/questions/" in asked.path]  # all came in one file


def test_media_are_shown_and_what_does_not_load_is_said(shared: Any, new_project: Any) -> None:
    media = [
        {"name": "call", "type": "sound", "source": {"column": "link"}, "description": "A call"},
        {"name": "note", "type": "text", "source": {"url": "/static/vendor/README.md"}},
        {"name": "film", "type": "video", "source": {"url": "/static/none.webm"}},
    ]
    document = {"version": 1, "steps": [{"name": "all", "media": media[:2], "questions": ONE["steps"][0]["questions"]}]}
    sound = b"RIFF$\x10\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\0\x10\0\0" + b"\x80" * 4096
    headers = {"Content-Type": "audio/wav", "Access-Control-Allow-Origin": "*"}
    shared.context.route("**/call.wav", lambda route: route.fulfill(body=sound, headers=headers))
    project = new_project(n_answers=1)
    for task in project.tasks:
        project.owner.api("PUT", f"task/{task}", {"info": {"link": "https://calls.example/call.wav"}})
    frame = ask(shared, document, lambda **_: project)
    shared.until(lambda: frame.evaluate("document.querySelector('audio').duration") > 0.5)
    assert frame.get_attribute("audio", "aria-label") == "A call"
    shared.until(lambda: "openseadragon" in frame.inner_text("blockquote"))
    assert frame.inner_text(".outside") == ""
    document["steps"][0]["media"] = media[2:]
    frame = ask(shared, document, lambda **_: project)
    frame.get_by_text("This part of the task did not load.").wait_for()


@pytest.mark.proof
def test_an_arabic_page_with_all_types_has_no_faults(make_stage: Any, new_project: Any) -> None:
    stage = make_stage(viewport={"width": 390, "height": 800}, locale="ar", reduced_motion="reduce")
    document = every_form()
    for step in document["steps"]:  # all at once
        step.pop("show_if", None)
    document["steps"] = [
        {
            "name": "all",
            "media": [medium for step in document["steps"] for medium in step.get("media", [])],
            "questions": [each for step in document["steps"] for each in step["questions"]],
        }
    ]
    frame = ask(stage, document, new_project)
    assert frame.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["ar", "rtl"]
    animal = question(frame, "animal")
    assert animal.locator("h2").inner_text() == "أي حيوان؟" and animal.locator("h2").get_attribute("lang") is None
    assert animal.locator("label span").first.get_attribute("dir") == "auto"  # the project says no language
    frame.get_by_label("Fox").check()
    left, right = (animal.locator(part).first.bounding_box() for part in ("label input", "label span"))
    assert left["x"] > right["x"]  # the box is at the right
    assert frame.evaluate("document.documentElement.scrollWidth") == 390
    button(frame, "إرسال").click()
    frame.evaluate(AXE)
    for theme in ("light", "dark"):
        frame.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        assert frame.evaluate(RUN_IN[theme]) == [], theme
    assert stage.console == []


@pytest.mark.proof
def test_the_preview_follows_the_questions_that_are_typed(stage: Any) -> None:
    stage.mine.show(questions=ONE)
    stage.sign_in(stage.mine.owner)
    stage.go("/project/MINE/tasks/taskpresentereditor")
    shown = stage.page.frame_locator("#preview iframe:not(.b-waits)")
    output = stage.page.locator("#preview-said", has_text='{"animal":"fox","questions_version":1}')
    # The frame is scaled; and the preview may still be drawn again, without what was clicked before.
    stage.until(lambda: output.count() or shown.get_by_role("button", name="Fox").dispatch_event("click"))
    stage.page.get_by_role("button", name="JSON", exact=True).click()
    stage.page.fill("#questions", json.dumps(ONE).replace("Which animal?", "</script>Who?"))
    shown.locator("form h1", has_text="</script>Who?").wait_for()
    assert stage.mine.runs() == []
