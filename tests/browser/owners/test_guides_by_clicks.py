"""A guided tutorial and a field guide: made by clicks, shown to volunteers once, by mouse and by keyboard; nothing of it is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from presenter_page import frame_in
from support.questions.guide_documents import QUESTIONS, field_guide, tutorial
from test_accessibility import AXE, RUN_IN

pytestmark = pytest.mark.browser
PICTURE = Path(__file__).parents[3] / "crowdd/http/static/vendor/leaflet-1.9.4/images/marker-icon-2x.png"
BOXES = json.loads(json.dumps(QUESTIONS))
BOXES["steps"][0]["questions"] = [
    BOXES["steps"][0]["questions"][0],
    {"name": "ears", "type": "box", "on": "photo", "text": "Mark the ears."},
]


@pytest.fixture(scope="module")
def shared(make_stage: Any) -> Any:
    return make_stage(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")


def begin(stage: Any, new_project: Any, **info: Any) -> None:
    stage.begin()
    stage.mine = new_project(n_answers=1000)
    stage.mine.show(**info)


def lesson(stage: Any) -> Any:
    """The frame of the tutorial that is open."""

    def frame() -> Any:
        inner = frame_in(stage.page.query_selector("#tutorial[open] iframe"))
        return inner if inner and inner.query_selector(".lesson-card h1") else None

    return stage.until(frame)


def titled(stage: Any, frame: Any, title: str) -> None:
    stage.until(lambda: frame.inner_text(".lesson-card h1") == title)


def axe(stage: Any, *frames: Any) -> None:
    """Nothing is wrong in either theme."""
    for theme in ("light", "dark"):
        for frame in (stage.page, *frames):
            frame.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
            frame.evaluate("Boolean(window.axe)") or frame.evaluate(AXE)
            assert frame.evaluate(RUN_IN[theme]) == [], theme


def button(place: Any, name: str) -> Any:
    return place.get_by_role("button", name=name, exact=True)


def card(page: Any, nth: int, heading: str = "Steps") -> Any:
    return page.locator(f"ol[aria-label='{heading}'] > li").nth(nth)


def asked(stage: Any) -> Any:
    """The frame in the dialog in which the owner answers the sample task."""

    def shown() -> Any:
        frame = frame_in(stage.page.query_selector("#guide-dialog[open] iframe"))  # the one before may just go
        return frame and frame.wait_for_selector("form.say") and frame

    return stage.until(shown)


def send_box(frame: Any) -> None:
    """Adds a box and sends it by keyboard: the frame grows by its line, and would move away under a mouse."""
    button(frame, "Add a box").click()
    frame.locator(".mark-item").wait_for()
    button(frame, "Send").press("Enter")


@pytest.mark.proof
def test_an_owner_makes_a_tutorial_by_clicks(shared: Any, new_project: Any) -> None:
    begin(shared, new_project, questions=BOXES)
    shared.sign_in(shared.mine.owner)
    page = shared.page
    shared.go("/project/MINE/tutorial/edit")
    card(page, 0).locator("summary").click()
    card(page, 0).get_by_label("Title").fill("Hello")
    card(page, 0).get_by_label("Picture").set_input_files(PICTURE)
    card(page, 0).get_by_label("What the picture shows").fill("A pin")

    button(page, "Add a step").click()
    card(page, 1).get_by_label("Title").fill("Look here")
    card(page, 1).get_by_label("What volunteers see beside the text").select_option("rectangle")
    button(card(page, 1), "Draw the rectangle").click()
    frame = asked(shared)
    send_box(frame)
    page.wait_for_selector("#guide-dialog:not([open])", state="attached")

    button(page, "Add a step").click()
    card(page, 2).get_by_label("Title").fill("Practise")
    card(page, 2).get_by_label("What volunteers see beside the text").select_option("practice")
    button(card(page, 2), "Answer the sample task").click()
    frame = asked(shared)
    frame.get_by_label("Fox").press("Space")  # a click may miss it while the frame grows
    send_box(frame)
    card(page, 2).get_by_label("What volunteers read if they are wrong").first.fill("Look at the ears.")
    assert card(page, 2).get_by_role("group", name="Mark the ears.").get_by_label("Tolerance").is_visible()

    # Moved by keyboard, duplicated, deleted, and the deletion taken back.
    card(page, 1).locator("summary").focus()
    page.keyboard.press("Alt+ArrowUp")
    assert page.inner_text("#guide-news").startswith("Look here is now at 1 of 3.")
    page.keyboard.press("Alt+ArrowDown")
    card(page, 0).get_by_role("button", name="Duplicate").click()
    card(page, 1).get_by_role("button", name="Delete").click()
    button(page.locator("#guide-news"), "Undo").click()
    assert page.locator("ol[aria-label=Steps] > li").count() == 4
    card(page, 1).locator("summary").click()
    card(page, 1).get_by_role("button", name="Delete").click()
    page.get_by_label("Add a language").select_option("de")
    assert "5 of 5 texts are missing" in page.inner_text("#guide-lacking")
    card(page, 0).locator("summary").click()
    card(page, 0).get_by_label("Title").fill("Hallo")
    assert "4 of 5 texts are missing" in page.inner_text("#guide-lacking")
    axe(shared)

    button(page, "Preview").click()
    preview = shared.until(lambda: frame_in(page.query_selector("#guide-dialog iframe")))
    preview.wait_for_selector(".lesson-card h1")
    page.click("#guide-dialog-close")
    button(page, "Save").click()
    page.wait_for_selector(".flashes")
    info = shared.mine.owner.api("GET", f"project/{shared.mine.id}")["info"]
    hello, look, practise = info["guided_tutorial"]["steps"]
    assert hello["title"] == {"en": "Hello", "de": "Hallo"} and hello["picture"]["url"].startswith("/uploads/")
    assert (
        set(look["highlight"]["rectangle"]) == {"x", "y", "width", "height"} and look["highlight"]["medium"] == "photo"
    )
    animal, ears = practise["practice"]
    assert animal == {"question": "animal", "answers": ["fox"], "wrong": "Look at the ears."}
    assert len(ears["answers"][0]) == 1 and info["guided_tutorial_version"] == 1
    assert info["guided_tutorial"]["tasks"][0]["info"]["url_b"].startswith("/static/img/mark.svg")
    assert shared.mine.runs() == [] and shared.console == []


def test_an_owner_makes_a_field_guide_by_clicks_and_a_draft_survives(shared: Any, new_project: Any) -> None:
    begin(shared, new_project, questions=QUESTIONS)
    shared.sign_in(shared.mine.owner)
    page = shared.page
    shared.go("/project/MINE/fieldguide/edit")
    button(page, "Add a group").click()
    card(page, 0, "Groups").get_by_label("Title").fill("Mammals")
    card(page, 0, "Entries").locator("summary").click()
    entry = card(page, 0, "Entries")
    entry.get_by_label("Title").fill("Fox")
    entry.get_by_label("Add pictures").set_input_files([PICTURE, PICTURE])
    shared.until(lambda: entry.get_by_label("Credit").count() == 2)
    entry.get_by_label("Credit").nth(1).fill("Ada")
    shared.until(lambda: "Ada" in str(page.evaluate("Object.values(localStorage).join()")))

    page.once("dialog", lambda asked: asked.accept())
    page.reload()
    button(page, "Restore it").click()
    entry = card(page, 0, "Entries")
    entry.locator("summary").click()
    assert entry.get_by_label("Credit").nth(1).input_value() == "Ada"
    entry.get_by_label("Group").select_option("group_1")
    shared.mine.owner.api(
        "PUT", f"project/{shared.mine.id}", {"info": {"questions": QUESTIONS, "field_guide": field_guide()}}
    )
    button(page, "Save").click()
    page.wait_for_selector(".flash.bad, [aria-invalid]", state="attached")
    assert "Someone else has saved a newer version" in page.inner_text("main")
    card(page, 0, "Entries").locator("summary").click()
    assert card(page, 0, "Entries").get_by_label("Title").input_value() == "Fox"
    button(page, "Save").click()
    page.wait_for_selector(".flashes")
    info = shared.mine.owner.api("GET", f"project/{shared.mine.id}")["info"]
    (fox,) = info["field_guide"]["entries"]
    assert fox["group"] == "group_1" and [one.get("credit") for one in fox["pictures"]] == [None, "Ada"]
    assert info["field_guide_version"] == 2


@pytest.mark.proof
def test_a_volunteer_sees_the_tutorial_once_and_practises_by_keyboard(shared: Any, new_project: Any) -> None:
    shared.context.clear_cookies()
    begin(shared, new_project, questions=QUESTIONS, guided_tutorial=tutorial(), field_guide=field_guide())
    page = shared.page
    shared.go("/project/MINE/newtask")
    frame = lesson(shared)
    titled(shared, frame, "Welcome")
    shared.until(lambda: frame.evaluate("document.activeElement.id") == "lesson-title")
    assert frame.inner_text(".lesson-prose strong") == "ears"
    axe(shared, frame)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    titled(shared, frame, "The question")
    assert frame.evaluate("document.activeElement.id") == "lesson-title"
    assert frame.locator("[data-question=animal]").evaluate("part => part.matches('.lit') && !part.closest('[inert]')")
    for beside in ("[data-question=note]", ".see", "form.say button"):
        assert frame.locator(beside).first.evaluate("part => Boolean(part.closest('[inert].dim'))"), beside
    shared.until(lambda: frame.inner_text(".lesson-card [role=status]") == "Highlighted: Which animal?")
    axe(shared, frame)
    button(frame, "Next").press("Enter")
    titled(shared, frame, "Where to look")
    hole = shared.until(lambda: frame.query_selector(".hole") and frame.evaluate(HOLE))
    assert all(abs(actual - wanted) < 2 for actual, wanted in zip(hole, (10, 10, 40, 30), strict=True)), hole

    button(frame, "Next").press("Enter")
    titled(shared, frame, "Try it")
    assert button(frame, "Start with the tasks").is_visible(), "it may be passed over"
    button(frame, "Check my answer").press("Enter")
    assert frame.locator("[data-question=animal] .bad").inner_text() == "Answer this question."
    frame.get_by_label("Owl").focus()
    page.keyboard.press("Space")
    button(frame, "Check my answer").press("Enter")
    shared.until(lambda: "0 of 1 right" in frame.inner_text(".judged"))
    assert "Owls have feathers." in frame.inner_text(".judged")
    assert frame.evaluate("document.activeElement.textContent") == "0 of 1 right"
    axe(shared, frame)
    button(frame, "Try again").press("Enter")
    frame.get_by_label("Fox").press("Space")
    button(frame, "Check my answer").press("Enter")
    shared.until(lambda: "Everything is right." in frame.inner_text(".judged"))
    assert "Foxes have pointed ears." in frame.inner_text(".judged") and not button(frame, "Try again").is_visible()
    button(frame, "Start with the tasks").focus()
    page.keyboard.press("Enter")  # the frame goes away, and ``press`` would wait for it

    task = shared.frame()
    task.wait_for_selector("form.say")
    assert not page.is_visible("#tutorial")
    sent = [one for one in shared.asked() if one.method == "POST" and "release" not in one.path]
    assert sent == [] and shared.mine.runs() == []
    page.reload()
    shared.frame().wait_for_selector("form.say")
    assert not page.is_visible("#tutorial"), "once"
    shared.mine.show(questions=QUESTIONS, guided_tutorial=tutorial(tasks=[{"name": "sample", "info": {}}]))
    page.reload()
    shared.frame().wait_for_selector("form.say")
    assert not page.is_visible("#tutorial"), "a new version alone is not shown again"
    shared.mine.show(questions=QUESTIONS, guided_tutorial=tutorial(edition=2))
    page.reload()
    titled(shared, lesson(shared), "Welcome")
    page.keyboard.press("Escape")
    page.wait_for_selector("#tutorial:not([open])", state="attached")
    assert shared.console == []


HOLE = """() => {  // where the rectangle is, in pixels of the original picture
    const image = document.querySelector('.medium img'), hole = document.querySelector('.hole').getBoundingClientRect();
    const box = image.getBoundingClientRect(), scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
    const left = box.left + (box.width - image.naturalWidth * scale) / 2, top = box.top + (box.height - image.naturalHeight * scale) / 2;
    return [(hole.left - left) / scale, (hole.top - top) / scale, hole.width / scale, hole.height / scale];
}"""


@pytest.mark.proof
def test_the_field_guide_is_searched_while_a_task_is_answered(shared: Any, new_project: Any) -> None:
    shared.context.clear_cookies()
    begin(shared, new_project, questions=QUESTIONS, field_guide=field_guide())
    page = shared.page
    shared.go("/project/MINE/newtask")
    frame = shared.frame()
    frame.wait_for_selector("form.say")
    frame.get_by_label("Fox").check()
    frame.locator("[data-question=note] input").fill("White tip")
    assert not [one for one in shared.asked() if "fieldguide" in one.path], "loaded when it is opened"
    button(frame, "Send").focus()
    page.wait_for_timeout(1_600)  # until then a letter belongs to the text
    shared.press_out_of_frame("g")
    search = page.get_by_label("Search the field guide")
    shared.until(lambda: search.count() and search.evaluate("field => field === document.activeElement"))
    entries = page.locator("#guide .entry")
    assert entries.all_inner_texts() == ["Red fox", "Tawny owl", "Empty picture"]
    boxes = [page.locator(part).bounding_box() for part in ("#presenter iframe", "#guide")]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1, "beside the task"
    page.keyboard.type("REYNARD fo")
    assert entries.all_inner_texts() == ["Red fox"] and page.inner_text("#guide-said") == "1 entry"
    axe(shared)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Red fox"
    assert page.locator("#guide figure").count() == 2 and "Photo: Ada" in page.inner_text("#guide")
    axe(shared)
    page.keyboard.press("Escape")
    assert not page.is_visible("#guide") and page.evaluate("document.activeElement.id") == "guide-open"
    page.keyboard.press("Enter")
    shared.until(lambda: page.evaluate("document.activeElement.textContent") == "Red fox")  # where it was left
    button(page.locator("#guide"), "All entries").click()
    assert search.input_value() == "REYNARD fo"
    search.fill("whale")
    assert page.inner_text("#guide-said") == "Nothing found. Try another word."
    assert frame.get_by_label("Fox").is_checked()
    assert frame.locator("[data-question=note] input").input_value() == "White tip"
    button(frame, "Send").click()
    shared.until(lambda: len(shared.mine.runs()) == 1)
    assert shared.mine.runs()[0]["info"]["note"] == "White tip" and shared.console == []


@pytest.mark.proof
def test_guides_on_a_phone_in_arabic_and_beside_html(make_stage: Any, new_project: Any) -> None:
    stage = make_stage(viewport={"width": 390, "height": 800}, locale="ar", has_touch=True, reduced_motion="reduce")
    begin(stage, new_project, questions=QUESTIONS, guided_tutorial=tutorial(), field_guide=field_guide())
    page = stage.page
    stage.go("/project/MINE/newtask")
    frame = lesson(stage)
    titled(stage, frame, "مرحبًا")
    assert frame.evaluate("document.documentElement.dir") == "rtl"
    frame.click(".lesson-buttons .main")
    lit = stage.until(lambda: frame.query_selector(".lit")).bounding_box()
    sheet = frame.locator(".lesson-card").bounding_box()
    assert lit["y"] + lit["height"] <= sheet["y"] + 1, "the sheet does not cover what is lit"
    assert sheet["y"] + sheet["height"] <= 800 and sheet["width"] == 390
    axe(stage, frame)
    stage.go("/project/MINE/tutorial")
    frame = stage.frame()
    frame.click(".lesson-buttons .bare")
    page.wait_for_url("**/newtask")
    stage.frame().wait_for_selector("form.say")
    assert not page.is_visible("#tutorial"), "who has seen it on its page does not see it again"
    page.tap("#guide-open")
    page.wait_for_selector("#guide .entry")
    assert page.inner_text("#guide .entry >> nth=0") == "ثعلب أحمر"
    panel = page.locator("#guide").bounding_box()
    assert panel["width"] == 390 and panel["y"] > 200 and panel["y"] + panel["height"] == 800
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    axe(stage)
    page.tap("#guide .entry >> nth=0")
    assert page.locator("#guide figure").count() == 2
    page.tap("#guide-close")
    assert not page.is_visible("#guide")

    begin(stage, new_project, task_presenter="<p>Own</p>", field_guide=field_guide())
    stage.go("/project/MINE/newtask")
    stage.frame().wait_for_selector("text=Own")
    stage.page.click("#guide-open")
    stage.page.wait_for_selector("#guide .entry")


CASES: list[tuple[str, Any, Any, dict[str, Any], bool]] = [
    ("single_choice", "fox", "fox", {}, True),
    ("single_choice", None, "fox", {}, False),
    ("yes_no", False, False, {}, True),
    ("multiple_choice", ["b", "a"], ["a", "b"], {}, True),
    ("multiple_choice", ["a"], ["a", "b"], {}, False),
    ("number", 4.5, 5, {"tolerance": 0.5}, True),
    ("number", 4.4, 5, {"tolerance": 0.5}, False),
    ("short_text", " Vulpes  VULPES", "vulpes vulpes", {}, True),
    ("short_text", "vulpes vulpus", "vulpes vulpes", {"tolerance": 1}, True),
    ("short_text", "vulpus vulpus", "vulpes vulpes", {"tolerance": 1}, False),
    ("matrix", {"a": "x", "b": "y"}, {"a": "x"}, {}, True),
    ("ranking", ["a", "b"], ["b", "a"], {}, False),
    ("count", [{}, {}], [{}], {"tolerance": 1}, True),
    ("count", [{}, {}, {}], [{}], {"tolerance": 1}, False),
    ("box", [{"x": 5, "y": 0, "width": 10, "height": 10}], [{"x": 0, "y": 0, "width": 15, "height": 10}], {}, True),
    ("box", [{"x": 9, "y": 0, "width": 10, "height": 10}], [{"x": 0, "y": 0, "width": 10, "height": 10}], {}, False),
    ("box", None, None, {}, True),
    ("box", [], [], {}, True),
    ("point", [{"x": 3, "y": 4}], [{"x": 0, "y": 0}], {}, True),
    ("point", [{"x": 3, "y": 4.2}], [{"x": 0, "y": 0}], {}, False),
    ("point", [{"x": 0, "y": 0, "label": "a"}], [{"x": 0, "y": 0, "label": "b"}], {}, False),
    ("point", [{"x": 4, "y": 0}, {"x": 0, "y": 0}], [{"x": 2, "y": 0}, {"x": 7, "y": 0}], {}, True),
    ("point", [{"x": 0, "y": 0}, {"x": 1, "y": 0}], [{"x": 0, "y": 0}], {}, False),
    ("line", [{"points": [[0, 0], [5, 1], [10, 0]]}], [{"points": [[0, 0], [10, 0]]}], {}, True),
    ("line", [{"points": [[0, 0], [5, 9]]}], [{"points": [[0, 0], [10, 0]]}], {}, False),
    ("polygon", [{"points": [[0, 0], [10, 0], [0, 10]]}], [{"points": [[0, 0], [10, 0], [10, 10], [0, 10]]}], {"tolerance": 0.48}, True),
    ("polygon", [{"points": [[0, 0], [10, 0], [0, 10]]}], [{"points": [[0, 0], [10, 0], [10, 10], [0, 10]]}], {"tolerance": 0.52}, False),
    ("text_spans", [{"start": 0, "end": 10}], [{"start": 2, "end": 10}], {}, True),
    ("sound_segments", [{"start": 0, "end": 1}], [{"start": 2, "end": 3}], {}, False),
    ("map_place", [{"geometry": {"coordinates": [10, 50]}}], [{"geometry": {"coordinates": [10.01, 50]}}], {}, True),
    ("map_place", [{"geometry": {"coordinates": [10, 50]}}], [{"geometry": {"coordinates": [10.02, 50]}}], {}, False),
]  # fmt: skip


def test_answers_are_judged_by_the_stated_rules(shared: Any) -> None:
    shared.go("/static/questions/lesson/judge.js")
    judged = shared.page.evaluate(
        """async (cases) => {
            const { judge } = await import('/static/questions/lesson/judge.js');
            return cases.map(([type, given, known, more]) => judge({ type }, given, { answers: [known], ...more }, 100).right);
        }""",
        CASES,
    )
    wrong = [case for case, right in zip(CASES, judged, strict=True) if right != case[-1]]
    assert wrong == []
