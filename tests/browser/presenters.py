"""Presenters as owners write them; MINE stands for the project's short name."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import attrs

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


@attrs.frozen
class Relative:
    """A presenter whose button ``.go`` answers, and the ``info`` of its first answer."""

    source: str
    answer: Any


FAMILY: Final = {
    "modal": Relative(_read("modal"), "crow"),
    "form": Relative(_read("form"), {"species": "Quercus", "year": "1841", "note": "torn"}),
    "drawing": Relative(_read("drawing"), {"box": [10, 10, 30, 20], "pixels": 80 * 60 * 4}),
    "by hand": Relative(_read("by_hand"), {"n": 0}),
    "module": Relative(_read("module"), "yes"),
    "steps": Relative(_read("steps"), ["yes", "yes"]),
    "template": Relative(_read("template"), {"same": True}),
}
"""More styles, of which each goes its own way from a task to the next; SIMPLE, OWN_LIBRARY and OLD_STYLE are the others."""

RESULTS: Final = _read("results")
"""A page of results."""
