"""Types of media beside which questions stand."""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.kinds.questions.options import ADDRESS, SOURCE, SOURCES, TEXT, number, numbers
from crowdd.kinds.questions.question_type import MediaType

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
    MediaType(
        "zoom_picture",
        "A picture to zoom deeply into: info.json of IIIF, another tile source, or a plain picture.",
        {"source": SOURCE},
    ),
    MediaType(
        "map",
        "A map. Its source is a place to begin with: `latitude, longitude`, or GeoJSON that is shown. `tiles` is the"
        " address of its pictures with {z}, {x} and {y}, `center` the latitude and longitude to begin with otherwise.",
        _MAP,
    ),
)
