"""The builder of questions: by keyboard alone, with undo, and problems at their places."""

from __future__ import annotations

from typing import Any

import pytest
from question_builder import build, status, stored, written
from support.media import picture
from support.questions.question_lists import every_form

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shared(make_stage: Any) -> Any:
    return make_stage(viewport={"width": 1280, "height": 900})


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


def single_choice(page: Any) -> None:
    """A question with two choices; the focus stays at the second one."""
    tab_to(page, "Single choice")
    page.keyboard.press("Enter")
    assert focused(page) == "Question"
    page.keyboard.type("Which animal?")
    tab_to(page, "Choices 1: Text")
    page.keyboard.type("Fox")
    tab_to(page, "Choices 2: Text")
    page.keyboard.type("Owl")


def save(page: Any) -> None:
    page.locator("body").press("Home")
    tab_to(page, "Save questions", "Shift+Tab")
    page.keyboard.press("Enter")
    page.locator(".flash", has_text="Saved.").wait_for()


def test_a_question_is_built_by_keyboard(shared: Any, new_project: Any) -> None:
    page = build(shared, new_project)
    single_choice(page)
    [question] = written(page)["steps"][0]["questions"]
    assert [choice["value"] for choice in question["choices"]] == ["fox", "owl"]
    status(shared, "No problems")
    save(page)
    assert stored(shared)["questions"]["steps"][0]["questions"] == [question] and shared.console == []


@pytest.mark.proof
@pytest.mark.parametrize("is_template", [True, False])
def test_a_label_that_is_replaced_leaves_nothing_of_the_template(
    shared: Any, new_project: Any, is_template: bool
) -> None:
    duck = {"value": "bird", "text": "Eine Ente", "key": "d", "colour": "#a32a1c"}
    boat = {"value": "boot", "text": "Ein Boot", "key": "b"}
    photo = {"name": "photo", "type": "picture", "source": {"column": "picture"}}
    question = {"name": "seen", "type": "box", "on": "photo", "text": "?", "labels": [duck, boat]}
    document = {"version": 1, "steps": [{"name": "look", "media": [photo], "questions": [question]}]}
    shared.begin()
    shared.mine = new_project(n_answers=2)
    shared.sign_in(shared.mine.owner)
    shared.mine.show(questions=document, task_presenter=None, **({"template": "boxes"} if is_template else {}))
    shared.go("/project/MINE/tasks/taskpresentereditor?part=questions")
    page = shared.page
    page.locator(".b-item.b-item .b-name", has_text="Boxes").click()
    words = page.locator(".b-choice input[id$=-text]")

    def labels() -> list[dict[str, str]]:
        return [{**each} for each in written(page)["steps"][0]["questions"][0]["labels"]]

    words.first.fill("")
    words.first.press_sequentially("Blue swan")
    replaced = {"value": "blue_swan", "text": "Blue swan", "key": "l", "colour": "#a32a1c"}
    assert labels() == [replaced if is_template else {**duck, "text": "Blue swan"}, boat]
    words.nth(1).fill("Ein Boot im Hafen")
    assert labels()[1]["key"] == "b", "a text that only grows keeps its key"
    words.nth(1).fill("Kahn")
    assert labels()[1]["key"] == "k" and shared.console == []


@pytest.mark.proof
def test_numbers_are_read_as_the_language_of_the_page_writes_them(make_stage: Any, new_project: Any) -> None:
    chart = {"name": "chart", "type": "map", "description": "Karte", "center": [48.137, 11.5]}
    question = {"name": "where", "type": "map_place", "on": "chart", "text": "Wo?"}
    document = {"version": 1, "steps": [{"name": "look", "media": [chart], "questions": [question]}]}
    stage = make_stage(viewport={"width": 1280, "height": 900})
    german = (
        "new MutationObserver(() => { document.documentElement.lang = 'de' }).observe(document, { childList: true })"
    )
    stage.context.add_init_script(german)
    page = build(stage, new_project, document)
    page.locator(".b-media .b-name").click()
    latitude, longitude = page.locator("input[id*=-center-]").all()
    assert [latitude.input_value(), longitude.input_value()] == ["48,137", "11,5"]
    longitude.fill("11,575")
    assert written(page)["steps"][0]["media"][0]["center"] == [48.137, 11.575]
    latitude.fill("48.1")
    assert written(page)["steps"][0]["media"][0]["center"] == [48.1, 11.575] and stage.console == []
    longitude.fill("elf")
    assert written(page)["steps"][0]["media"][0]["center"] == [48.1, "elf"], "the check says that this is no number"


@pytest.mark.proof
def test_questions_are_built_by_keyboard_alone_and_undone(shared: Any, new_project: Any) -> None:
    page = build(shared, new_project)
    press, write = page.keyboard.press, page.keyboard.type
    single_choice(page)
    press("Enter")  # one more
    write("Badger")
    tab_to(page, "Move up: Badger")
    press("Enter")
    assert page.locator(".builder > [role=status]").inner_text() == "Badger is now at 2 of 3."
    tab_to(page, "An answer is required")
    press("Space")
    tab_to(page, "Add a question")
    press("Enter")
    write("boxes")  # the field that searches the types has the focus
    tab_to(page, "Boxes")
    press("Enter")
    assert focused(page) == "Question"
    write("Mark it")
    tab_to(page, "Add a question")  # about each mark
    press("Enter")
    tab_to(page, "Short text")
    press("Enter")
    write("What is it?")
    tab_to(page, "Boxes", "Shift+Tab")
    press("Alt+ArrowUp")
    assert [q["type"] for q in written(page)["steps"][0]["questions"]] == ["box", "single_choice"]
    assert page.locator(".builder > [role=status]").inner_text() == "Mark it is now at 1 of 2 in step 1."
    assert focused(page).startswith("Boxes")
    tab_to(page, "Add a step")
    press("Enter")
    write("Only foxes")
    tab_to(page, "Add a condition")
    press("Enter")
    assert page.locator(".b-condition").get_by_label("Fox").is_checked()
    tab_to(page, "Add a question")
    press("Enter")
    write("yes")
    tab_to(page, "Yes or no")
    press("Enter")
    write("Is it young?")
    document = written(page)
    assert [each["value"] for each in document["steps"][0]["questions"][1]["choices"]] == ["fox", "badger", "owl"]
    assert document["steps"][1]["show_if"] == {"question": "which_animal", "is": ["fox"]}
    tab_to(page, "Yes or no", "Shift+Tab")
    press("Delete")
    assert page.locator(".builder > [role=status]").inner_text() == "Is it young? deleted. Ctrl+Z brings it back."
    assert focused(page).startswith("Add a question")
    press("Control+z")
    assert written(page) == document
    for _ in range(60):
        press("Control+z")
    assert written(page) == {"version": 1, "steps": []}
    for _ in range(60):
        press("Control+Shift+z")
    press("Control+z")  # the last thing that was undone is that it was deleted
    assert written(page) == document
    status(shared, "No problems")
    save(page)
    assert stored(shared)["questions"] == document and shared.console == []


@pytest.mark.proof
def test_problems_appear_at_their_places_and_go(shared: Any, new_project: Any) -> None:
    page = build(shared, new_project, every_form())
    status(shared, "No problems")
    animal = page.locator(".b-item", has_text="Which animal?").first
    animal.locator(".b-name").first.click()
    animal.get_by_label("Choices 1: Key").fill("s")
    status(shared, "1 problem")
    assert animal.locator(".b-choice .err").inner_text().strip() == "The key “s” belongs to the page around the task."
    assert animal.get_by_label("Choices 1: Key").get_attribute("aria-invalid") == "true"
    animal.get_by_label("Choices 1: Key").fill("o")
    shared.until(lambda: "Two entries have the key “o”." in page.locator(".b-problems").inner_text())
    page.get_by_role("button", name="Save questions").click()  # stays, and leads to the problem
    shared.until(lambda: focused(page) == "Choices 2: Key")
    animal.get_by_label("Choices 1: Key").fill("f")
    status(shared, "No problems")
    animal.locator(".b-more summary").first.click()
    animal.get_by_label("Name in the results").fill("Two words")
    status(shared, "1 problem")  # conditions follow the name
    animal.get_by_label("Name in the results").fill("beast")
    status(shared, "No problems")
    assert written(page)["steps"][3]["show_if"] == {"question": "beast", "is": ["fox"]}
    last = page.locator(".b-step").last
    last.get_by_role("button", name="Move up: Step 4").click()
    page.get_by_role("button", name="Move up: Step 3").click()
    page.get_by_role("button", name="Move up: Step 2").click()
    shared.until(lambda: "Name a question that comes before." in page.locator(".b-problems").inner_text())
    page.locator(".b-problems a").click()
    assert focused(page).startswith("Question of condition 1")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    status(shared, "No problems")
    medium = page.locator(".b-media .b-item").first
    medium.locator(".b-name").click()
    medium.get_by_label("Source", exact=True).fill("photograph")
    advice = "None of 3 checked tasks has the column “photograph”."
    shared.until(
        lambda: medium.locator(".b-advice").count() and medium.locator(".b-advice").inner_text().strip() == advice
    )
    assert written(page)["steps"][0]["media"][0]["source"] == {"column": "photograph"}
    page.evaluate(
        "window.left = 0; addEventListener('beforeunload', event => { window.left += event.defaultPrevented; })"
    )
    page.locator(".b-toolbar").click()
    dialogs: list[str] = []
    page.once("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.dismiss()))
    page.locator(".mark").first.click(no_wait_after=True)
    shared.until(lambda: dialogs == ["beforeunload"])
    assert shared.console == []


def test_it_asks_once_whether_questions_have_a_right_answer(shared: Any, new_project: Any) -> None:
    asked = {"name": "how", "type": "yes_no", "text": "Are you glad?"}
    mark = {"name": "boxes", "type": "box", "on": "photo", "text": "Where?", "each": [{**asked, "name": "sure"}]}
    photo = {"name": "photo", "type": "picture", "source": {"column": "link"}}
    steps = [{"name": "one", "media": [photo], "questions": [mark, asked]}]
    page = build(shared, new_project, {"version": 1, "steps": steps})
    asks = page.get_by_role("group", name="What do you ask for?")
    assert asks.get_by_label("Facts").is_checked()
    asks.get_by_label("Opinions").check()

    def kinds() -> list[Any]:
        marked, other = written(page)["steps"][0]["questions"]
        return [one.get("kind") for one in (marked, *marked["each"], other)]

    assert kinds() == ["opinion"] * 3 and asks.get_by_label("Opinions").is_checked()
    page.get_by_role("button", name="Are you glad?", exact=False).first.click()
    page.locator("summary", has_text="More settings").last.click()
    page.get_by_label("Is there a right answer?").select_option("Yes, the same for everybody")
    assert kinds() == ["opinion", "opinion", None]
    assert not asks.get_by_label("Facts").is_checked() and not asks.get_by_label("Opinions").is_checked()
    asks.get_by_label("Facts").check()
    assert kinds() == [None] * 3
    status(shared, "No problems")


@pytest.mark.proof
def test_a_picture_of_the_help_is_uploaded_and_removed(shared: Any, new_project: Any) -> None:
    question = {"name": "animal", "type": "short_text", "text": "Which animal?", "help": "Look at its tail."}
    document = {"version": 1, "steps": [{"name": "look", "questions": [question]}]}
    page = build(shared, new_project, document)
    page.locator("#builder").get_by_role("button", name="Which animal?").first.click()
    page.locator("summary", has_text="More settings").first.click()
    chosen = {"name": "tail.jpg", "mimeType": "image/jpeg", "buffer": picture(3)}
    page.get_by_label("Picture for the help").set_input_files(chosen)
    page.locator(".b-picture img").wait_for()
    helped = written(page)["steps"][0]["questions"][0]["help"]
    assert helped["text"] == "Look at its tail." and helped["picture"].startswith("/uploads/"), helped
    preview = page.frame_locator("#preview iframe").locator(f"img[src$='{helped['picture']}']")
    shared.until(lambda: preview.count() and preview.first.evaluate("image => image.naturalWidth") > 0)
    page.get_by_role("button", name="Remove picture").click()
    page.get_by_label("Picture for the help").wait_for()
    assert written(page)["steps"][0]["questions"][0]["help"] == "Look at its tail." and shared.console == []
