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
FIRST, LATER = 20, 100  # milliseconds between two looks: short ones first


class LostError(AssertionError):
    """What a person means cannot be done here: the words are those of the report."""


# What ``look`` says once it says the same for two frames of the screen; of a frame that is not on the screen there are none.
_STILL = """async (look) => {
    const turn = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 60); });
    let before = look();
    for (let nth = 0, quiet = 0; nth < 120 && quiet < 2; nth++) {
        await turn();
        const now = look();
        quiet = Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]) < 0.5 ? quiet + 1 : 0;
        before = now;
    }
    return before;
}"""
# How far a row of labels and tools is to be scrolled sideways for what is cut off by its edge, and where; or nothing.
_ASIDE = """(element, spot) => {
    for (let row = element.closest(".marks-palette *"); row && !row.matches(".marks"); row = row.parentElement) {
        if (getComputedStyle(row).overflowX !== "auto" || row.scrollWidth <= row.clientWidth + 1) continue;
        const {left, right, width} = row.getBoundingClientRect(), middle = left + width / 2;
        if (spot[0] < left || spot[0] > right) return [spot[0] - middle, middle, spot[1]];
    }
    return null;
}"""
# Where a part of an element is in its frame once it stands still; whether it would be hit there: what is there belongs to it,
# to its label, or lies around it; and whether that is a frame in the page. Of what is not shown: nothing.
_LOOK = """async (element, [right, down]) => {
    const still = STILL, place = await still(() => {
        const box = element.getBoundingClientRect();
        return [box.x + box.width * right, box.y + box.height * down, box.width + box.height];
    });
    if (!place[2]) return null;
    const hit = document.elementFromPoint(place[0], place[1]), aside = (ASIDE)(element, place);
    const free = !aside && Boolean(hit) && (element.contains(hit) || hit.contains(element)
        || hit.closest("label")?.contains(element) || element.closest(".marked")?.contains(hit) || false);
    return {spot: place.slice(0, 2), free, aside, framed: window !== window.top};
}""".replace("STILL", _STILL).replace("ASIDE", _ASIDE)
# Where a spot of the frame is on the screen, and whether the frame is what is there.
_AROUND = """async ([x, y]) => {
    const frame = document.querySelector("#presenter iframe"), still = STILL, place = await still(() => {
        const box = frame.getBoundingClientRect();
        return [box.x + frame.clientLeft + x, box.y + frame.clientTop + y];
    });
    return {spot: place, free: document.elementFromPoint(...place) === frame};
}""".replace("STILL", _STILL)
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
        end, pause = time.monotonic() + seconds, FIRST
        while True:
            try:
                outcome = test()
            except Error:
                outcome = None
            if outcome:
                return outcome
            if time.monotonic() > end:
                raise LostError(what)
            self.page.wait_for_timeout(pause)
            pause = min(2 * pause, LATER)

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

    def bring(self, target: Any, part: Callable[[], Spot] = lambda: (0.5, 0.5)) -> Spot:
        """Scrolls until a part of something can be pressed, and says where it is."""
        size = self.page.viewport_size
        for nth in range(25):
            spot, free, aside = self._look(target, part())
            if free:
                return spot
            if aside:
                self.hand.scroll(*aside)
                self.page.wait_for_timeout(PAUSE)
                continue
            # To the middle, or lower where a medium stays on the screen above what scrolls.
            way = spot[1] - size["height"] * (0.5 if nth % 4 < 2 else 0.7)
            self.scroll(max(-0.7 * size["height"], min(0.7 * size["height"], way or 40)))
            self.page.wait_for_timeout(PAUSE)
        raise LostError(f"cannot be reached: {named(target)}")

    def _look(self, target: Any, part: Spot) -> tuple[Spot, bool, tuple[float, float, Spot] | None]:
        """Where a part of something is once it stands still, whether it can be pressed there, and what to scroll aside."""
        seen = self.until(lambda: target.evaluate(_LOOK, part, timeout=5000), f"not there: {named(target)}")
        (x, y), free, aside = seen["spot"], seen["free"], seen["aside"]
        if seen["framed"]:
            around = self.page.evaluate(_AROUND, [x, y])
            (left, top), free = around["spot"], free and around["free"]
            if aside:
                aside = (aside[0], aside[1] + left - x, aside[2] + top - y)
            x, y = left, top
        size = self.page.viewport_size
        free = free and 0 <= x < size["width"] and 0 <= y < size["height"]
        on_screen = bool(aside) and 0 <= y < size["height"]
        return (x, y), free, (aside[0], 0, (aside[1], aside[2])) if on_screen else None

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

    def messages(self) -> list[str]:
        """Sentences about what is wrong that are on the screen now."""
        sentences = []
        for frame in self.page.frames:
            try:
                shown = frame.evaluate(_MESSAGES)
                owner = frame.frame_element().bounding_box() if shown and frame.parent_frame else {"x": 0, "y": 0}
            except Error:
                continue
            for words, x, y, width, height in shown:
                if owner and self._in_view(x + owner["x"], y + owner["y"], width, height):
                    sentences.append(words)
        return sentences

    def _in_view(self, x: float, y: float, width: float, height: float) -> bool:
        size = self.page.viewport_size
        return bool(x + width > 0 and x < size["width"] and y + height / 2 > 0 and y + height / 2 < size["height"])
