"""Types of media beside which questions stand."""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.kernel.languages import _
from crowdd.kinds.questions.options import ADDRESS, BOOLEAN, SOURCE, SOURCES, TEXT, number, numbers
from crowdd.kinds.questions.question_type import MediaType

_SOURCE: Final = SOURCE.called(_("Source"), _("The column of your tasks that has it, or one address for all tasks."))
_SOURCES: Final = SOURCES.called(_("Sources"), _("A column of your tasks, or an address, for each picture."))
_BEGIN: Final = _("A column with “latitude, longitude” or GeoJSON.")
_TILES: Final = _("With {z}, {x} and {y}. The provider sees the addresses of your volunteers.")
_MAP: Final = {
    "source": attrs.evolve(SOURCE, needed=False).called(_("Place to begin with"), _BEGIN),
    "site_map": BOOLEAN.called(
        _("Show the map of this site"), _("If it has one. Otherwise the map is drawn without asking another server.")
    ),
    "tiles": ADDRESS.called(_("Address of the map’s pictures"), _TILES),
    "attribution": TEXT.called(_("Attribution"), _("The text that the provider of the map asks for.")),
    "center": numbers(2, -180, 180).called(_("Centre"), _("Latitude and longitude, if a task names no place.")),
    "zoom": number(0, 24).called(_("Zoom"), _("From 0, the whole world, to 24.")),
}

FORM_MEDIA: Final = (
    MediaType(
        "picture",
        "One picture, which volunteers can enlarge and turn.",
        {"source": _SOURCE},
        _("Picture"),
        _("One picture, which volunteers can enlarge and turn."),
    ),
    MediaType("pictures", "Pictures side by side.", {"source": _SOURCES}, _("Pictures"), _("Pictures side by side.")),
    MediaType("text", "A text.", {"source": _SOURCE}, _("Text"), _("A text to read.")),
    MediaType("sound", "A sound with a player.", {"source": _SOURCE}, _("Sound"), _("A sound with a player.")),
    MediaType("video", "A video with a player.", {"source": _SOURCE}, _("Video"), _("A video with a player.")),
)
MARK_MEDIA: Final = (
    MediaType(
        "zoom_picture",
        "A picture to zoom deeply into: info.json of IIIF, another tile source, or a plain picture.",
        {"source": _SOURCE},
        _("Large picture"),
        _("A picture to zoom deeply into, also from a IIIF server."),
    ),
    MediaType(
        "map",
        "A map. Its source is a place to begin with: `latitude, longitude`, or GeoJSON that is shown; by default that"
        " of the columns with latitude and longitude. `site_map` shows the map that the site offers, `tiles` is the"
        " address of other pictures with {z}, {x} and {y}, `center` where to begin otherwise.",
        _MAP,
        _("Map"),
        _("A map to look at or to mark."),
    ),
)
