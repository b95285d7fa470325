"""A volunteer at a page: their hand, their eyes, and what they have done so far with the task before them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from random import Random
from typing import Any, Final

import attrs
from support.person import Person

from crowdd.kernel.languages import Languages
from hands.asked import Asked
from hands.eyes import Eyes, LostError
from hands.hand import Hand, Spot
from hands.site import Site
from hands.worlds import World

Json = dict[str, Any]
# What is shown above the questions; nothing where no task is.
_OVER: Final = """() => [...document.querySelectorAll(".say")].filter((say) => say.checkVisibility({visibilityProperty: true}))
    .map((say) => say.querySelector(".over")).find(Boolean)?.innerText ?? null"""
EFFECT: Final = 8.0  # seconds in which something must be seen to have been pressed


@functools.cache
def _languages() -> Languages:
    return Languages.read()


@attrs.define
class Actor:
    """Does single acts. ``meant`` is what was drawn, by question; ``grain`` how much of the medium a pixel of the screen is."""

    page: Any
    world: World
    asked: Asked
    random: Random
    tasks: dict[str, Json]  # what each task has, by its number
    site: Site
    account: Callable[[], Person]
    hand: Hand = attrs.field(init=False)
    eyes: Eyes = attrs.field(init=False)
    frame: Any = None
    place: str = ""  # what the page says of which task this is
    grain: dict[str, float] = attrs.field(factory=dict)
    meant: dict[tuple[str, str], Any] = attrs.field(
        factory=dict
    )  # by question and shape: what it is in the medium's terms
    trembled: bool = False  # a key was held or bounced: more than one task may have heard it

    def __attrs_post_init__(self) -> None:
        self.hand = Hand(self.page, self.random, finger=self.world.finger)
        self.eyes = Eyes(self.page, self.hand, self.random)

    def word(self, words: str) -> str:
        """A word of ours in the language of the page."""
        return _languages().say(words, self.world.language)

    def text(self, text: Any) -> str:
        """A text of the project in the language of the page, as far as there is one."""
        if not isinstance(text, dict):
            return str(text)
        return str(text.get(self.world.language) or text.get("en") or next(iter(text.values())))

    def question(self, name: str) -> Json:
        """What is asked under a name."""
        return next(each for each in self.asked.every if each["name"] == name)

    def scope(self, name: str) -> Any:
        """The part of the page below a question."""
        return self.frame.locator(f'[data-question="{name}"]')

    def button(self, scope: Any, words: str) -> Any:
        """The button with these words of ours."""
        return scope.get_by_role("button", name=self.word(words), exact=True)

    def press(self, target: Any, part: Spot | None = None, *, twice: bool = False) -> None:
        """Goes to something that is seen and presses it. It may move while the pointer is on its way, not between down and up.

        ``twice``: a worn button of a mouse makes two presses of one.
        """
        part = part or self.eyes.somewhere()
        self.hand.press(self.reach(target, lambda: part))
        if twice:
            self.hand.press_again()

    def reach(self, target: Any, part: Callable[[], Spot]) -> Spot:
        """The pointer goes to a part of something that is seen; where that is then. A finger is only there when it touches."""
        spot = self.eyes.bring(target, part)
        self.hand.move(spot)
        if self.hand.finger or (moved := self.eyes.bring(target, part)) == spot:
            return spot
        self.hand.move(moved)
        return moved

    def sees(self, test: Callable[[], Any], what: str) -> None:
        """An act without an effect is a fault: ``what`` says which."""
        self.eyes.until(test, f"an act without effect: {what}", EFFECT * min(self.world.slow, 2))

    def begin(self) -> None:
        """Looks at the task that is there now."""
        if not self.frame or self.frame.is_detached():
            self.frame = self.eyes.frame()
        self.place = self.eyes.until(lambda: (now := self.over()) != self.place and now, "no next task")
        self.grain.clear()
        self.meant = {key: value for key, value in self.meant.items() if key[1] != "view"}
        self.trembled = False
        if not self.asked.questions:
            return
        self.eyes.until(lambda: self.frame.locator("[data-question]:visible").count(), "no question is shown")

    @property
    def info(self) -> Json:
        """What the task before them has: the page shows it."""
        number = "".join(letter for letter in self.place if letter.isdigit())
        titles = [info for info in self.tasks.values() if str(info.get("title", "")) == self.place]
        return titles[0] if titles else self.tasks.get(number, {})

    def over(self, *, step: bool = False) -> str:
        """What is shown above the questions: which task this is, with ``step`` also which step of it; "" for no task."""
        words = str(self.frame.evaluate(_OVER) or "")
        return words if step else words.partition(" · ")[0].strip()

    def moved_on(self) -> bool:
        """Whether another task is there, or none is left; the frame may have begun again."""
        if self.frame.is_detached():
            self.frame = self.eyes.frame()
        words = self.frame.evaluate(_OVER)
        return words is None or words.partition(" · ")[0].strip() not in ("", self.place)


ACTS: dict[str, Callable[[Actor, Json], None]] = {}


def act(function: Callable[[Actor, Json], None]) -> Callable[[Actor, Json], None]:
    """Names a function as what an act does."""
    ACTS[function.__name__.rstrip("_")] = function
    return function


__all__ = ["ACTS", "Actor", "LostError", "act"]
