"""An owner corrects what volunteers said together, in the form in which they answered: marks, lines, places, choices."""

from __future__ import annotations

import importlib.resources
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.person import Person
from support.questions.marked_lists import SITE, media, step
from support.questions.marking import Surface, near

pytestmark = [pytest.mark.browser, pytest.mark.proof]

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '))"""
PICTURES = os.environ.get("CROWDD_PICTURES")
PHOTO = {"name": "photo", "type": "picture", "description": "A wall", "source": {"url": f"{SITE}/photo.jpg"}}
MAP = {"name": "map", "type": "map", "description": "A map", "center": [48.85, 2.35], "zoom": 12}
TREES = [{"value": each, "text": each.title()} for each in ("oak", "elm", "ash")]
DOCUMENT = {
    "version": 1,
    "steps": [
        step("walls", PHOTO, "box", "transcription", labels=TREES),
        step("places", MAP, "map_place"),
        {
            "name": "words",
            "title": "Words",
            "questions": [
                {"name": "tree", "type": "single_choice", "text": "Which tree?", "choices": TREES},
                {"name": "height", "type": "number", "text": "How high is it?"},
                {"name": "order", "type": "ranking", "text": "In which order?", "choices": TREES},
                {"name": "glad", "type": "rating", "text": "How glad are you?", "kind": "opinion", "required": True},
            ],
        },
    ],
}
BOXES = [
    {"x": 100, "y": 100, "width": 200, "height": 150, "label": "oak"},
    {"x": 500, "y": 400, "width": 60, "height": 60, "label": "elm"},
]
ANSWER: dict[str, Any] = {
    "walls_box": BOXES,
    "walls_transcription": [{"text": "Dear Anna", "x": 110, "y": 110, "width": 100, "height": 20}],
    "places_map_place": [{"geometry": {"type": "Point", "coordinates": [2.35, 48.85]}}],
    "tree": "oak",
    "height": 3,
    "order": ["oak", "elm", "ash"],
    "glad": 4,
    "questions_version": 1,
}


class Desk:
    """The review of an owner whose two tasks two people have answered alike."""

    def __init__(self, page: Any, url: str, project: Any) -> None:
        self.page, self.project, self.at = page, project, f"{url}/project/{project.short_name}"
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.wrong.append(message.text))

    def until(self, ready: Any) -> Any:
        for _ in range(200):
            if value := ready():
                return value
            self.page.wait_for_timeout(50)
        raise AssertionError("it never was")

    def frame(self) -> Any:
        place = self.page.frame_locator("#review-task iframe")
        place.locator("form.say").wait_for()
        return place

    def result(self, task: int) -> dict[str, Any]:
        rows = self.project.owner.api("GET", "result", project_id=self.project.id, task_id=task)
        (latest,) = [row for row in rows if row["last_version"]]
        return latest

    def faults(self) -> list[str]:
        self.page.evaluate(AXE)
        return list(self.page.evaluate(_RUN))


@pytest.fixture
def desk(live_server: Any, browser: Any, new_project: Any) -> Iterator[Desk]:
    project = new_project(tasks=2, n_answers=2)
    project.owner.api("PUT", f"project/{project.id}", {"info": {"questions": DOCUMENT, "task_presenter": None}})
    for _ in range(2):
        person = Person(live_server.url).register(f"person-{uuid.uuid4().hex[:8]}")
        for _ in range(2):
            task = person.api("GET", f"{project.id}/newtask")
            person.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": ANSWER})
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    context.add_cookies(project.owner.cookies(live_server.url))
    files = media()

    def answer(route: Any) -> None:
        kind, content = files[route.request.url.removeprefix(SITE)]
        route.fulfill(status=200, headers={"Content-Type": kind, "Access-Control-Allow-Origin": "*"}, body=content)

    context.route(f"{SITE}/**", answer)
    shown = Desk(context.new_page(), live_server.url, project)
    yield shown
    assert shown.wrong == []
    context.close()


def picture(desk: Desk, name: str) -> None:
    if PICTURES:
        desk.page.screenshot(path=str(Path(PICTURES) / f"{name}.png"), full_page=True)


def test_marks_lines_places_and_choices_are_corrected_where_volunteers_answer(desk: Desk) -> None:
    page, (first, second) = desk.page, desk.project.tasks
    page.goto(f"{desk.at}/tasks/{first}")
    page.get_by_role("link", name="Correct the result").click()
    page.wait_for_url(f"**/review/{first}")
    frame = desk.frame()
    boxes = frame.locator("[data-question=walls_box]")
    boxes.locator("li").nth(1).wait_for()
    picture(desk, "review-boxes")
    assert desk.faults() == [] and boxes.locator("li").count() == 2, "filled in"
    surface = Surface(desk, frame.locator(".marked:visible svg.a9s-annotationlayer"), (800, 600))
    surface.drag((600, 50), (700, 150))
    boxes.locator("li").nth(2).wait_for()
    boxes.locator("li").nth(1).get_by_role("button", name="Delete").click()
    line = frame.locator("[data-question=walls_transcription]").get_by_role("textbox").first
    assert line.input_value() == "Dear Anna"
    line.fill("Dear Anne")
    frame.get_by_role("button", name="Next").click()
    places = frame.locator("[data-question=places_map_place]")
    places.locator("li").first.wait_for()
    picture(desk, "review-place")
    places.locator(".marks-tools button:nth-child(2):enabled").wait_for()
    places.get_by_role("button", name="Place 1", exact=False).first.press("ArrowUp")
    frame.get_by_role("button", name="Next").click()
    assert frame.get_by_role("radio", name="Oak").is_checked()
    frame.get_by_role("radio", name="Ash").check()
    frame.get_by_label("How high is it?").fill("4.5")
    assert frame.get_by_text("How glad are you?").count() == 0, "nobody decides an opinion"
    picture(desk, "review-words")
    frame.get_by_role("button", name="Send").click()
    page.wait_for_url(f"**/review/{second}")
    assert page.get_by_text("The task is decided.").count() == 1
    decided = desk.result(first)
    values = {name: one.get("value") for name, one in decided["consensus"].items()}
    assert decided["reason"] == "expert"
    assert near(values["walls_box"][0], BOXES[0]) and len(values["walls_box"]) == 2
    assert near(values["walls_box"][1], {"x": 600, "y": 50, "width": 100, "height": 100}, 4)
    assert [each["text"] for each in values["walls_transcription"]] == ["Dear Anne"]
    assert values["places_map_place"][0]["geometry"]["coordinates"][1] > 48.851
    assert (values["tree"], values["height"], values["order"]) == ("ash", 4.5, ["oak", "elm", "ash"])
    page.goto(f"{desk.at}/tasks/{first}")
    picture(desk, "task-decided")
    assert page.get_by_role("region", name="Consensus", exact=True).get_by_text("Dear Anne").count() == 1
    page.goto(f"{desk.at}/review/{first}")
    assert page.get_by_text("decided this").count() == 1
    page.get_by_role("button", name="Withdraw the decision").click()
    page.get_by_text("The decision is withdrawn.").wait_for()
    lines = desk.until(lambda: ((desk.result(first)["consensus"] or {}).get("walls_transcription") or {}).get("value"))
    assert lines[0]["text"] == "Dear Anna"
    page.goto(f"{desk.at}/review")
    assert desk.faults() == []
    picture(desk, "review-queue")


def test_nothing_changed_is_what_volunteers_said_and_a_late_decision_says_so(desk: Desk) -> None:
    page, first = desk.page, desk.project.tasks[0]
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    before = desk.until(lambda: (one := desk.result(first)) and one["consensus"]["walls_box"] and one)
    page.goto(f"{desk.at}/review/{first}")
    frame = desk.frame()
    frame.locator("[data-question=walls_box] li").first.wait_for(state="attached")
    picture(desk, "review-phone")
    body = {"info": {**ANSWER, "height": 9}}
    desk.project.owner.api("POST", f"result/{before['id']}/decision", body)
    for _ in range(2):
        frame.get_by_role("button", name="Next").click()
    frame.get_by_role("button", name="Send").click()
    page.get_by_text("Somebody else has decided this task before you. Nothing was changed.").wait_for()
    assert desk.result(first)["consensus"]["height"]["value"] == 9
    frame = desk.frame()
    for _ in range(2):
        frame.get_by_role("button", name="Next").click()
    frame.get_by_role("radio", name="Elm").check()
    frame.get_by_role("button", name="Send").click()
    page.get_by_text("The task is decided.").wait_for()
    values = {name: one.get("value") for name, one in desk.result(first)["consensus"].items()}
    assert near(values["walls_box"], BOXES) and (values["tree"], values["height"]) == ("elm", 9)
