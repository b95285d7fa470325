"""An owner in Chromium, from signing in to the first own answer, by mouse or by keyboard alone. Clicks are counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
from browser import own_files
from support.questions.marking import Surface
from support.until import until_on

PASSWORD = "a-long-password-1"
MAX_CLICKS, MAX_SECONDS = 8, 180.0
_MAX_TABS = 400
_HAS_FOCUS = "e => e.ownerDocument.activeElement === e && e.ownerDocument.hasFocus()"


@attrs.define
class Hands:
    """Presses what a place shows, by mouse, or by Tab and Enter. ``clicks`` counts presses, choices and marks."""

    page: Any
    keyboard: bool = False
    clicks: int = 0

    def press(self, place: Any, key: str = "Enter") -> None:
        """A button, a link or a choice."""
        self.clicks += 1
        place.wait_for(state="visible")
        if not self.keyboard:
            place.click()
            return
        self.reach(place)
        self.page.keyboard.press(key)

    def reach(self, place: Any) -> None:
        """Moves the focus on with Tab until the place has it."""
        for _ in range(_MAX_TABS):
            if place.evaluate(_HAS_FOCUS):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"The keyboard does not reach {place} on {self.page.url}")

    def write(self, place: Any, text: str) -> None:
        """Types into a field."""
        if self.keyboard:
            self.reach(place)
        else:
            place.focus()
        self.page.keyboard.type(text)

    def choose(self, place: Any, files: Sequence[Path]) -> None:
        """Chooses files."""
        with self.page.expect_file_chooser() as chooser:
            self.press(place)
        chooser.value.set_files([str(path) for path in files])

    def drag(self, place: Any, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """Draws a mark: ``begin`` and ``end`` are parts of the place's width and height."""
        self.clicks += 1
        Surface(self, place, (1, 1)).drag(begin, end)

    def until(self, condition: Callable[[], Any]) -> Any:
        """Waits for what ``condition`` gives."""
        return until_on(self.page, condition)


@attrs.frozen
class Way:
    """A project of one template: its own files, how its first task is answered, and what must be stored.

    ``task_clicks`` lead from signing in to the first task, ``answer_clicks`` are those of the answer.
    """

    template: str
    files: Callable[[Path], list[Path]]
    answer: Callable[[Hands, Any], None]
    stored: Callable[[dict[str, Any]], bool]
    answer_clicks: int
    task_clicks: int = 5
    media: bool = True


def _button(frame: Any, name: str) -> Any:
    return frame.get_by_role("button", name=name, exact=True)


def _sort(hands: Hands, frame: Any) -> None:
    hands.press(frame.locator("button.answer", has_text="A bird"))


def _boxes(hands: Hands, frame: Any) -> None:
    hands.drag(frame.locator("[data-medium=photo] svg").first, (0.3, 0.3), (0.6, 0.6))
    hands.press(_button(frame, "Send"))


def _lines(hands: Hands, frame: Any) -> None:
    hands.press(_button(frame, "Add a line"))
    hands.page.keyboard.type("Dear sister")
    hands.press(_button(frame, "Send"))


def _sounds(hands: Hands, frame: Any) -> None:
    hands.press(frame.locator("input[value=bird]").first)
    hands.press(_button(frame, "Add a segment"))
    hands.press(_button(frame, "Send"))


def _survey(hands: Hands, frame: Any) -> None:
    hands.press(frame.get_by_role("radio").first, key="Space")
    hands.press(_button(frame, "Next"))
    for row in frame.locator("[data-question=rate] tbody tr").all():
        hands.press(row.get_by_role("radio").first, key="Space")
    hands.press(_button(frame, "Send"))


WAYS = (
    Way("sort-pictures", own_files.pictures, _sort, lambda info: info["seen"] == "bird", 1),
    Way("boxes", own_files.pictures, _boxes, lambda info: len(info["objects"]) == 1, 2),
    Way("transcribe-lines", own_files.letters, _lines, lambda info: info["lines"][0]["text"] == "Dear sister", 2),
    Way("sound-events", own_files.recordings, _sounds, lambda info: len(info["events"]) == 1, 3),
    Way("survey", own_files.table, _survey, lambda info: "how" in info, 6, task_clicks=6, media=False),
)


@attrs.frozen
class Walked:
    """How many clicks the way took: to the first task, for its answer, and in all until the project is shared.

    ``seconds`` are those until the answer.
    """

    task_clicks: int
    answer_clicks: int
    shared_clicks: int
    seconds: float
    project: dict[str, Any]


def walk(hands: Hands, url: str, person: Any, way: Way, folder: Path, look: Callable[[str], None] = str) -> Walked:
    """From the page to sign in to the answer, then to the published project. ``look`` is called at each step."""
    began = time.monotonic()
    _sign_in(hands, url, person)
    _new_project(hands, way, look)
    _add_data(hands, way, folder, look)
    _try(hands, look)
    to_task = hands.clicks
    project = _answer(hands, person, way)
    answered, seconds = hands.clicks, time.monotonic() - began
    _publish(hands, look)
    return Walked(to_task, answered - to_task, hands.clicks, seconds, project)


def _sign_in(hands: Hands, url: str, person: Any) -> None:
    page = hands.page
    page.goto(f"{url}/account/signin")
    hands.write(page.locator("#email"), person.name)
    hands.write(page.locator("#password"), PASSWORD)
    hands.press(page.get_by_role("main").get_by_role("button", name="Sign in", exact=True))
    page.wait_for_url("**/")


def _new_project(hands: Hands, way: Way, look: Callable[[str], None]) -> None:
    page = hands.page
    hands.press(page.get_by_role("navigation", name="Site").get_by_role("link", name="Start a project"))
    page.wait_for_url("**/project/new")
    look("new")
    hands.press(page.locator(f"button[name=template][value={way.template}]"))
    page.wait_for_url("**/tasks/media" if way.media else "**/tasks/import")


def _add_data(hands: Hands, way: Way, folder: Path, look: Callable[[str], None]) -> None:
    page, files = hands.page, way.files(folder)
    look("data")
    hands.choose(page.locator("#files" if way.media else "#file"), files)
    if way.media:
        page.wait_for_url("**/tasks/media/*")
    else:
        page.wait_for_url("**/tasks/import/*")
        look("preview")
        hands.press(page.locator("button[data-begin]"))
    page.get_by_role("main").get_by_role("link", name="Try it", exact=True).last.wait_for(timeout=90_000)


def _try(hands: Hands, look: Callable[[str], None]) -> None:
    page = hands.page
    look("added")
    hands.press(page.get_by_role("main").get_by_role("link", name="Try it", exact=True).last)
    page.wait_for_url("**/newtask")
    page.frame_locator("#presenter iframe").locator("form.say").wait_for()
    look("task")


def _answer(hands: Hands, person: Any, way: Way) -> dict[str, Any]:
    page = hands.page
    way.answer(hands, page.frame_locator("#presenter iframe"))
    page.locator("#count", has_text="1").wait_for()
    short_name = page.url.split("/project/")[1].split("/")[0]
    project: dict[str, Any] = person.api("GET", "project", short_name=short_name)[0]
    runs = until_on(page, lambda: person.api("GET", "taskrun", project_id=project["id"]))
    assert len(runs) == 1 and way.stored(runs[0]["info"]), runs
    return project


def _publish(hands: Hands, look: Callable[[str], None]) -> None:
    page = hands.page
    hands.press(
        page.get_by_role("link", name="Next: Publish").or_(page.get_by_role("link", name="Publish", exact=True)).first
    )
    page.wait_for_url("**/publish")
    look("publish")
    hands.press(page.get_by_role("main").get_by_role("button", name="Publish", exact=True))
    page.wait_for_url("**/share")
    look("share")
