"""The builder of questions by mouse: three steps, undo, versions, two owners at once, and Arabic."""

from __future__ import annotations

import json
from typing import Any

import pytest
from presenter_page import Project
from question_builder import add, build, status, stored, written
from support.questions.question_lists import ONE, every_form
from test_accessibility import AXE, RUN_ALL, RUN_IN

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shared(make_stage: Any) -> Any:
    return make_stage(viewport={"width": 1280, "height": 900})


def save(stage: Any) -> None:
    stage.page.get_by_role("button", name="Save questions").click()
    stage.page.locator(".flash", has_text="Saved.").wait_for()


def drag(page: Any, grip: Any, target: Any, share: float) -> None:
    """Drags an entry by its grip to a part of the height of another one."""
    target.scroll_into_view_if_needed()
    start, end = grip.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] * share, steps=8)
    page.mouse.up()


def in_preview(page: Any, selector: str, place: tuple[float, float]) -> tuple[float, float]:
    """A place of an element of the preview, in parts of its size, in pixels of the window: the frame may be drawn smaller."""
    outer = page.locator("#preview iframe:not(.b-waits)")
    outer.scroll_into_view_if_needed()
    box = outer.bounding_box()
    inner = page.frame_locator("#preview iframe:not(.b-waits)").locator(selector)
    left, top, width, height, all_ = inner.evaluate(
        "e => { const {x, y, width, height} = e.getBoundingClientRect(); return [x, y, width, height, innerWidth]; }"
    )
    scale = box["width"] / all_
    return box["x"] + (left + place[0] * width) * scale, box["y"] + (top + place[1] * height) * scale


@pytest.mark.proof
def test_the_preview_is_used_by_mouse_and_stays_at_its_step(shared: Any, new_project: Any) -> None:
    picture = {"name": "photo", "type": "picture", "source": {"url": "/static/img/sample-1.svg"}}
    document = {
        "version": 1,
        "steps": [
            {"name": "one", "questions": [{"name": "sure", "type": "yes_no", "text": "Sure?"}]},
            {
                "name": "two",
                "title": "Where?",
                "media": [picture],
                "questions": [{"name": "ears", "type": "box", "text": "Ears", "on": "photo"}],
            },
        ],
    }
    page = build(shared, new_project, document)
    preview = page.frame_locator("#preview iframe:not(.b-waits)")
    preview.locator("form.say").wait_for()

    def click(selector: str) -> None:
        page.mouse.click(*in_preview(page, selector, (0.5, 0.5)))

    click("label:has-text('Yes')")
    shared.until(lambda: preview.get_by_label("Yes").is_checked())
    click("button:has-text('Next')")
    preview.get_by_role("heading", name="Where?").wait_for()
    preview.locator(".marks-tools button:nth-child(2):enabled").wait_for()
    surface = "svg.a9s-annotationlayer"
    page.mouse.move(*in_preview(page, surface, (0.25, 0.25)))
    page.mouse.down()
    page.mouse.move(*in_preview(page, surface, (0.5, 0.6)), steps=4)
    page.mouse.move(*in_preview(page, surface, (0.75, 0.75)), steps=4)
    page.mouse.up()
    preview.locator(".mark-item").wait_for()
    size = preview.locator(surface).evaluate("s => [s.viewBox.baseVal.width, s.viewBox.baseVal.height]")
    x, y, width, height = [float(each.input_value()) for each in preview.locator(".mark-numbers input").all()]
    for value, whole, part in ((x, size[0], 0.25), (y, size[1], 0.25), (width, size[0], 0.5), (height, size[1], 0.5)):
        assert abs(value / whole - part) < 0.02, (x, y, width, height, size)

    changed = written(page)
    changed["steps"][1]["title"] = "Where is it?"
    page.locator("#questions").evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', {bubbles: true})); }",
        json.dumps(changed),
    )
    preview.get_by_role("heading", name="Where is it?").wait_for()
    preview.locator(".mark-item").wait_for()
    preview.get_by_role("button", name="Back").press("Enter")
    shared.until(lambda: preview.get_by_label("Yes").is_checked())


@pytest.mark.proof
def test_a_questionnaire_of_three_steps_is_built_by_mouse(shared: Any, new_project: Any) -> None:
    page = build(shared, new_project)
    step = page.locator(".b-step")
    assert page.locator(".b-problems").is_hidden()
    page.locator(".b-welcome .b-tile[data-type=box]").click()
    page.get_by_label("Question", exact=True).fill("Mark the ears")
    page.get_by_role("button", name="Add to Labels").click()
    page.keyboard.type("Left ear")
    page.get_by_role("button", name="Add to Labels").click()
    page.keyboard.type("Right ear")
    page.get_by_label("Labels 2: Key").fill("R")
    page.locator("input[type=color]").first.fill("#0b3f63")
    page.get_by_label("Most marks").fill("20")
    add(page, page.locator(".b-group", has_text="Questions about each mark"), "yes_no")
    page.get_by_label("Question", exact=True).last.fill("Is it hidden?")
    status(shared, "No problems")
    preview = page.frame_locator("#preview iframe:not(.b-waits)")
    preview.get_by_role("heading", name="Mark the ears").first.wait_for()

    page.get_by_role("button", name="Add a step").click()
    page.get_by_label("Heading").fill("About the animal")
    add(page, step.nth(1), "single_choice")
    page.get_by_label("Question", exact=True).last.fill("Which animal?")
    page.get_by_label("Choices 1", exact=False).first.fill("Fox")
    page.locator(".b-choice").last.locator("input").first.fill("Owl")
    add(page, step.nth(1), "multiple_choice")
    page.get_by_label("Question", exact=True).last.fill("Which colours?")
    page.locator(".b-choice").nth(-2).locator("input").first.fill("Red")
    page.locator(".b-choice").last.locator("input").first.fill("Grey")
    step.nth(1).locator(".b-name[aria-expanded=true]").last.click()
    drag(page, step.nth(1).locator(".b-questions .b-grip").first, step.nth(1).locator(".b-item").last, 0.9)
    shared.until(
        lambda: [q["name"] for q in written(page)["steps"][1]["questions"]] == ["which_colours", "which_animal"]
    )

    page.get_by_role("button", name="Add a step").click()
    page.get_by_label("Heading").last.fill("Only foxes")
    page.get_by_role("button", name="Add a condition").last.click()
    page.get_by_label("Question of condition 1", exact=True).select_option("which_animal")
    assert page.locator(".b-condition").get_by_label("Fox").is_checked()
    add(page, step.nth(2), "number")
    page.get_by_label("Question", exact=True).last.fill("How old is it?")
    status(shared, "No problems")
    expected = {
        "version": 1,
        "steps": [
            {
                "name": "step",
                "media": [{"name": "picture", "type": "picture", "source": {"column": "url_b"}}],
                "questions": [
                    {
                        "name": "mark_the_ears",
                        "type": "box",
                        "text": "Mark the ears",
                        "on": "picture",
                        "labels": [
                            {"value": "left_ear", "text": "Left ear", "colour": "#0b3f63"},
                            {"value": "right_ear", "text": "Right ear", "key": "r"},
                        ],
                        "max": 20,
                        "each": [{"name": "is_it_hidden", "type": "yes_no", "text": "Is it hidden?"}],
                    }
                ],
            },
            {
                "name": "about_the_animal",
                "title": "About the animal",
                "questions": [
                    {
                        "name": "which_colours",
                        "type": "multiple_choice",
                        "text": "Which colours?",
                        "choices": [{"value": "red", "text": "Red"}, {"value": "grey", "text": "Grey"}],
                    },
                    {
                        "name": "which_animal",
                        "type": "single_choice",
                        "text": "Which animal?",
                        "choices": [{"value": "fox", "text": "Fox"}, {"value": "owl", "text": "Owl"}],
                    },
                ],
            },
            {
                "name": "only_foxes",
                "title": "Only foxes",
                "show_if": {"question": "which_animal", "is": ["fox"]},
                "questions": [{"name": "how_old_is_it", "type": "number", "text": "How old is it?"}],
            },
        ],
    }
    assert written(page) == expected
    while page.locator("#builder-undo").get_attribute("aria-disabled") == "false":
        page.locator("#builder-undo").click()
    assert written(page) == {"version": 1, "steps": []} and page.locator(".b-welcome").is_visible()
    while page.locator("#builder-redo").get_attribute("aria-disabled") == "false":
        page.locator("#builder-redo").click()
    assert written(page) == expected
    save(shared)
    assert stored(shared)["questions"] == expected and written(page) == expected
    assert page.evaluate("document.activeElement === document.body")
    page.reload()
    status(shared, "No problems")
    assert written(page) == expected and shared.console == []


def focused(page: Any) -> str:
    return str(
        page.evaluate(
            "document.activeElement.ariaLabel || document.activeElement.labels?.[0]?.textContent || document.activeElement.textContent"
        )
    )


def tab_to(page: Any, words: str, key: str = "Tab") -> None:
    """Presses Tab until what has the focus says ``words``."""
    for _ in range(80):
        page.keyboard.press(key)
        if focused(page).startswith(words):
            return
    raise AssertionError(f"{words} is not reached; the focus is at {focused(page)}")


@pytest.mark.proof
def test_a_change_says_what_it_means_and_a_second_owner_is_told(shared: Any, new_project: Any, new_person: Any) -> None:
    page = build(shared, new_project, ONE)
    first, *_ = shared.mine.tasks
    volunteer = new_person()
    volunteer.api("GET", f"project/{shared.mine.id}/newtask")
    run = {"project_id": shared.mine.id, "task_id": first, "info": {"animal": "fox", "questions_version": 1}}
    volunteer.api("POST", "taskrun", run)
    page.reload()
    status(shared, "No problems")
    page.locator(".b-questions .b-name").click()
    page.get_by_label("Choices 1: Text").fill("Red fox")
    assert written(page)["steps"][0]["questions"][0]["choices"][0]["value"] == "fox"  # answers have it
    page.get_by_label("Choices 1: Stored value").fill("red_fox")
    status(shared, "No problems")
    other = shared.context.new_page()
    other.goto(page.url)
    other.locator(".b-questions .b-name").wait_for()
    page.get_by_role("button", name="Save questions").click()
    page.locator("dialog[open] li").first.wait_for()
    assert page.locator("dialog[open] li").all_inner_texts() == [
        "The project has one answer. It stays as it is.",
        "The questions become version 2. New answers record it.",
        "“animal” no longer has fox. Of the last 1 answers, one has a value for it; 1 no longer fits.",
    ]
    page.get_by_role("button", name="Cancel").click()
    assert stored(shared)["questions_version"] == 1
    page.get_by_role("button", name="Save questions").click()
    page.get_by_role("button", name="Save as a new version").click()
    page.locator(".flash", has_text="Saved.").wait_for()
    assert stored(shared)["questions_version"] == 2

    other.locator(".b-questions .b-name").click()
    other.get_by_label("Question", exact=True).fill("Which bird?")
    shared.until(lambda: other.locator(".b-status").inner_text() == "No problems")
    other.get_by_role("button", name="Save questions").click()
    confirm = other.get_by_role("button", name="Save as a new version")
    confirm.click()
    other.get_by_text("Other questions have been saved in the meantime.").first.wait_for()
    assert written(other)["steps"][0]["questions"][0]["text"] == "Which bird?"
    assert stored(shared)["questions_version"] == 2
    other.get_by_text("Earlier versions").click()
    other.get_by_role("link", name="Version 1", exact=True).click()
    other.get_by_text("This is version 1.").wait_for()
    assert written(other) == ONE
    other.close()
    assert shared.console == []


@pytest.mark.proof
def test_an_arabic_builder_on_a_phone_has_no_faults(make_stage: Any, new_person: Any) -> None:
    stage = make_stage(viewport={"width": 390, "height": 844}, locale="ar", reduced_motion="reduce")
    owner = new_person()
    page = build(stage, lambda **_: Project(owner, f"builds-{owner.name}", 1), every_form())
    page.locator("button[name=locale][value=ar]").evaluate("button => button.click()")
    page.locator("html[lang=ar] .b-toolbar").wait_for()
    assert page.evaluate("document.documentElement.dir") == "rtl"
    for nth in (1, 2, 5):
        page.locator(".b-name").nth(nth).click()
    page.locator(".b-more > summary").first.click()
    page.locator(".b-choice input").nth(2).fill("s")
    page.locator(".b-note").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate(AXE)
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        assert page.evaluate(RUN_IN[theme]) == [], theme
    page.locator(".b-questions > .btn").first.click()
    assert page.evaluate(RUN_ALL) == []
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id").endswith("-questions-add")
