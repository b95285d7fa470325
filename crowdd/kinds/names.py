"""Which characters names may have: PRECIS (RFC 8264, 8265), so that nothing in a name is invisible.

A name in addresses, as of an account, follows the profile UsernameCasePreserved: letters, digits and the signs of
ASCII. A name that people only read follows the FreeformClass, which also has spaces, punctuation and symbols.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from precis_i18n import get_profile

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

ADDRESS_FORMAT: Final = "precis-username"
FREE_FORMAT: Final = "precis-freeform"
"""Names of formats in schemas."""
_ADDRESS: Final = get_profile("UsernameCasePreserved")
_FREE: Final = get_profile("FreeFormClass")
# PRECIS lets the middle dot stand in Catalan words only, and no tatweel: rules against confusion, not for titles.
_VISIBLE: Final = {ord("\N{MIDDLE DOT}"): None, ord("\N{ARABIC TATWEEL}"): None}
_BLANK: Final = frozenset("\u2800\ufffc\U0001d159")  # symbols that show nothing
_SELECTORS: Final = frozenset("\ufe0e\ufe0f")  # keyboards put them behind emoji
_JOINER: Final = "\N{ZERO WIDTH JOINER}"
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Mn", "Zl", "Zp", "Zs"})
EXAMPLES = "examples"  # the account that owns projects that were loaded before there was anybody
# First segments of addresses below /account/ that are pages, not people; and the one account that is nobody's.
RESERVED_NAMES = frozenset(
    {
        "page", "register", "signin", "signout", "forgot-password", "reset-password", "profile", "newsletter",
        "confirm-email", "save_metadata", "first-admin", "api", "export", "delete", "update", "projects", "sessions",
        "claim", "unlink", "prove", "passkey", "security", "password-strength", EXAMPLES,
    }
)  # fmt: skip
# First segments of addresses below /project/ that are pages, not projects.
RESERVED_SHORT_NAMES = frozenset({"new", "category", "search", "all", "page"})


class UnusableNameError(InvalidValueError):
    """A name has a character that names may not have, or mixes directions (``character`` is then empty).

    ``sentence`` tells people, the text itself programs.
    """

    def __init__(self, character: str, words: str, sentence: str) -> None:
        super().__init__(words)
        self.character, self.sentence = character, sentence


def in_address(text: str) -> str:
    """The name as it is stored: composed, characters of full or half width as usual. Raises UnusableNameError."""
    return _enforced(_ADDRESS.enforce, text, in_address=True)


def free(text: str) -> str:
    """The name as it is stored: composed, with single spaces. Raises UnusableNameError."""
    spaced = "".join(" " if unicodedata.category(each) == "Zs" else each for each in text)
    stored = unicodedata.normalize("NFC", re.sub(" {2,}", " ", spaced).strip(" "))
    _enforced(_FREE.enforce, _checked_part(stored), in_address=False)
    return stored


def cleaned(text: str) -> str:
    """A name that people read, as it is stored, without the characters that it may not have."""
    while True:
        try:
            return free(text)
        except UnusableNameError as error:
            text = text.replace(error.character, "")


def _checked_part(text: str) -> str:
    """The text without what PRECIS refuses but people see, or keyboards add: parts of emoji."""
    part: list[str] = []
    for number, each in enumerate(text):
        after_symbol = bool(part) and unicodedata.category(part[-1]) in ("So", "Sk", "Sm")
        joins = each == _JOINER and unicodedata.category(text[number + 1 : number + 2] or " ") == "So"
        if not (after_symbol and (joins or each in _SELECTORS)):
            part.append(each)
    return "".join(part).translate(_VISIBLE)


def _enforced(enforce: Callable[[str], str], text: str, *, in_address: bool) -> str:
    blank = next((each for each in text if each in _BLANK), "")
    if blank:
        raise _unusable(blank, in_address=in_address)
    try:
        return enforce(text)
    except UnicodeEncodeError as error:
        whole = error.end - error.start == len(error.object) > 1
        raise _unusable("" if whole else error.object[error.start : error.end], in_address=in_address) from None


def _unusable(character: str, *, in_address: bool) -> UnusableNameError:
    if not character:
        return UnusableNameError(
            "",
            "mixes letters that are written from right to left with others, or does not begin with one. Use one kind",
            _(
                "Use either letters that are written from left to right, or letters that are written from right to"
                " left."
            ),
        )
    which = _named(character)
    if character in _BLANK or unicodedata.category(character) in _INVISIBLE:
        return UnusableNameError(
            character,
            f"contains the invisible character {which}. Delete it",
            _("Delete the invisible character %(character)s.", character=which),
        )
    if in_address:
        return UnusableNameError(
            character,
            f"must not contain {character} ({which}). Use letters and digits",
            _("Use letters and digits instead of %(sign)s (%(character)s).", sign=character, character=which),
        )
    return UnusableNameError(
        character,
        f"must not contain the character {which}. Delete it",
        _("Delete the character %(character)s: not all devices can show it.", character=which),
    )


def _named(character: str) -> str:
    """The number and the name of a character, as in the charts of Unicode."""
    name = unicodedata.name(character, "")
    number = f"U+{ord(character):04X}"
    return f"{number} {name}" if name else number
