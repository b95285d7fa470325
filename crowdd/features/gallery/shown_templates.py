"""Templates as lists show them, and the names of their groups."""

from __future__ import annotations

from typing import Final, TypedDict

from crowdd.features.gallery.gallery import Listed
from crowdd.kernel.languages import _
from crowdd.kinds.questions.text_languages import text_in

GROUP_NAMES: Final = {
    "pictures": _("Pictures"),
    "text": _("Texts and documents"),
    "sound": _("Sound"),
    "video": _("Video"),
    "maps": _("Maps"),
    "forms": _("Surveys and forms"),
}


class ShownTemplate(TypedDict):
    """A template in a list. ``thumbnail`` is an address or ""; ``owner`` the name of who saved it, "" for others."""

    name: str
    group: str
    title: str
    description: str
    thumbnail: str
    own: bool
    offered: bool
    owner: str


def show_template(listed: Listed, locale: str) -> ShownTemplate:
    """A template as lists show it."""
    return ShownTemplate(
        name=listed.name,
        group=listed.card.group,
        title=text_in(listed.card.title, locale),
        description=text_in(listed.card.description, locale),
        thumbnail=listed.thumbnail,
        own=listed.own,
        offered=listed.offered,
        owner=listed.owner,
    )
