"""The pages of a server, taken from its own routes; and how the names in an address are filled.

A new page is found here by itself. A new *name* in an address (``/project/<short_name>/blog/<int:blogpost_id>``) needs
a line in NAMES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any
from urllib.parse import quote

from crowdd.http.routing import Route

# A name in an address, and the statement that says what stands there (on a stage with rows of every kind).
NAMES = {
    "short_name": "SELECT short_name FROM project WHERE id IN (SELECT project_id FROM task) ORDER BY id",
    "name": "SELECT name FROM account WHERE id IN (SELECT owner_id FROM project) ORDER BY id LIMIT 1",
    "page": "SELECT '1'",
    "window": "SELECT '3'",
    "task_id": "SELECT min(id) FROM task GROUP BY project_id",
    "result_id": "SELECT min(id) FROM result GROUP BY project_id",
    "user_id": "SELECT max(id) FROM account",
    "project_id": "SELECT min(id) FROM project",
    "announcement_id": "SELECT min(id) FROM announcement",
    "category_id": "SELECT min(id) FROM category",
    "blogpost_id": "SELECT min(id) FROM blogpost GROUP BY project_id",
    "item_id": "SELECT min(id) FROM queue_item",
    "mail_id": "SELECT min(id) FROM mail",
    "delivery_id": "SELECT min(id) FROM delivery",
}
# What is no page that a person reads: data, files, and streams that never end.
_NO_PAGE = re.compile(r"/api/(?!docs)|/api/?$|/uploads/|/static/|/health|/project/<short_name>/(events|live)$")
_NAME = re.compile(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>")


def pages(routes: Iterable[Route]) -> list[str]:
    """The addresses of all pages, with the names in them, sorted."""
    return sorted({route.path for route in routes if route.method == "GET" and not _NO_PAGE.match(route.path)})


def values(fetch: Any, paths: Iterable[str]) -> dict[str, list[str]]:
    """What stands for each name of these addresses; ``fetch`` runs a statement and gives its rows."""
    names = sorted({name for path in paths for name in _NAME.findall(path)})
    unknown = [name for name in names if name not in NAMES]
    assert not unknown, f"tests/support/addresses.py does not say what stands for {unknown} in an address"
    return {name: [str(row[0]) for row in fetch(NAMES[name])] for name in names}


def filled(path: str, values: dict[str, list[str]]) -> Iterator[str]:
    """The address with each value of each name; values of two names are combined."""
    names = _NAME.findall(path)
    for chosen in product(*(values[name] for name in names)):
        given = dict(zip(names, chosen, strict=True))
        yield _NAME.sub(lambda name, given=given: quote(given[name[1]], safe=""), path)
