"""Presenters as owners write them; MINE stands for the project's short name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import crowdd.http

JQUERY: Final = (Path(crowdd.http.__file__).parent / "static/vendor/jquery-2.2.4/jquery.min.js").read_text()


def _read(name: str) -> str:
    return (Path(__file__).parent / "presenters_html" / f"{name}.html").read_text()


SIMPLE: Final = _read("simple")
"""Two buttons, the frame's own library."""

KEYS: Final = SIMPLE + _read("keys")
"""The same with shortcuts, of which it tells the page."""

OWN_LIBRARY: Final = f"<script>{JQUERY}</script>" + _read("own_library") + SIMPLE
"""The same with its own jQuery and its own library: the same requests in the same order, by $.ajax."""

OLD_STYLE: Final = _read("old_style")
"""What older presenters lean on: jQuery's img.load, Bootstrap's tooltip, the locale element, a link home."""
