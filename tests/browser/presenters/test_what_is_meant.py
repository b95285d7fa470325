"""What a volunteer does is what is stored, or they see that it is not: numbers, keys, and media that do not load."""

from __future__ import annotations

from typing import Any

import pytest
from support.checks.shows import shows
from support.questions.marked_lists import SITE
from support.questions.marking import answers, ask, button, forward, with_media

pytestmark = pytest.mark.browser
MISSING = "This part of the task did not load."
COUNT = {
    "version": 1,
    "steps": [{"name": "count", "questions": [{"name": "n", "type": "number", "text": "How many?"}]}],
}
BLANK = {"name": "n", "type": "number", "text": "How many?", "required": True, "nothing": True, "unsure": True}
OFFERED = ("number", "short_text", "long_text", "date", "multiple_choice")
WHEN = {
    "name": "when",
    "type": "date",
    "text": "When was it written?",
    "partial": True,
    "min": "1834-05-10",
    "required": True,
}
LOOK = {"name": "thing", "type": "picture", "source": {"url": f"{SITE}/flaky.jpg"}, "description": "A thing"}
ANIMALS = {
    "name": "animal",
    "type": "single_choice",
    "text": "What is it?",
    "required": True,
    "choices": [{"value": "fox", "text": "Fox", "key": "f"}, {"value": "owl", "text": "Owl", "key": "o"}],
}


def list_of(*questions: Any, media: tuple[Any, ...] = ()) -> Any:
    return {"version": 1, "steps": [{"name": "look", "media": list(media), "questions": list(questions)}]}


@pytest.fixture(scope="module")
def desk(make_stage: Any, new_project: Any) -> Any:
    stage = with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))
    stage.mine = new_project(tasks=40)
    stage.works = {"works": False}
    good = stage.context

    def flaky(route: Any) -> None:
        if stage.works["works"]:
            route.fallback(url=f"{SITE}/photo.jpg")
        else:
            route.fulfill(status=404, headers={"Access-Control-Allow-Origin": "*"})

    for path in ("flaky.jpg", "tile-*"):
        good.route(f"{SITE}/{path}", flaky)
    return stage


def stored(stage: Any, document: Any, frame: Any, name: str = "Send") -> Any:
    before = len(stage.mine.runs())
    forward(frame, name)
    return answers(stage, before + 1, document)


@shows("questions-number")
def test_a_number_is_what_was_typed_whatever_the_wheel_does(desk: Any) -> None:
    frame = ask(desk, COUNT)
    field = frame.locator("input")
    field.click()
    desk.page.keyboard.type("35", delay=20)
    for _turn in range(5):
        desk.page.mouse.wheel(0, 120)
    desk.page.keyboard.press("ArrowUp")
    assert field.input_value() == "35"
    assert stored(desk, COUNT, frame)["n"] == 35


ECHO = """<p id="seen"></p><script>pybossa.presentTask((task) => { document.getElementById("seen").textContent = task.info.big;
    pybossa.saveTask(task.id, { big: task.info.big, small: task.info.small }); }); pybossa.run("MINE");</script>"""


@shows("exact-numbers")
def test_a_presenter_sends_back_the_number_that_it_was_given(stage: Any) -> None:
    mine = stage.mine
    big, small = 1234567890123456789, 9007199254740991
    info = {"big": big, "small": small}
    mine.owner.api("POST", "task", {"project_id": mine.id, "info": info, "priority_0": 1})
    mine.show(task_presenter=ECHO.replace("MINE", mine.short_name))
    stage.go("/project/MINE/newtask")
    runs = stage.until(mine.runs)
    assert runs[0]["info"] == {"big": str(big), "small": small}
    assert stage.frame().inner_text("#seen") == str(big)


@pytest.mark.parametrize(
    ("language", "text", "shown", "value"),
    [("en", "1,234", "1,234 = 1234", 1234), ("de", "1,5", "1,5 = 1.5", 1.5), ("de", "1.234", "1.234 = 1234", 1234)],
)
def test_a_comma_and_a_point_are_both_read_and_what_was_understood_is_shown(
    make_stage: Any, new_project: Any, language: str, text: str, shown: str, value: float
) -> None:
    stage = make_stage(viewport={"width": 390, "height": 844}, locale=language)
    stage.mine = new_project(tasks=2)
    frame = ask(stage, COUNT)
    frame.locator("input").click()
    stage.page.keyboard.type(text, delay=10)
    assert frame.locator("output").inner_text() == shown
    assert stored(stage, COUNT, frame, {"en": "Send", "de": "Absenden"}[language])["n"] == value


@pytest.mark.parametrize("text", ["12345678901234567", "1,2,3", "many"])
def test_what_cannot_be_stored_exactly_is_refused_and_said(desk: Any, text: str) -> None:
    frame, before = ask(desk, COUNT), len(desk.mine.runs())
    frame.locator("input").fill(text)
    forward(frame, "Send")
    frame.locator("[data-question=n] .bad:visible").wait_for()
    assert len(desk.mine.runs()) == before


@shows("questions-unseen")
def test_a_picture_that_does_not_load_is_not_answered_unless_that_is_meant(desk: Any) -> None:
    document = list_of(ANIMALS, media=(LOOK,))
    desk.works["works"] = False
    frame, before = ask(desk, document), len(desk.mine.runs())
    frame.get_by_text(MISSING).wait_for()
    desk.page.wait_for_function("performance.now() > 300")
    desk.page.keyboard.press("f")
    fox = frame.get_by_role("button", name="Fox")
    box = fox.bounding_box()
    desk.page.mouse.click(box["x"] + 20, box["y"] + 10)
    assert frame.get_by_text(MISSING).is_visible() and len(desk.mine.runs()) == before

    desk.works["works"] = True
    button(frame, "Load again").click()
    frame.get_by_text(MISSING).wait_for(state="hidden")
    fox.click()
    info = answers(desk, before + 1, document)
    assert info["animal"] == "fox" and "unseen" not in info


def test_an_answer_without_the_picture_says_so(desk: Any) -> None:
    document = list_of(ANIMALS, media=(LOOK,))
    desk.works["works"] = False
    frame, before = ask(desk, document), len(desk.mine.runs())
    button(frame, "Answer without it").click()
    frame.get_by_text("You are answering without it.").wait_for()
    frame.get_by_role("button", name="Owl").click()
    info = answers(desk, before + 1, document)
    assert (info["animal"], info["unseen"]) == ("owl", ["thing"])


@pytest.mark.proof
@shows("questions-unseen")
def test_a_place_is_marked_on_a_map_that_was_seen(desk: Any) -> None:
    ground = {
        "name": "thing",
        "type": "map",
        "center": [48.85, 2.35],
        "zoom": 12,
        "tiles": f"{SITE}/tile-{{z}}-{{x}}-{{y}}",
    }
    document = list_of({"name": "where", "type": "map_place", "text": "Where?", "on": "thing"}, media=(ground,))
    desk.works["works"] = False
    frame, before = ask(desk, document), len(desk.mine.runs())
    frame.get_by_text(MISSING).wait_for()
    assert frame.locator(".answers").evaluate("place => place.inert")
    desk.works["works"] = True
    button(frame, "Load again").click()
    frame.get_by_text(MISSING).wait_for(state="hidden")
    add = button(frame, "Add a place")
    desk.until(lambda: add.count() and add.is_enabled())
    add.click()
    forward(frame, "Send")
    info = answers(desk, before + 1, document)
    assert len(info["where"]) == 1 and "unseen" not in info


@shows("questions-number")
def test_an_exact_position_is_read_as_numbers_are_and_no_wheel_changes_it(desk: Any) -> None:
    box = {"name": "it", "type": "box", "on": "thing", "text": "Where?"}
    picture = {**LOOK, "source": {"url": f"{SITE}/photo.jpg"}}
    document = list_of(box, media=(picture,))
    frame, before = ask(desk, document), len(desk.mine.runs())
    add = button(frame, "Add a box")
    desk.until(lambda: add.count() and add.is_enabled())
    add.click()
    frame.get_by_text("Exact position").click()
    width = frame.get_by_label("Width", exact=True)
    width.click()
    desk.page.keyboard.press("ControlOrMeta+a")
    desk.page.keyboard.type("120,5", delay=20)
    for _turn in range(3):
        desk.page.mouse.wheel(0, 120)
    desk.page.keyboard.press("Tab")
    assert width.input_value() == "120.5"
    forward(frame, "Send")
    assert answers(desk, before + 1, document)["it"][0]["width"] == 120.5


NOTE = {"name": "note", "type": "long_text", "text": "What does it say?"}


@shows("page-task-unsent-work")
def test_words_that_lose_the_focus_skip_nothing_and_skipping_asks(desk: Any) -> None:
    frame, before = ask(desk, list_of(NOTE)), len(desk.mine.runs())
    frame.locator("textarea").click()
    desk.page.keyboard.type("Wind", delay=20)
    frame.locator("form.say h1").click()  # the focus falls to the page
    desk.page.keyboard.type(" sails has set", delay=20)
    assert desk.page.locator("#why").is_hidden() and desk.page.locator("#keys").is_hidden()
    assert frame.locator("textarea").input_value() == "Wind"
    desk.page.locator("#skip").click()
    desk.page.get_by_text("Your work on this task is not sent.").wait_for()
    assert desk.page.evaluate("document.activeElement.id") == "keep"
    desk.page.keyboard.press("Enter")
    assert desk.page.locator("#why").is_hidden() and frame.locator("textarea").input_value() == "Wind"
    assert stored(desk, list_of(NOTE), frame)["note"] == "Wind" and len(desk.mine.runs()) == before + 1


def press(stage: Any, key: str, code: str, number: int, times: tuple[str, ...] = ("keyDown", "keyUp")) -> None:
    """A key as the keyboard of another layout sends it."""
    session = stage.context.new_cdp_session(stage.page)
    for kind in times:
        text = {"text": key} if kind == "keyDown" else {}
        session.send(
            "Input.dispatchKeyEvent", {"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, **text}
        )
    session.detach()


@shows("page-task-keys-layout")
def test_keys_of_other_layouts_answer_by_their_place_and_bounce_once(desk: Any) -> None:
    document = list_of(ANIMALS)
    frame, before = ask(desk, document), len(desk.mine.runs())
    frame.get_by_role("button", name="Fox").wait_for()
    desk.page.wait_for_timeout(300)  # a key on a task that has just appeared was meant for the one before
    press(desk, "а", "KeyF", 70, ("keyDown", "keyUp", "keyDown", "keyUp"))
    desk.until(lambda: len(desk.mine.runs()) == before + 1)
    assert desk.mine.runs()[-1]["info"]["animal"] == "fox"
    desk.page.wait_for_timeout(500)
    assert len(desk.mine.runs()) == before + 1


RUSSIAN = """
Object.defineProperty(navigator, "keyboard", { value: { getLayoutMap: async () => new Map([
  ["KeyF", "а"], ["KeyO", "щ"], ["KeyS", "ы"], ["KeyZ", "я"], ["Digit1", "1"]]) } });
"""


@shows("page-task-keys-layout")
def test_shortcuts_are_shown_as_the_keys_are_labelled(make_stage: Any, new_project: Any) -> None:
    stage = make_stage(viewport={"width": 1280, "height": 800})
    stage.context.add_init_script(RUSSIAN)
    stage.mine = new_project(tasks=2)
    frame = ask(stage, list_of(ANIMALS))
    stage.until(lambda: frame.locator("kbd").all_inner_texts() == ["А", "Щ"])
    assert stage.page.locator("#skip kbd").inner_text() == "Ы"
    stage.page.keyboard.press("?", delay=80)
    stage.until(lambda: stage.page.locator("#offers kbd").all_inner_texts()[:2] == ["А", "Щ"])


def test_letters_answer_while_what_was_pressed_has_the_focus(desk: Any) -> None:
    frame = ask(
        desk, list_of({**ANIMALS, "required": False}, {"name": "sure", "type": "yes_no", "text": "Are you sure?"})
    )
    frame.get_by_role("radio", name="Yes").click()
    assert frame.evaluate("document.activeElement.type") == "radio"
    desk.page.keyboard.press("f", delay=80)
    desk.until(frame.get_by_role("radio", name="Fox").is_checked)


def test_letters_choose_labels_while_a_picture_that_zooms_has_the_focus(desk: Any) -> None:
    labels = [{"value": "boat", "text": "Boat", "key": "b"}, {"value": "duck", "text": "Duck", "key": "d"}]
    boxes = {"name": "it", "type": "box", "on": "thing", "text": "Where?", "labels": labels}
    picture = {**LOOK, "type": "zoom_picture", "source": {"url": f"{SITE}/photo.jpg"}}
    frame = ask(desk, list_of(boxes, media=(picture,)))
    frame.get_by_role("button", name="Draw", pressed=True).wait_for()
    viewer = frame.locator(".view")
    viewer.focus()
    desk.page.keyboard.press("d", delay=80)
    desk.until(frame.get_by_role("radio", name="Duck").is_checked)
    assert viewer.evaluate("view => view === document.activeElement")


def test_long_words_wrap_in_the_frame(make_stage: Any, new_project: Any) -> None:
    stage = make_stage(viewport={"width": 320, "height": 640})
    stage.mine = new_project(tasks=2)
    frame = ask(
        stage, list_of({"name": "n", "type": "number", "text": "Rindfleischetikettierungsüberwachungsaufgabe" * 2})
    )
    wide, width = frame.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= width


@shows("taskrun-circumstances")
def test_with_an_answer_goes_how_it_was_given(desk: Any) -> None:
    picture = {**LOOK, "source": {"url": f"{SITE}/photo.jpg"}}
    document = list_of(COUNT["steps"][0]["questions"][0], media=(picture,))
    frame = ask(desk, document)
    frame.locator("input").click()
    desk.page.keyboard.type("12", delay=20)
    desk.page.wait_for_timeout(1_100)
    stored(desk, document, frame)
    circumstances = desk.mine.runs()[-1]["circumstances"]
    assert circumstances["media"] == {"thing": f"{SITE}/photo.jpg"} and circumstances["language"] == "en"
    assert circumstances["inputs"] == ["keyboard", "pointer"]
    assert 1 < circumstances["seconds_active"] <= circumstances["seconds_visible"] < 30


def type_date(page: Any, frame: Any, parts: dict[str, str]) -> None:
    """By keyboard alone: a month is chosen by its first letters."""
    for name, text in parts.items():
        frame.get_by_label(name, exact=True).focus()
        page.keyboard.press("Home" if name == "Month" else "ControlOrMeta+a")
        page.keyboard.type(text, delay=80)


@shows("questions-date")
def test_a_date_is_stored_with_the_parts_that_are_known(desk: Any) -> None:
    frame = ask(desk, list_of(WHEN))
    labels = [text.strip() for text in frame.locator(".date.parts label").all_inner_texts()]
    assert labels == ["Month", "Day", "Year"]
    for parts, refused in (
        ({}, "Answer this question."),
        ({"Month": "May"}, "Enter the year, too."),
        ({"Year": "1834", "Month": "", "Day": "3"}, "Choose the month, too."),
        ({"Year": "1835", "Month": "Feb", "Day": "30"}, "Enter a date."),
        ({"Year": "1834", "Month": "May", "Day": "9"}, "Enter May 10, 1834 or later."),
        ({"Month": "Ap", "Day": " "}, "Enter May 10, 1834 or later."),
        ({"Year": "18x4"}, "Enter a date."),
    ):
        type_date(desk.page, frame, parts)
        forward(frame, "Send")
        assert frame.locator("[data-question=when] .bad").inner_text() == refused, parts
    type_date(desk.page, frame, {"Year": "1834", "Month": "May"})
    assert frame.locator("output").inner_text() == "May 1834"
    assert stored(desk, list_of(WHEN), frame)["when"] == "1834-05"
    for parts, value in (
        ({"Year": "1834"}, "1834"),
        ({"Year": "1904", "Month": "Feb", "Day": "29"}, "1904-02-29"),
        ({"Year": "\u0661\u0668\u0663\u0669"}, "1839"),
    ):
        frame = ask(desk, list_of(WHEN))
        type_date(desk.page, frame, parts)
        assert stored(desk, list_of(WHEN), frame)["when"] == value


@shows("questions-date")
def test_the_fields_of_a_date_are_in_the_order_and_the_words_of_the_language(make_stage: Any, new_project: Any) -> None:
    stage = make_stage(viewport={"width": 390, "height": 844}, locale="de")
    stage.mine = new_project(tasks=2)
    frame = ask(stage, list_of({**WHEN, "required": False}))
    assert frame.locator(".date.parts label").all_inner_texts() == ["Tag", "Monat", "Jahr"]
    type_date(stage.page, frame, {"Tag": "3", "Monat": "M\u00e4r", "Jahr": "1835"})
    assert frame.locator("output").inner_text() == "3. M\u00e4rz 1835"
    assert stored(stage, list_of(WHEN), frame, "Absenden")["when"] == "1835-03-03"


@shows("answer-instead")
def test_left_out_nothing_there_and_cannot_tell_are_three_answers(desk: Any) -> None:
    document = list_of(BLANK)
    frame = ask(desk, document)
    forward(frame, "Send")
    assert frame.locator("[data-question=n] .bad").inner_text() == "Answer this question."
    nothing, unsure = frame.get_by_label("Nothing there"), frame.get_by_label("I can\u2019t tell")
    frame.locator("[data-question=n] input[type=text]").fill("4")
    unsure.check()
    assert frame.locator("[data-question=n] input[type=text]").input_value() == ""
    nothing.focus()
    desk.page.keyboard.press("Space", delay=80)
    assert nothing.is_checked() and not unsure.is_checked(), "one of them at a time"
    assert stored(desk, document, frame)["n"] == []
    frame = ask(desk, document)
    frame.get_by_label("Nothing there").check()
    frame.get_by_label("I can\u2019t tell").check()
    assert stored(desk, document, frame)["n"] is None
    optional = list_of({**BLANK, "required": False})
    frame = ask(desk, optional)
    frame.get_by_label("Nothing there").check()
    frame.locator("[data-question=n] input[type=text]").fill("0")
    assert not frame.get_by_label("Nothing there").is_checked(), "a value takes its place"
    assert stored(desk, optional, frame)["n"] == 0
    frame = ask(desk, optional)
    assert "n" not in stored(desk, optional, frame)


@shows("answer-instead")
def test_nothing_there_can_be_said_of_each_type_and_changed_afterwards(desk: Any) -> None:
    choices = {"choices": [{"value": "fox", "text": "Fox"}]}
    more = {"multiple_choice": choices, "date": {"partial": True}}
    document = list_of(
        *({"name": kind, "type": kind, "text": kind, "nothing": True, **more.get(kind, {})} for kind in OFFERED)
    )
    frame = ask(desk, document)
    for box in frame.get_by_label("Nothing there").all():
        box.check()
    info = stored(desk, document, frame)
    assert {kind: info[kind] for kind in OFFERED} == {kind: [] for kind in OFFERED}
    desk.page.locator("#change:visible").click()
    desk.until(lambda: frame.get_by_label("Nothing there").first.is_checked())
    assert all(box.is_checked() for box in frame.get_by_label("Nothing there").all())
