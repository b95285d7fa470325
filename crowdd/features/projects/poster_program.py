"""The program that draws one poster, with little memory and time: ``draw_poster`` starts it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Protocol, TypeVar

import orjson

from crowdd.features.projects.poster_drawing import Poster, draw, fonts_for
from crowdd.kernel.concurrency.isolated import Limits

DESCRIPTION: Final = "CROWDD_POSTER"
"""The variable of the environment with the poster, as JSON."""
LIMITS = Limits(
    memory=1_500_000_000,  # a font with all Chinese characters is unpacked
    cpu_seconds=40,
    file_bytes=0,
)


def make_pdf() -> bytes:
    """The PDF of the poster, as ``draw_page`` gives it."""
    return draw_page(Poster(**orjson.loads(os.environ[DESCRIPTION])), draw)


P = TypeVar("P", bound="Page")


class Page(Protocol):
    """What a PDF shows."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that fonts must have."""

    def without(self: P, characters: frozenset[str]) -> P:
        """The page without some characters."""


def draw_page(page: P, draw: Callable[[P, Iterable[Path]], bytes]) -> bytes:
    """The PDF, or ``{"missing": "…"}`` with the letters that no font has; ``{}`` without libraries."""
    try:
        fonts = fonts_for(page.texts)
        if fonts.missing:
            return orjson.dumps({"missing": "".join(sorted(fonts.missing))})
        return draw(page.without(fonts.unprinted), fonts.more)
    except ModuleNotFoundError:
        return b"{}"
