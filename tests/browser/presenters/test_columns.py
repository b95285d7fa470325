"""Which columns of a task the starters show: those that their owner names, the same in the preview and to volunteers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser
BEFORE = (Path(__file__).parents[1] / "presenters_html" / "picture_before.html").read_text()
ROW = {
    "photo": "/static/img/sample-1.svg", "site": "Old quarry", "lamp_watt": "8", "note": "cloudy, warm",
    "a_larger_photo": "/static/img/sample-2.svg",
}  # fmt: skip


def seen(frame: Any) -> tuple[str, str, str]:
    """Caption, description and address of the picture."""
    frame.locator("button[value=Yes]").wait_for()
    frame.locator("#picture[src]").wait_for(state="attached")
    picture = frame.locator("#picture")
    return frame.locator("#words").inner_text(), picture.get_attribute("alt"), picture.get_attribute("src")


def both(stage: Any) -> tuple[str, str, str]:
    """What volunteers see, after a look that the preview shows the same."""
    views = []
    for path, box in (("newtask", "#presenter"), ("tasks/taskpresentereditor", "#preview")):
        stage.go(f"/project/MINE/{path}")
        views.append(seen(stage.page.frame_locator(f"{box} iframe")))
    assert views[0] == views[1]
    return views[0]


# Of one from before, what is served is shown below.
EARLIER = [BEFORE, BEFORE.replace("\n", "\r\n")]


@pytest.mark.proof
@pytest.mark.parametrize("document", [starters.source("picture"), *EARLIER])
def test_a_caption_is_the_column_that_its_owner_chooses(stage: Any, document: str) -> None:
    for task in stage.mine.tasks:
        stage.mine.owner.api("PUT", f"task/{task}", {"info": ROW})
    mine = starters.asking(document, {**starters.asked(document), "question": "Which moth?"})
    stage.mine.show(task_presenter=mine)
    stage.sign_in(stage.mine.owner)
    first = stage.mine.tasks[0]
    assert both(stage) == ("", f"Picture {first}", "/static/img/sample-1.svg")  # nothing that nobody asked for
    page = stage.page
    assert page.input_value("[name=question]") == "Which moth?"
    page.select_option("[name=caption]", "note")
    page.select_option("[name=picture]", "a_larger_photo")
    stage.until(lambda: page.frame_locator("#preview iframe").locator("#words").inner_text() == "cloudy, warm")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".flash", has_text="Saved.").wait_for()
    assert both(stage) == ("cloudy, warm", "cloudy, warm", "/static/img/sample-2.svg")
    assert page.input_value("[name=caption]") == "note"


def test_a_presenter_of_an_owners_own_making_stays_as_it_is() -> None:
    mine = BEFORE.replace("first other text", "the site")
    assert starters.current(mine) == mine and starters.current("<p>x</p>") == "<p>x</p>"
    assert starters.asked(starters.current(BEFORE)) == starters.asked(starters.source("picture"))
    assert starters.current(starters.source("text")) == starters.source("text")


@pytest.mark.parametrize("name", starters.NAMES)
def test_a_starter_of_before_its_pictures_could_be_enlarged_is_served_as_it_is_now(name: str) -> None:
    now = starters.source(name)
    before = now.replace(" data-zoom>", ">")
    asked = {**starters.asked(before), "question": "Which moth?"}
    assert before != now and starters.current(starters.asking(before, asked)) == starters.asking(now, asked)


def test_the_text_is_the_column_that_its_owner_chooses(stage: Any) -> None:
    for task in stage.mine.tasks:
        stage.mine.owner.api("PUT", f"task/{task}", {"info": {"id": "XII-3", "line": "Heavy swell"}})
    document = starters.source("text")
    frame = stage.show(document)
    stage.until(lambda: frame.locator("#words").inner_text() == "XII-3")  # the first text there is
    frame = stage.show(starters.asking(document, {**starters.asked(document), "text": "line"}))
    stage.until(lambda: frame.locator("#words").inner_text() == "Heavy swell")
