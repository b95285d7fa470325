"""Finds the routes that volunteers use most without Klein.

They have the same handlers and the same rules. Klein handles every address that is not found here, for example unknown
addresses and trailing slashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from crowdd.http.routing import Route

Methods = Mapping[str, Route]
Names = dict[str, Any]
MAX_DIGITS = 100  # of a number in an address; Klein says what holds of longer ones
_NAME = re.compile(r"<(?:(int):)?(\w+)>")


class PathTable:
    """Those of the routes of each address (``routing.by_path``) of which one is ``hot``."""

    def __init__(self, routes: Mapping[str, Methods]) -> None:
        self._by_length: dict[int, list[_Path]] = {}
        # Only addresses of as many segments can meet: all pairs of them would be most of the start of a server.
        others: dict[int, list[list[str]]] = {}
        for segments in map(_segments, routes):
            others.setdefault(len(segments), []).append(segments)
        for address, methods in routes.items():
            if any(route.hot for route in methods.values()):
                path = _Path(address, methods, others[len(_segments(address))])
                self._by_length.setdefault(path.length, []).append(path)

    def find(self, words: list[bytes]) -> tuple[Methods, Names] | None:
        """The routes of an address and the names in it, as Klein would find them; None: ask Klein."""
        for path in self._by_length.get(len(words), ()):
            names = path.names(words)
            if names is not None:
                return path.methods, names
        return None


class _Path:
    """The path of a route: which of its segments are constants, and which are parameters.

    Where another address has a constant in place of a parameter (``/project/new``), the constant is no parameter.
    """

    def __init__(self, address: str, methods: Methods, others: Iterable[list[str]]) -> None:
        """``others``: the segments of all addresses of as many segments."""
        self.methods = methods
        segments = address.split("/")[1:]
        self.length = len(segments)
        mine = _segments(address)
        alike = [other for other in others if all(map(_agree, mine, other))]
        self._taken = {
            at: frozenset(other[at].encode() for other in alike if not _NAME.fullmatch(other[at]))
            for at, word in enumerate(segments)
            if _NAME.fullmatch(word)
        }
        self._constants = [(at, word.encode()) for at, word in enumerate(segments) if not _NAME.fullmatch(word)]
        matches = ((at, _NAME.fullmatch(word)) for at, word in enumerate(segments))
        self._parameters = [(at, name[2], name[1] == "int") for at, name in matches if name]

    def names(self, words: list[bytes]) -> Names | None:
        """The parameters in an address of as many segments; None where it is another one."""
        for at, word in self._constants:
            if words[at] != word:
                return None
        names: Names = {}
        for at, name, is_number in self._parameters:
            word = words[at]
            if word in self._taken[at]:
                return None
            if not (word.isdigit() and len(word) <= MAX_DIGITS if is_number else word):
                return None
            names[name] = int(word) if is_number else word.decode()
        return names


def _segments(address: str) -> list[str]:
    """The segments of an address; Klein does not mind a slash at the end."""
    return address.removesuffix("/").split("/")[1:]


def _agree(one: str, other: str) -> bool:
    """Whether some word fits both segments."""
    if one == other:
        return True
    names, words = [_NAME.fullmatch(one), _NAME.fullmatch(other)], [one, other]
    if None not in names:
        return True
    if names == [None, None]:
        return False
    name, word = (names[0], words[1]) if names[0] else (names[1], words[0])
    return name is not None and (name[1] != "int" or word.isdigit())
