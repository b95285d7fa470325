"""The gallery in Chromium: every template is tried and its answer fits the schema; a draft in one click; axe finds nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from support.checks.proofs import examples
from support.until import until_on
from test_accessibility import AXE, RUN_IN

from crowdd.features.gallery.gallery import SHIPPED
from crowdd.features.gallery.template import read
from crowdd.kinds.questions import answer_schema

pytestmark = pytest.mark.browser
FOLDERS = sorted(path for path in SHIPPED.iterdir() if path.is_dir())
MARKS = ("box", "point", "count", "line", "polygon", "freehand", "text_spans", "sound_segments", "video_segments")
MAPS = ("map_place", "map_area")


def choose(control: Any) -> None:
    """By keyboard: a click would miss a control that moves because the frame grows."""
    control.press("Enter" if control.evaluate("control => control.localName") == "button" else " ")


def fill(frame: Any, question: dict[str, Any]) -> None:
    """Answers a question by its controls."""
    place, kind = frame.locator(f'[data-question="{question["name"]}"]'), question["type"]
    if kind in ("single_choice", "yes_no", "multiple_choice"):
        choose(place.locator("input, button").first)
    elif kind == "rating" and question.get("slider"):
        place.locator("input[type=range]").press("ArrowRight")
    elif kind == "rating":
        choose(place.locator("input").first)
    elif kind == "number":
        place.locator("input").first.fill(str(question.get("min", 1) or 1))
    elif kind == "date":
        place.locator("input").first.fill("1891-03-04")
    elif kind in ("short_text", "long_text"):
        place.locator("input, textarea").first.fill("a few words")
    elif kind == "ranking":
        choose(place.get_by_role("button", name="Keep this order"))
    elif kind == "matrix":
        for row in question["rows"]:
            choose(place.get_by_role("radio", name=row["text"]["en"]).first)
    else:
        mark(place, kind)


def mark(place: Any, kind: str) -> None:
    """Adds a mark with the button below the question, and writes its line. The button works once the medium is there."""
    assert kind in (*MARKS, *MAPS, "transcription"), kind
    choose(place.locator(".marks-tools button:enabled:not([hidden]):not([aria-pressed])").first)
    place.locator(".marks-list li").first.wait_for()
    if kind == "transcription":
        place.locator(".marks-list input[type=text], .marks-list textarea").first.fill("a line")


def answer(page: Any, document: dict[str, Any]) -> dict[str, Any]:
    """Answers the first sample task, every question that is shown; what would be stored."""
    frame = page.frame_locator("#trial iframe")
    for step in document["steps"]:
        for question in step.get("questions", []):
            block = frame.locator(f'[data-question="{question["name"]}"]')
            if "show_if" not in question:
                block.wait_for()
            if block.is_visible():
                fill(frame, question)
        if len(document["steps"]) > 1 or len(step["questions"]) > 1 or step["questions"][0]["type"] != "single_choice":
            frame.locator("form > .end button.main").press("Enter")  # the frame may still grow
    page.locator("#trial-answer").wait_for()
    return dict(json.loads(page.locator("#trial-answer pre").text_content()))


def types_of(document: dict[str, Any]) -> set[str]:
    return {question["type"] for step in document["steps"] for question in step.get("questions", [])}


def of_each_type() -> list[Path]:
    """Few templates that have every type of question that any has."""
    left, chosen = {folder: types_of(read(folder).project["info"]["questions"]) for folder in FOLDERS}, list[Path]()
    while any(left.values()):
        best = max(left, key=lambda folder: len(left[folder]))
        chosen.append(best)
        left = {folder: types - left[best] for folder, types in left.items()}
    return chosen


@examples("one")
@pytest.mark.parametrize(
    "chosen",
    [lambda: of_each_type()[:1], of_each_type, lambda: FOLDERS],
    ids=["one", "of each type", "every template"],
)
def test_templates_can_be_tried_and_their_answers_fit(
    live_server: Any, browser: Any, chosen: Callable[[], list[Path]]
) -> None:
    context = browser.new_context(locale="en")
    context.set_default_timeout(60_000)
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    stored: list[str] = []
    page.on("request", lambda request: stored.append(request.url) if request.method == "POST" else None)
    for folder in chosen():
        document = read(folder).project["info"]["questions"]
        page.goto(f"{live_server.url}/templates/{folder.name}")
        try:
            info = answer(page, document)
        except Exception as error:
            raise AssertionError(
                f"{folder.name}: {page.frame_locator('#trial iframe').locator('body').inner_text()}"
            ) from error
        jsonschema_rs.validate(answer_schema(document), info)
        asked = [question["name"] for step in document["steps"] for question in step["questions"]]
        assert set(info) - {"questions_version"} <= set(asked) and len(info) > 1, folder.name
        texts = page.locator("#trial-answer dd").all_text_contents()
        assert len(texts) == len(info) - 1 and all(words.strip() for words in texts), (folder.name, texts)
    assert wrong == [] and stored == [], "a trial reaches the server"
    context.close()


@pytest.mark.proof
def test_a_template_becomes_a_draft_in_one_click(live_server: Any, browser: Any, new_person: Callable[[], Any]) -> None:
    person = new_person()
    context = browser.new_context(locale="en")
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(f"{live_server.url}/account/signin?next=/templates")
    page.fill("#email", f"{person.name}@example.org")
    page.fill("#password", "a-long-password-1")
    page.locator("main form button.main").click()
    page.wait_for_url("**/templates")
    page.fill("#q", "penguins")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=penguins*")
    page.locator("main article a").first.click()
    page.wait_for_url("**/templates/count-animals*")
    page.locator("main form[action$='/use'] button").press("Enter")
    page.locator(".flash").first.wait_for()
    assert "/project/count-animals-" in page.url, page.locator("main").inner_text()
    (row,) = person.api("GET", "project", short_name=page.url.rstrip("/").rpartition("/")[2])
    assert row["n_tasks"] == 3 and row["info"]["language"] == "en"
    page.goto(f"{live_server.url}/project/{row['short_name']}/newtask")
    frame = page.frame_locator("#presenter iframe")
    frame.locator("form").first.wait_for()
    until_on(page, lambda: frame.locator("img").first.evaluate("image => image.naturalWidth") > 0)
    context.close()


@pytest.mark.proof
def test_axe_finds_nothing_in_the_gallery(live_server: Any, browser: Any) -> None:
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce")  # colours change at once
    page = context.new_page()
    page.add_init_script(AXE)
    for path in ("/templates", "/templates/boxes", "/templates/survey"):
        page.goto(f"{live_server.url}{path}")
        page.wait_for_load_state("networkidle")
        for theme, run in RUN_IN.items():
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            assert page.evaluate(run) == [], (path, theme)
        narrow = page.viewport_size
        page.set_viewport_size({"width": 320, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} scrolls sideways"
        page.set_viewport_size(narrow)
    context.close()
