"""What a poster says."""

from __future__ import annotations

import unicodedata
from typing import Any

import attrs

MAX_CHARACTERS = 400
"""Of one text: longer ones are cut, with an ellipsis."""
_UNPRINTABLE = frozenset({"Cc", "Cf", "Co", "Cs"})
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


def _shortened(text: str) -> str:
    """The text on one line, without characters that print nothing or turn the direction of others."""
    plain = "".join(each for each in " ".join(text.split()) if unicodedata.category(each) not in _UNPRINTABLE)
    return plain if len(plain) <= MAX_CHARACTERS else plain[: MAX_CHARACTERS - 1].rstrip() + "…"


@attrs.frozen
class Poster:
    """The texts of a poster. ``address`` is what the code says, ``link`` the same for people; ``picture`` a file.

    ``call`` invites to the project, ``site`` is the name of the site.
    """

    name: str = attrs.field(converter=_shortened)
    sentence: str = attrs.field(converter=_shortened)
    call: str = attrs.field(converter=_shortened)
    link: str = attrs.field(converter=_shortened)
    site: str = attrs.field(converter=_shortened)
    address: str
    picture: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that fonts must have."""
        return self.name, self.sentence, self.call, self.link, self.site

    def without(self, characters: frozenset[str]) -> Poster:
        """The poster without some characters."""
        plain: dict[str, Any] = {
            name: "".join(each for each in getattr(self, name) if each not in characters)
            for name in ("name", "sentence", "call", "link", "site")
        }
        return attrs.evolve(self, **plain)


def reads_right_to_left(text: str) -> bool:
    """Whether the first letter of a text with a direction is one of a script that runs to the left."""
    directions = (unicodedata.bidirectional(each) for each in text)
    return next((each in _RIGHT_TO_LEFT for each in directions if each in _RIGHT_TO_LEFT or each == "L"), False)
