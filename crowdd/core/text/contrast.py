"""Contrast of two colours by WCAG 2.2, and whether a colour can be read on every background of our pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

AA: Final = 4.5
"""The least contrast of text on its background (WCAG 2.2, 1.4.3)."""

# The backgrounds on which links stand, by theme: --paper, --sheet, --sunk, --wash and the washes of messages in
# tokens.css. The text on a button of the accent is white in the light theme and dark in the dark one.
BACKGROUNDS: Final[Mapping[str, tuple[str, ...]]] = {
    "light": ("#f8f7f4", "#ffffff", "#efede8", "#e4edf3", "#fcf0d6", "#e2f1e8", "#fae8e4"),
    "dark": ("#0a2033", "#102d46", "#071826", "#1a4364", "#3b3626", "#12403c", "#4a2a33"),
}
ON_ACCENT: Final[Mapping[str, str]] = {"light": "#ffffff", "dark": "#08202f"}


@attrs.frozen
class Worst:
    """The colour beside which another is seen least, and the contrast with it."""

    beside: str
    ratio: float


def worst(colour: str, theme: str) -> Worst:
    """The least contrast that an accent (``#rrggbb``) has in a theme, light or dark."""
    others = (*BACKGROUNDS[theme], ON_ACCENT[theme])
    return min((Worst(other, ratio(colour, other)) for other in others), key=lambda each: each.ratio)


def ratio(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """The relative luminance of ``#rrggbb``, from 0 to 1."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
