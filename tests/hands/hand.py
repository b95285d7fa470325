"""Real input only: a pointer that moves, presses and releases; fingers; keys that go down and up, repeat and bounce."""

from __future__ import annotations

import re
import time
from random import Random
from typing import Any, Final

Spot = tuple[float, float]

# What a key of the Latin layout is on others: its character, by the physical key.
_CYRILLIC: Final = dict(zip("abcdefghijklmnopqrstuvwxyz", "фисвуапршолдьтщзйкыегмцчня", strict=True))
STEPS: Final = 3
LOOK: Final = 350  # milliseconds for a task that has just appeared
AFTER_TEXT: Final = (
    1700  # milliseconds: a letter that follows text sooner is no shortcut (interface: page-task-unsent-work)
)


class Hand:
    """One hand at a page. ``finger``: it touches instead of moving a mouse."""

    def __init__(self, page: Any, random: Random, *, finger: bool) -> None:
        self.page, self.finger = page, finger
        self._random, self._line = random, page.context.new_cdp_session(page)
        self._at: Spot = (5.0, 5.0)
        self._typed = 0.0

    def wait(self, low: int = 60, high: int = 160) -> None:
        """As long as a finger rests on a button, unless other times (milliseconds) are named."""
        self.page.wait_for_timeout(self._random.randint(low, high))

    def move(self, spot: Spot) -> None:
        """Moves the pointer there; a finger does not point before it touches."""
        if not self.finger:
            self.page.mouse.move(*spot, steps=STEPS)
        self._at = spot

    def down(self, spot: Spot) -> None:
        """Begins a press."""
        if self.finger:
            self._touch("Start", spot)
        else:
            self.page.mouse.down()
        self._at = spot

    def up(self) -> None:
        """Ends a press, where it is."""
        if self.finger:
            self._touch("End")
        else:
            self.page.mouse.up()

    def press(self, spot: Spot) -> None:
        """A press at a place: the pointer is there already."""
        self.down(spot)
        self.wait()
        self.up()
        if self.finger:
            self.wait(310, 340)  # what follows sooner is the second tap of a double tap

    def press_again(self) -> None:
        """The second press of two that a worn mouse makes."""
        self.page.mouse.down(click_count=2)
        self.page.mouse.up(click_count=2)

    def drag(self, spot: Spot, steps: int = 6) -> None:
        """Goes on to a place while it presses."""
        (x, y), (right, down) = self._at, spot
        for n in range(1, steps + 1):
            between = (x + (right - x) * n / steps, y + (down - y) * n / steps)
            if self.finger:
                self._touch("Move", between)
            else:
                self.page.mouse.move(*between)
            self.wait(12, 30)
        self._at = spot

    def scroll(self, right: float, down: float, at: Spot) -> None:
        """Turns the wheel at a place."""
        self.page.mouse.move(*at)
        self.page.mouse.wheel(right, down)

    def _touch(self, kind: str, *spots: Spot) -> None:
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(spots)]
        self._line.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    # ---- keys ----

    def look(self) -> None:
        """Looks at what there is before a key that is a shortcut: people stop typing first."""
        since = (time.monotonic() - self._typed) * 1000
        self.page.wait_for_timeout(max(LOOK, AFTER_TEXT - since))

    def put_in(self) -> None:
        """Notes that text was put in just now."""
        self._typed = time.monotonic()

    def key(self, key: str) -> None:
        """A key goes down and up."""
        self.page.keyboard.down(key)
        self.wait(30, 80)
        self.page.keyboard.up(key)

    def bounce(self, key: str) -> None:
        """A worn key: two presses where one was meant."""
        for pause in (15, 0):
            self.page.keyboard.down(key)
            self.page.wait_for_timeout(10)
            self.page.keyboard.up(key)
            self.page.wait_for_timeout(pause)

    def hold(self, key: str, times: int = 12) -> None:
        """A key that is held: it repeats."""
        for _ in range(times):
            self.page.keyboard.down(key)
            self.page.wait_for_timeout(33)
        self.page.keyboard.up(key)

    def physical(self, letter: str) -> None:
        """The key of a Latin letter on a Cyrillic keyboard."""
        about = {"key": _CYRILLIC[letter], "code": f"Key{letter.upper()}", "windowsVirtualKeyCode": ord(letter.upper())}
        self._line.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": _CYRILLIC[letter], **about})
        self.wait(30, 80)
        self._line.send("Input.dispatchKeyEvent", {"type": "keyUp", **about})

    def type(self, text: str) -> None:
        """Letter by letter; Enter with Shift between lines, as where Enter alone sends."""
        for part in re.findall(r"[\x20-\x7e]+|.", text, re.DOTALL):
            if part == "\n":
                self.page.keyboard.down("Shift")
                self.page.keyboard.press("Enter")
                self.page.keyboard.up("Shift")
            elif part.isascii():
                self.page.keyboard.type(part, delay=8)
            else:  # the layout of that letter
                self._line.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": part, "text": part})
                self._line.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": part})
        self.put_in()

    def compose(self, text: str) -> None:
        """An input method: it shows what will be, then puts it in."""
        for n in range(1, len(text) + 1):
            so_far = text[:n]
            units = len(so_far.encode("utf-16-le")) // 2
            self._line.send("Input.imeSetComposition", {"text": so_far, "selectionStart": units, "selectionEnd": units})
            self.page.wait_for_timeout(5)
        self._line.send("Input.insertText", {"text": text})
        self.put_in()

    def everything(self) -> None:
        """Selects all of a field, to write something else into it."""
        self.page.keyboard.press("Control+a")
