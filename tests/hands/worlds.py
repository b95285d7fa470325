"""Where a volunteer sits: the window, what they point with, the languages of page and browser, and how fast the machine is."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import attrs

SIZES: Final[dict[str, dict[str, Any]]] = {
    "1280x900": {"viewport": {"width": 1280, "height": 900}},
    "1024x700": {"viewport": {"width": 1024, "height": 700}},
    "390x844": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "844x390": {"viewport": {"width": 844, "height": 390}, "has_touch": True, "is_mobile": True},
    # What a browser of 1280 by 900 is at a zoom of 200 %.
    "200 %": {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2},
}
LANGUAGES: Final = ("en", "de", "ar", "es", "fr")
SLOW: Final = 6  # times


@attrs.frozen
class World:
    """A browser window: a name of SIZES, the languages of the page and of the browser, how many times slower it is."""

    size: str = "1280x900"
    language: str = "en"
    locale: str = "en"
    slow: int = 1

    @property
    def finger(self) -> bool:
        """Whether its volunteer points with a finger."""
        return bool(SIZES[self.size].get("has_touch"))

    @property
    def browser(self) -> str:
        """What is the same of all volunteers who may have the same browser."""
        return f"{self.size} {self.locale}"

    def options(self) -> dict[str, Any]:
        """What Playwright's new_context takes."""
        return {**SIZES[self.size], "locale": self.locale, "reduced_motion": "reduce"}


def some_world(random: Random, number: int) -> World:
    """A world; neighbouring numbers differ in their sizes, so that a few of them have every size."""
    size = [*SIZES][number % len(SIZES)]
    language = random.choice(LANGUAGES)
    locale = language if random.random() < 0.5 else random.choice(LANGUAGES)
    return World(size, language, locale, SLOW if random.random() < 0.05 else 1)
