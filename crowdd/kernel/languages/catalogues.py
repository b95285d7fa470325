"""Read catalogues from ``.po`` files, and count missing translations."""

from __future__ import annotations

import gettext
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po


class CountingFallback(gettext.NullTranslations):
    """Fall back to English where a catalogue has no translation, and count it in ``count``."""

    count = 0

    def gettext(self, message: str) -> str:
        self.count += 1
        return message

    def ngettext(self, one: str, many: str, n: int) -> str:
        self.count += 1
        return one if n == 1 else many


class Catalogue(gettext.GNUTranslations):
    """The translations of one language."""

    fallback_counter: CountingFallback

    def _parse(self, fp: Any) -> None:
        super()._parse(fp)
        self.fallback_counter = CountingFallback()
        self.add_fallback(self.fallback_counter)


def catalogue(path: Path) -> Catalogue:
    """The translations of a ``.po`` file; fuzzy ones count as missing."""
    compiled = BytesIO()
    with path.open("rb") as lines:
        write_mo(compiled, read_po(lines, locale=path.stem))
    compiled.seek(0)
    return Catalogue(compiled)
