"""HTML inside a text in Markdown, cut down to elements that may stay and closed where its block ends.

An HTML parser repeats elements that were left open in every paragraph that follows, with all their attributes: a few kB
of text could then become hundreds of MB. What leaves here is short, known and balanced.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

MAX_DEPTH: Final = 100
_VOID: Final = frozenset({"br", "hr", "img"})
_ENDS_BY_ITSELF: Final = frozenset({"p", "li", "tr", "td", "th", "thead", "tbody"})
_PIECE: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<[?!].*?(?:>|\Z)"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)"
    r"(?P<attributes>(?:\s+[^\s\"'=<>/`]+(?:\s*=\s*(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|[^\s\"'=<>`]{1,2000}))?){0,20})"
    r"\s*/?>|<",
    re.DOTALL,
)


class RawHtml:
    """The HTML of one block or paragraph, given part by part."""

    def __init__(self, names: AbstractSet[str], with_attributes: AbstractSet[str]) -> None:
        self._names, self._with_attributes = names, with_attributes
        self._open: list[str] = []

    def whole(self, html: str) -> str:
        """A block, closed."""
        return self.part(html) + self.end()

    def part(self, html: str) -> str:
        """A part of it; elements may stay open until ``end``."""
        return _PIECE.sub(self._piece, html)

    def end(self) -> str:
        """What closes the elements that are still open."""
        return "".join(f"</{self._open.pop()}>" for _ in range(len(self._open)))

    def _piece(self, piece: re.Match[str]) -> str:
        if piece[0] == "<":
            return "&lt;"
        name = (piece["name"] or "").lower()
        if name not in self._names:
            return ""
        if piece["end"]:
            return self._close(name)
        return self._begin(name, piece["attributes"] if name in self._with_attributes else "")

    def _begin(self, name: str, attributes: str) -> str:
        if name not in _VOID | _ENDS_BY_ITSELF:
            if len(self._open) == MAX_DEPTH:
                return ""
            self._open.append(name)
        return f"<{name}{attributes}>"

    def _close(self, name: str) -> str:
        if name in _ENDS_BY_ITSELF:
            return f"</{name}>"
        closed = ""
        while name in self._open:
            last = self._open.pop()
            closed += f"</{last}>"
            if last == name:
                break
        return closed
