"""Addresses and their handlers: the routes that views list, and a fast table for those that volunteers use most.

The table has the same handlers and the same rules as Klein. Klein handles every address that is not found there, for
example unknown addresses and trailing slashes.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Protocol

import attrs

from crowdd.http.operation import Operation
from crowdd.http.request import SAFE_METHODS
from crowdd.http.responses import FixedResponse, Response
from crowdd.kernel.errors import NotFoundError
from crowdd.kinds.body import Body

Handler = Callable[..., Awaitable[Response]]


class Shared(enum.Enum):
    """Which visitors without an account get the same page."""

    VISITORS = "visitors"  # all of them
    NEW_VISITORS = "new visitors"  # those whose browser has answered nothing: what one has answered shows on it
    CONSTANT = "constant"  # all of them, and it is made of settings alone, without the database


class Area(enum.Enum):
    """What an address belongs to: some rules hold for all of an area."""

    ACCOUNT = "/account/"
    ADMIN = "/admin"
    API = "/api"
    OTHER = ""


@attrs.frozen
class Route:
    """One address for one method. ``path`` is werkzeug's syntax; its names are arguments of the handler.

    ``endpoint`` is what the rate limit counts (the same for all ids). ``key_header`` false: the Authorization header is
    no API key here. ``csrf`` false: no form posts here. ``page`` false: no page, so a browser is not made a volunteer
    by asking. ``hot``: asked for all the time, so it stands in the ``PathTable``, too. ``doc`` is what the API's
    documentation says; every route below /api has one. ``proof``: takes a session with a recent proof (of people who
    signed in; the handler decides about others). ``manages``: gives a project away, or is the page of that: takes such
    a session, too, or a key that the site lets manage projects; any key may read the page. ``action``: what the scope
    of an API token must allow: read, answer, write or everything; unless given, read for GET and write for other
    methods. Pages of other sites may not do what ``answer`` allows: lease, answer and give back. ``by_role``: the body
    says which project is written, so that only the rights in it can decide about a token for one project. ``spooled``:
    its body is never read as a whole, but copied from the disk to the disk, so it takes no turn among the requests that
    need much memory. ``shared``: the visitors for whom it is the same, who may get one that was made for another of
    them (``http.page_cache``). ``fixed``: what the handler answers, always. It is sent without asking who wants it.
    ``admits``: refuses those who may not write here, before a body is read that takes long to parse. Unless given, the
    project that the path names decides, and without one such a body is too large. ``body``: what the JSON body is,
    unless it is a kind. The handler gets it as ``body``. ``area``: what ``path`` belongs to.
    """

    method: str
    path: str
    handler: Handler
    endpoint: str = ""
    key_header: bool = True
    csrf: bool = True
    page: bool = True
    hot: bool = False
    operation: Operation | None = None
    proof: bool = False
    manages: bool = False
    action: str = ""
    by_role: bool = False
    spooled: bool = False
    shared: Shared | None = None
    fixed: FixedResponse | None = None
    admits: Callable[..., Awaitable[None]] | None = None
    body: type[Body] | None = None
    area: Area = attrs.field(init=False)

    @area.default
    def _area_of_path(self) -> Area:
        return next(area for area in Area if self.path.startswith(area.value))

    @property
    def changes_state(self) -> bool:
        """Whether its method may change something."""
        return self.method not in SAFE_METHODS

    @property
    def is_page(self) -> bool:
        """Whether browsers are sent a page."""
        return self.page and self.method == "GET" and self.area is not Area.API

    @property
    def is_account_form(self) -> bool:
        """Whether it takes a form of accounts."""
        return self.area is Area.ACCOUNT and self.changes_state

    @property
    def assigns(self) -> bool:
        """Whether it leases, answers or gives back a task."""
        return self.action == "answer"

    @property
    def needs(self) -> str:
        """What the scope of an API token must allow."""
        return self.action or ("read" if self.method == "GET" else "write")


async def _no_handler(*_args: object, **_names: object) -> Response:
    raise NotFoundError("404 Not Found")


NO_ROUTE: Final = Route("", "(unknown)", _no_handler, page=False)
"""Where an address, or its method there, has no handler."""


class View(Protocol):
    """Handlers that belong together, with their addresses."""

    def routes(self) -> Iterator[Route]:
        """A route for each handler."""
        ...


get = partial(Route, "GET")
"""A route for GET and HEAD."""

post = partial(Route, "POST")
"""A route for POST."""


def by_path(routes: Iterable[Route]) -> dict[str, dict[str, Route]]:
    """The routes of each address by method."""
    table: dict[str, dict[str, Route]] = {}
    for route in routes:
        methods = table.setdefault(route.path, {})
        if route.method in methods:
            raise ValueError(f"{route.method} {route.path} has two handlers.")
        methods[route.method] = route
    return table


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
