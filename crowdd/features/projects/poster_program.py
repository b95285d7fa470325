"""The process that draws one poster, with little memory and time: ``draw_poster`` starts it.

    python -m crowdd.features.projects.poster_program

It reads a poster as JSON and writes the PDF, or ``{"missing": "…"}`` with the letters that no font has.
"""

from __future__ import annotations

import sys
from contextlib import suppress

import orjson

from crowdd.features.projects.poster_drawing import Poster, draw, fonts_for
from crowdd.kernel.concurrency.isolated import bound_process

MAX_MEMORY = 1_500_000_000  # bytes of addresses: a font with all Chinese characters is unpacked
MAX_CPU_SECONDS = 40


def limit() -> None:
    """Bounds this process before it looks at a picture or a font."""
    bound_process(memory=MAX_MEMORY, cpu_seconds=MAX_CPU_SECONDS, file_bytes=0)


def make_pdf(poster: Poster) -> bytes:
    """The PDF of a poster, or why there is none."""
    fonts = fonts_for(poster.texts)
    if fonts.missing:
        return orjson.dumps({"missing": "".join(sorted(fonts.missing))})
    return draw(poster.without(fonts.unprinted), fonts.more)


def main() -> None:
    """Draws the poster that stands on the standard input."""
    limit()
    with suppress(BrokenPipeError):
        sys.stdout.buffer.write(make_pdf(Poster(**orjson.loads(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
