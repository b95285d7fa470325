"""Addresses and their handlers. Each view of the pages and of the API lists its routes; the router serves them."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

import attrs

from crowdd.http.operation import Operation
from crowdd.http.responses import FixedResponse, Response

Handler = Callable[..., Awaitable[Response]]


class Shared(enum.Enum):
    """Which visitors without an account get the same page."""

    VISITORS = "visitors"  # all of them
    NEW_VISITORS = "new visitors"  # those whose browser has answered nothing: what one has answered shows on it
    CONSTANT = "constant"  # all of them, and it is made of settings alone, without the database


@attrs.frozen
class Route:
    """One address for one method. ``path`` is werkzeug's syntax; its names are arguments of the handler.

    ``endpoint`` is what the rate limit counts (the same for all ids). ``key_header`` false: the Authorization header is
    no API key here. ``csrf`` false: no form posts here. ``page`` false: no page, so a browser is not made a volunteer
    by asking. ``hot``: asked for all the time, so it stands in the ``PathTable``, too. ``doc`` is what the API's
    documentation says; every route below /api has one. ``proof``: takes a session with a recent proof (of somebody who
    signed in; the handler decides about others). ``manages``: gives a project away, or is the page of that: takes such
    a session, too, or a key that the site lets manage projects; any key may read the page. ``action``: what the scope
    of an API token must allow: read, answer, write or everything; unless given, read for GET and write for other
    methods. Pages of other sites may not do what ``answer`` allows: lease, answer and give back. ``by_role``: the body
    says which project is written, so that only the rights in it can decide about a token for one project. ``spooled``:
    its body is never read as a whole, but copied from the disk to the disk, so it takes no turn among the requests that
    need much memory. ``shared``: the visitors for whom it is the same, who may get one that was made for another of
    them (``http.page_cache``). ``fixed``: what the handler answers, always. It is sent without asking who wants it.
    ``admits``: refuses those who may not write here, before a body is read that takes long to parse. Unless given, the
    project that the path names decides, and without one such a body is too large.
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

    @property
    def assigns(self) -> bool:
        """Whether it leases, answers or gives back a task."""
        return self.action == "answer"

    @property
    def needs(self) -> str:
        """What the scope of an API token must allow."""
        return self.action or ("read" if self.method == "GET" else "write")


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
