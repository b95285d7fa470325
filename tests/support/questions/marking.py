"""How tests mark something on media: by mouse, by touch and by keyboard, in the frame of a project."""

from __future__ import annotations

import itertools
from typing import Any

import jsonschema_rs

from crowdd.kinds.questions import answer_schema
from support.questions.marked_lists import SITE, media


def with_media(stage: Any) -> Any:
    """A stage whose browser finds the media of ``support.questions.marked_lists``."""
    files = media()

    def answer(route: Any) -> None:
        kind, content = files[route.request.url.removeprefix(SITE)]
        headers = {"Content-Type": kind, "Access-Control-Allow-Origin": "*"}
        route.fulfill(status=200, headers=headers, body=content)

    stage.context.route(f"{SITE}/**", answer)
    return stage


def ask(stage: Any, document: Any) -> Any:
    """The frame with the questions of a document, about a task that this browser has not answered."""
    stage.begin()
    stage.mine.add_task()
    stage.mine.show(questions=document)
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    frame.wait_for_selector("form.say")
    return frame


def button(place: Any, name: str) -> Any:
    return place.get_by_role("button", name=name, exact=True)


def field(frame: Any, name: str) -> Any:
    """The field of a question, once its marks can be drawn."""
    question = frame.locator(f"[data-question={name}]")
    question.locator(".marks-tools button:nth-child(2):enabled").wait_for()
    return question


def forward(frame: Any, name: str = "Next") -> None:
    """Presses a button by keyboard: after it the page scrolls to the next step, and would move under a mouse."""
    button(frame, name).focus()
    frame.page.keyboard.press("Enter")


def answers(stage: Any, n: int, document: Any) -> Any:
    """The last of ``n`` answers, once it is there; it is valid."""
    runs = stage.until(lambda: (rows := stage.mine.runs()) and len(rows) == n and rows)
    info = runs[-1]["info"]
    jsonschema_rs.validate(answer_schema(document), info)
    return info


# What stays on the screen below the questions may cover it.
_UNCOVER = """place => {
  const box = place.getBoundingClientRect(), top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  if (!top || top.closest(".end")) place.scrollIntoView({ block: "center" });
}"""


class Surface:
    """Where a medium is on the screen: its own pixels are asked for by a pointer."""

    pause = 30  # milliseconds

    def __init__(self, stage: Any, place: Any, size: tuple[float, float]) -> None:
        self.stage, self.place, self.size = stage, place, size

    def at(self, x: float, y: float) -> tuple[float, float]:
        self.place.scroll_into_view_if_needed()
        box = self.stage.until(lambda: (bounds := self.place.bounding_box()) and bounds == self.still() and bounds)
        return box["x"] + x / self.size[0] * box["width"], box["y"] + y / self.size[1] * box["height"]

    def at_once(self, x: float, y: float) -> tuple[float, float]:
        """The same without waiting: a finger is down, and nothing may move."""
        box = self.place.bounding_box()
        return box["x"] + x / self.size[0] * box["width"], box["y"] + y / self.size[1] * box["height"]

    def still(self) -> Any:
        """Where it is a moment later: the frame may still grow."""
        self.stage.page.wait_for_timeout(self.pause)
        return self.place.bounding_box()

    def reach(self, x: float, y: float) -> None:
        """Moves the mouse there. After the page has scrolled, Chromium may take a while to find the frame under it."""
        self.place.evaluate(_UNCOVER)
        place, mouse = self.at(x, y), self.stage.page.mouse

        def over() -> bool:
            mouse.move(place[0] - 1, place[1])
            mouse.move(*place)
            return bool(self.place.evaluate("place => place.matches(':hover') || !!place.querySelector(':hover')"))

        self.stage.until(over)

    def drag(self, *points: tuple[float, float]) -> None:
        mouse = self.stage.page.mouse
        self.reach(*points[0])
        mouse.down()
        for point in points[1:]:
            mouse.move(*self.at(*point), steps=4)
        mouse.up()

    def click(self, *points: tuple[float, float]) -> None:
        for point in points:
            self.reach(*point)
            self.stage.page.mouse.down()
            self.stage.page.mouse.up()


def near(value: Any, wanted: Any, by: float = 2) -> bool:
    """Whether numbers are as wanted within ``by``: pixels of a screen are no pixels of a picture."""
    if isinstance(wanted, dict):
        return set(value) >= set(wanted) and all(near(value[key], wanted[key], by) for key in wanted)
    if isinstance(wanted, list):
        return len(value) == len(wanted) and all(near(one, two, by) for one, two in zip(value, wanted, strict=True))
    if isinstance(wanted, float | int) and not isinstance(wanted, bool):
        return abs(value - wanted) <= by
    return bool(value == wanted)


def picture(stage: Any, frame: Any) -> Surface:
    return Surface(stage, frame.locator(".marked:visible svg.a9s-annotationlayer"), (800, 600))


def select(stage: Any, frame: Any, start: int, end: int) -> None:
    """Selects a part of the text by mouse; places are those of JavaScript."""
    words = """([start, end]) => [start, end].map((at) => {
            const range = document.createRange(), words = document.querySelector(".words:not([hidden])").firstChild;
            range.setStart(words, at); range.collapse(true);
            const {x, y, height} = range.getBoundingClientRect(); return [x, y + height / 2]; })"""

    def ends() -> list[tuple[float, float]]:
        stage.page.wait_for_timeout(Surface.pause)
        box = stage.page.locator("#presenter iframe").bounding_box()
        return [(box["x"] + left, box["y"] + top) for left, top in frame.evaluate(words, [start, end])]

    # The frame may still grow and the page scroll.
    (x, y), (right, down) = stage.until(lambda: (points := ends()) == ends() and points)
    stage.page.mouse.move(x, y)
    stage.page.mouse.down()
    stage.page.mouse.move((x + right) / 2, down)
    stage.page.mouse.move(right, down)
    stage.page.mouse.up()


def by_keyboard(stage: Any, frame: Any, name: str, add: str, *keys: str) -> Any:
    """Adds a mark with the button and presses keys on it; answers the field."""
    question = field(frame, name)
    button(question, add).focus()
    stage.page.keyboard.press("Enter")
    for key in keys:
        stage.page.keyboard.press(key)
    return question


def press(stage: Any, frame: Any, name: str) -> None:
    button(frame, name).focus()
    stage.page.keyboard.press("Enter")


class Fingers:
    """Real touches: Chromium makes gestures, scrolling and clicks of them, as on a phone."""

    def __init__(self, stage: Any) -> None:
        self.stage = stage
        self.line = stage.context.new_cdp_session(stage.page)

    def send(self, kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self.line.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touches})

    def tap(self, surface: Surface, *points: tuple[float, float]) -> None:
        """One after the other, too slow for a double tap."""
        for point in points:
            surface.reach(*point)
            self.send("Start", surface.at(*point))
            self.send("End")
            self.stage.page.wait_for_timeout(310)  # what follows sooner is a second tap of the same finger

    def drag(self, surface: Surface, *points: tuple[float, float], steps: int = 6) -> None:
        """With the speed of a finger."""
        surface.reach(*points[0])
        self.send("Start", surface.at(*points[0]))
        for (x, y), (right, down) in itertools.pairwise(points):
            for n in range(1, steps + 1):
                self.stage.page.wait_for_timeout(25)
                self.send("Move", surface.at_once(x + (right - x) * n / steps, y + (down - y) * n / steps))
        self.send("End")

    def pinch(self, surface: Surface, middle: tuple[float, float], from_: float, to: float) -> None:
        """Two fingers beside each other, so many pixels of the medium apart at first and at the end."""
        surface.reach(*middle)
        x, y = middle

        def both(apart: float) -> list[tuple[float, float]]:
            return [place(x - apart / 2, y), place(x + apart / 2, y)]

        box, size = surface.place.bounding_box(), surface.size

        def place(left: float, top: float) -> tuple[float, float]:
            return box["x"] + left / size[0] * box["width"], box["y"] + top / size[1] * box["height"]

        self.send("Start", both(from_)[0])
        self.send("Start", *both(from_))
        for n in range(1, 9):
            self.send("Move", *both(from_ + (to - from_) * n / 8))
            self.stage.page.wait_for_timeout(20)
        self.send("End")
