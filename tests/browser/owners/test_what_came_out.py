"""Five projects from their answers to what their owner reads: letters, a survey, a map, boxes and a sound.

What pages say is compared with what was answered, counted here.
"""

from __future__ import annotations

import importlib.resources
import uuid
from collections import Counter
from typing import Any

import pytest
from support.person import Person

pytestmark = pytest.mark.browser

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '))"""
LAKE, SONG = "/uploads/gallery/boxes/01.webp", "/uploads/gallery/sound-events/01.mp3"
FRAGMENT = {"selector": {"type": "FragmentSelector"}}


def asks(kind: str, text: str, medium: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """One question, perhaps on a medium."""
    question = {"name": "said", "type": kind, "text": text, **({"on": "shown"} if medium else {}), **more}
    return {"version": 1, "steps": [{"name": "one", "media": [{"name": "shown", **medium}] if medium else [], "questions": [question]}]}  # fmt: skip


def line(text: str, y: int) -> dict[str, Any]:
    return {"text": text, "x": 10, "y": y, "width": 200, "height": 20, **FRAGMENT}


def box(x: float, y: float) -> dict[str, Any]:
    return {"x": x, "y": y, "width": 60, "height": 40, "label": "boat", **FRAGMENT}


def place(longitude: float, latitude: float) -> dict[str, Any]:
    return {"geometry": {"type": "Point", "coordinates": [longitude, latitude]}}


def part(start: float, end: float) -> dict[str, Any]:
    return {"start": start, "end": end, "label": "owl", **FRAGMENT}


CHOICES = [
    {"value": value, "text": text} for value, text in (("bus", "By bus"), ("car", "By car"), ("bike", "By bike"))
]
LETTERS = asks(
    "transcription",
    "Write down each line",
    {"type": "picture", "source": {"column": "page"}, "description": "A letter"},
)
SURVEY = asks("single_choice", "How did you come?", choices=CHOICES, kind="opinion")
MAP = asks("map_place", "Where is the mill?", {"type": "map", "description": "A map"})
BOXES = asks("box", "Mark each boat", {"type": "picture", "source": {"column": "page"}, "description": "A lake"},
             labels=[{"value": "boat", "text": "Boat"}])  # fmt: skip
SOUND = asks("sound_segments", "When do you hear an owl?", {"type": "sound", "source": {"column": "page"}, "description": "A night"},
             labels=[{"value": "owl", "text": "Owl"}])  # fmt: skip
GIVEN: dict[str, tuple[dict[str, Any], str, list[Any]]] = {
    "letters": (LETTERS, LAKE, [[line("Dear Mary,", 20), line("all is well.", 50)], [line("Dear Mary,", 21), line("all is well.", 52)],
                                [line("Dear Marie,", 19), line("all is well.", 49)]]),
    "survey": (SURVEY, LAKE, ["bus", "bus", "car"]),
    "map": (MAP, LAKE, [[place(8.5, 47.3)], [place(8.5004, 47.3003)], [place(9.4, 47.6)]]),
    "boxes": (BOXES, LAKE, [[box(100, 80), box(300, 200)], [box(104, 82)], [box(101, 79), box(303, 198)]]),
    "sound": (SOUND, SONG, [[part(1, 2), part(4, 5)], [part(1.1, 2.1)], [part(1, 2.2), part(4.1, 5)]]),
}  # fmt: skip


class Owner:
    """The pages of the owner of a project that three people have answered."""

    def __init__(self, page: Any, url: str, project: Any) -> None:
        self.page, self.url, self.project = page, f"{url}/project/{project.short_name}", project
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.wrong.append(message.text))

    def faults(self) -> list[str]:
        self.page.evaluate(AXE)
        return list(self.page.evaluate(_RUN))

    def go(self, path: str) -> Any:
        self.page.goto(self.url + path)
        self.page.wait_for_load_state("load")
        return self.page


@pytest.fixture
def owner_of(live_server: Any, browser: Any, new_project: Any, request: Any) -> Any:
    contexts = []

    def make(kind: str) -> Owner:
        questions, file, answers = GIVEN[kind]
        project = new_project(tasks=0, n_answers=3)
        project.owner.api("PUT", f"project/{project.id}", {"info": {"questions": questions}})
        task = {"project_id": project.id, "info": {"page": file, "n": 1}, "n_answers": 3}
        project.owner.api("POST", "task", task)
        for answer in answers:
            person = Person(live_server.url).register(f"person-{uuid.uuid4().hex[:8]}")
            task_id = person.api("GET", f"{project.id}/newtask")["id"]
            person.api("POST", "taskrun", {"project_id": project.id, "task_id": task_id, "info": {"said": answer}})
        project.tasks = [task_id]
        context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        context.set_default_timeout(60_000)
        context.add_cookies(project.owner.cookies(live_server.url))
        contexts.append(context)
        return Owner(context.new_page(), live_server.url, project)

    yield make
    for context in contexts:
        context.close()


def until(owner: Owner, path: str, words: str) -> str:
    """The text of a page once it says something: comparing is done by a job."""
    for _ in range(60):
        text = owner.go(path).locator("main").inner_text()
        if words in text:
            return str(text)
        owner.page.wait_for_timeout(500)
    raise AssertionError(f"{words!r} does not come: {text}")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("letters", "all is well."),
        ("survey", "2"),
        ("map", "Where is the mill?"),
        ("boxes", "boxes"),
        ("sound", "marked part"),
    ],
)
def test_results_and_the_task_page_say_what_was_answered(owner_of: Any, kind: str, words: str) -> None:
    owner = owner_of(kind)
    questions, _, answers = GIVEN[kind]
    title = questions["steps"][0]["questions"][0]["text"]
    text = until(owner, "/results", words)
    assert title in text and "{" not in text and "agreement 0" not in text
    page = owner.page
    if kind == "survey":
        for value, n in Counter(answers).items():
            label = next(each["text"] for each in CHOICES if each["value"] == value)
            row = page.locator(".bars tbody tr").filter(has_text=label)
            assert str(n) in row.inner_text().split()
        assert "consensus" not in text.lower()
    elif kind == "map":
        assert page.locator(".plot .land").count() == 1 and page.locator(".plot circle").count() == 1
    elif kind == "letters":
        assert "Dear Mary," in text
    at = f"/tasks/{owner.project.tasks[0]}"
    for size, scheme in (((1280, 900), "light"), ((390, 844), "dark")):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme)
        for path in ("/results", at):
            owner.go(path)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, size)
            assert owner.faults() == [], (path, size)
    if kind == "survey":
        return
    marks = [len(answer) for answer in answers]
    assert page.locator("main").get_by_role("heading", name=title).count() == 1
    if kind == "sound":
        assert [strip.locator("rect").count() for strip in page.locator(".bench-rows .strip").all()][:3] == marks
    else:
        drawn = page.locator(".bench g[data-of]")
        assert [drawn.nth(n).locator(":scope > *").count() for n in range(3)] == marks
        assert drawn.count() == 4  # and what they say together
        page.locator(".bench-people input").first.uncheck()
        assert [drawn.nth(n).is_visible() for n in range(2)] == [False, True]
    assert owner.wrong == []


def test_one_answer_is_set_aside_and_taken_back_by_pressing(owner_of: Any) -> None:
    owner = owner_of("boxes")
    task, page = owner.project.tasks[0], owner.page
    until(owner, f"/tasks/{task}", "Finished")
    page.get_by_role("link", name="Set aside").nth(1).click()
    page.get_by_text("1 answer would no longer count.").wait_for()
    assert owner.faults() == []
    page.get_by_label("Reason").fill("Only one boat")
    page.get_by_role("button", name="Set aside").click()
    page.get_by_text("1 answer was set aside.").wait_for()
    assert "Open" in page.locator("h1").inner_text()
    assert "“Only one boat”" in page.locator("table.cards").inner_text()
    assert page.locator(".bench g.out").count() == 1
    assert owner.faults() == []
    page.get_by_role("button", name="Take back").click()
    page.get_by_text("1 answer was taken back.").wait_for()
    assert "Finished" in page.locator("h1").inner_text()
    assert owner.wrong == []
