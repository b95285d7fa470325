"""Finds the routes that volunteers use most without Klein.

They have the same handlers and the same rules. Klein handles every address that is not found here, for example unknown
addresses and trailing slashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from crowdd.http.routing import Route

Methods = Mapping[str, Route]
Names = dict[str, Any]
_NAME = re.compile(r"<(?:(int):)?(\w+)>")


class PathTable:
    """Those of the routes of each address (``routing.by_path``) of which one is ``hot``."""

    def __init__(self, routes: Mapping[str, Methods]) -> None:
        self._by_length: dict[int, list[tuple[list[_Segment], Methods]]] = {}
        for path, methods in routes.items():
            if any(route.hot for route in methods.values()):
                segments = [_Segment(word) for word in path.split("/")[1:]]
                self._by_length.setdefault(len(segments), []).append((segments, methods))

    def find(self, words: list[bytes]) -> tuple[Methods, Names] | None:
        """The routes of an address and the names in it, as Klein would find them; None: ask Klein."""
        for segments, methods in self._by_length.get(len(words), ()):
            if all(segment.fits(word) for segment, word in zip(segments, words, strict=True)):
                return methods, dict(_named(segments, words))
        return None


class _Segment:
    """A segment of a path: a constant or a parameter."""

    def __init__(self, word: str) -> None:
        name = _NAME.fullmatch(word)
        self._word = word.encode()
        self.name = name[2] if name else ""
        self.is_number = name is not None and name[1] == "int"

    def fits(self, word: bytes) -> bool:
        """Whether a segment of an address matches."""
        if not self.name:
            return word == self._word
        return word.isdigit() if self.is_number else word != b""


def _named(segments: list[_Segment], words: list[bytes]) -> Iterator[tuple[str, str | int]]:
    for segment, word in zip(segments, words, strict=True):
        if segment.name:
            yield segment.name, int(word) if segment.is_number else word.decode()
