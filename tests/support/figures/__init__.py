"""Figures of pages, and the same counted from the rows: each check gives a name, what a page tells, and what is counted."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from typing import Any

Compared = AsyncIterator[tuple[str, Any, Any]]


def plain(text: str) -> str:
    """The words of some HTML."""
    words = re.sub(r"<(script|style|svg).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(words)).strip()


def named_figures(text: str) -> dict[str, str]:
    """The large figures of a page by their names."""
    pairs = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", text, re.DOTALL)
    return {plain(name): plain(figure).replace(",", "") for name, figure in pairs}


def counted(text: str, *words: str) -> int | None:
    """The number before one of the words."""
    match = re.search(rf"([\d,]+) (?:{'|'.join(words)})\b", text)
    return int(match[1].replace(",", "")) if match else None
