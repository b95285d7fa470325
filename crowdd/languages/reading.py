"""Reads catalogues as they are written."""

from __future__ import annotations

import gettext
from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po


def catalogue(path: Path) -> gettext.NullTranslations:
    """The translations of a ``.po`` file; fuzzy ones count as missing."""
    compiled = BytesIO()
    with path.open("rb") as lines:
        write_mo(compiled, read_po(lines, locale=path.stem))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
