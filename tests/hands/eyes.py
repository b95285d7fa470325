"""What a person sees: where things are on the screen, whether they can be pressed, and which messages are in view.

Everything here only looks. Nothing is moved, focused or pressed by the page's own functions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeVar

from playwright.sync_api import Error

from hands.hand import Hand, Spot

T = TypeVar("T")
PATIENCE: Final = 30.0  # seconds that a page may take on a busy machine
PAUSE: Final = 40  # milliseconds


class LostError(AssertionError):
    """What a person means cannot be done here: the words are those of the report."""


# Whether a spot of an element would be hit: what is there belongs to it, to its label, or lies around it.
_HIT = """(element, [x, y]) => {
    const box = element.getBoundingClientRect(), hit = document.elementFromPoint(box.x + x, box.y + y);
    return Boolean(hit) && (element.contains(hit) || hit.contains(element) || hit.closest("label")?.contains(element)
        || element.closest(".marked")?.contains(hit) || false);
}"""
# How far a row of labels and tools is to be scrolled sideways for one of them, and where, from the left of that; or nothing.
_ASIDE = """(element) => {
    const {left, right, width} = element.getBoundingClientRect();
    for (let row = element.closest(".marks-palette *"); row && !row.matches(".marks"); row = row.parentElement) {
        if (getComputedStyle(row).overflowX !== "auto" || row.scrollWidth <= row.clientWidth + 1) continue;
        const place = row.getBoundingClientRect(), middle = place.left + place.width / 2;
        if (left < place.left - 1 || right > place.right + 1) return [left + width / 2 - middle, middle - left];
    }
}"""
_TOP = "([x, y]) => document.elementFromPoint(x, y)?.localName ?? ''"
_MESSAGES = """() => [...document.querySelectorAll('.bad, .flash.bad, .flash.warn')].filter((each) => each.checkVisibility() && each.innerText.trim())
    .map((each) => { const {x, y, width, height} = each.getBoundingClientRect(); return [each.innerText.trim(), x, y, width, height]; })"""


def named(target: Any) -> str:
    """What is looked for, without the frame that it is in."""
    return str(target).partition("selector=")[2].rstrip(">") or str(target)


class Eyes:
    """Looks at a page and the frame of its task."""

    def __init__(self, page: Any, hand: Hand, random: Random) -> None:
        self.page, self.hand, self._random = page, hand, random

    def until(self, test: Callable[[], T | None], what: str, seconds: float = PATIENCE) -> T:
        """What ``test`` answers once it is true; ``what`` is said when it never is."""
        end = time.monotonic() + seconds
        while True:
            try:
                outcome = test()
            except Error:
                outcome = None
            if outcome:
                return outcome
            if time.monotonic() > end:
                raise LostError(what)
            self.page.wait_for_timeout(PAUSE)

    def frame(self) -> Any:
        """The frame of the task, once it is there."""

        def come() -> Any:
            box = self.page.query_selector("#presenter iframe")
            frame = box and box.content_frame()
            return frame if frame and frame.url not in ("", "about:blank") else None

        return self.until(come, "the task is not shown")

    def spot(self, target: Any, part: Spot = (0.5, 0.5)) -> Spot:
        """Where a part of something is on the screen."""
        box = self.until(target.bounding_box, f"not there: {named(target)}")
        return box["x"] + box["width"] * part[0], box["y"] + box["height"] * part[1]

    def somewhere(self) -> Spot:
        """A part of a button: people do not hit the middle."""
        return self._random.uniform(0.3, 0.7), self._random.uniform(0.3, 0.7)

    def bring(self, target: Any, part: Spot = (0.5, 0.5)) -> Spot:
        """Scrolls until a part of something can be pressed, and says where it is."""
        size = self.page.viewport_size
        for nth in range(25):
            spot = self.still(lambda: self.spot(target, part))
            if self._free(target, spot, part):
                return spot
            if aside := target.evaluate(_ASIDE):
                box = target.bounding_box()
                self.hand.scroll(aside[0], 0, (box["x"] + aside[1], box["y"] + box["height"] / 2))
                self.page.wait_for_timeout(PAUSE)
                continue
            # To the middle, or lower where a medium stays on the screen above what scrolls.
            way = spot[1] - size["height"] * (0.5 if nth % 4 < 2 else 0.7)
            self.scroll(max(-0.7 * size["height"], min(0.7 * size["height"], way or 40)))
            self.page.wait_for_timeout(PAUSE)
        raise LostError(f"cannot be reached: {named(target)}")

    def scroll(self, down: float) -> None:
        """Turns the wheel over the edge of what is asked, which scrolls in its frame: over a medium it may mean something
        else. At the end of that the page scrolls.
        """
        deck, mirrored = (
            self.page.locator(".deck").bounding_box(),
            self.page.evaluate("document.documentElement.dir === 'rtl'"),
        )
        self.hand.scroll(0, down, (6 if mirrored else self.page.viewport_size["width"] - 6, deck["y"] - 12))

    def still(self, look: Callable[[], Spot]) -> Spot:
        """Where something is once it stands still."""
        before = look()
        for _ in range(60):
            self.page.wait_for_timeout(PAUSE)
            now = look()
            if abs(now[0] - before[0]) + abs(now[1] - before[1]) < 0.5:
                return now
            before = now
        return before

    def _free(self, target: Any, spot: Spot, part: Spot) -> bool:
        size = self.page.viewport_size
        if not (0 <= spot[0] < size["width"] and 0 <= spot[1] < size["height"]):
            return False
        top = self.page.evaluate(_TOP, spot)
        if target.element_handle().owner_frame() != self.page.main_frame and top != "iframe":
            return False
        box = target.bounding_box()
        return box is not None and bool(target.evaluate(_HIT, [box["width"] * part[0], box["height"] * part[1]]))

    def messages(self) -> list[str]:
        """Sentences about what is wrong that are on the screen now."""
        sentences = []
        for frame in self.page.frames:
            try:
                owner = frame.frame_element().bounding_box() if frame.parent_frame else {"x": 0, "y": 0}
                for words, x, y, width, height in frame.evaluate(_MESSAGES):
                    if owner and self._in_view(x + owner["x"], y + owner["y"], width, height):
                        sentences.append(words)
            except Error:
                continue
        return sentences

    def _in_view(self, x: float, y: float, width: float, height: float) -> bool:
        size = self.page.viewport_size
        return bool(x + width > 0 and x < size["width"] and y + height / 2 > 0 and y + height / 2 < size["height"])
