"""Types of media beside which questions stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs

from crowdd.kinds.questions.options import (
    ADDRESS,
    COLUMN,
    SOURCE,
    SOURCES,
    TEXT,
    Option,
    Problem,
    check_object,
    closed,
    integer,
    number,
    numbers,
)
from crowdd.kinds.questions.question_type import MediaType


def _check_page(value: Any, path: str) -> Iterator[Problem]:
    if isinstance(value, dict):
        yield from check_object(value, path, {"column": attrs.evolve(COLUMN, needed=True)})
    else:
        yield from integer(1, 100_000).check(value, path)


_PAGE: Final = Option(
    _check_page, {"anyOf": [integer(1, 100_000).schema, closed({"column": COLUMN.schema}, ("column",))]}
)
_MAP: Final = {
    "source": attrs.evolve(SOURCE, needed=False),
    "tiles": ADDRESS,
    "attribution": TEXT,
    "center": numbers(2, -180, 180),
    "zoom": number(0, 24),
}

FORM_MEDIA: Final = (
    MediaType("picture", "One picture, which volunteers can enlarge and turn.", {"source": SOURCE}),
    MediaType("pictures", "Pictures side by side.", {"source": SOURCES}),
    MediaType("text", "A text.", {"source": SOURCE}),
    MediaType("sound", "A sound with a player.", {"source": SOURCE}),
    MediaType("video", "A film with a player.", {"source": SOURCE}),
)
MARK_MEDIA: Final = (
    MediaType("zoom_picture", "A picture in tiles: IIIF, or another tile source.", {"source": SOURCE}),
    MediaType("map", "A map; its source is a place to begin with.", _MAP),
    MediaType("pdf", "A page of a PDF file.", {"source": SOURCE, "page": _PAGE}),
)
