"""The program that draws one poster, with little memory and time: ``draw_poster`` starts it."""

from __future__ import annotations

import os
from typing import Final

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
    """The PDF of the poster, or ``{"missing": "…"}`` with the letters that no font has; ``{}`` without libraries."""
    poster = Poster(**orjson.loads(os.environ[DESCRIPTION]))
    try:
        fonts = fonts_for(poster.texts)
        if fonts.missing:
            return orjson.dumps({"missing": "".join(sorted(fonts.missing))})
        return draw(poster.without(fonts.unprinted), fonts.more)
    except ModuleNotFoundError:
        return b"{}"
