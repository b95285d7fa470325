"""Every page of the route table, on a server with rows of every kind: a new page is visited by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import pytest_twisted
from matrix import example_site as matrix
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred

from crowdd.kernel import config
from support.addresses import BESIDE, filled, pages, statements
from support.browsers import signed_in
from support.first_encryption import encrypted_at_first
from support.servers.live import CROWDED, LiveServer
from support.servers.served import Served

HTML = {"Accept": "text/html"}


@attrs.frozen
class Site:
    """A server, the cookies of those who visit it, and the addresses of its pages."""

    url: str
    cookies: dict[str, dict[str, str]]
    addresses: list[tuple[str, str]]  # the path of a route, and an address of it

    def connection(self) -> HTTPConnection:
        """Asks without a browser: Playwright's own requests take four times as long."""
        return HTTPConnection(self.url.removeprefix("http://"), timeout=45)

    def shown(self, asked: HTTPConnection, who: str, address: str) -> str:
        """The page that somebody gets at an address; empty where there is no page for them."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies[who].items())
        asked.request("GET", address, headers=HTML | {"Cookie": cookies})
        answer = asked.getresponse()
        text = answer.read().decode("utf-8", "replace")
        html = answer.headers.get("content-type", "").startswith("text/html")
        return text if answer.status == 200 and html else ""


@contextlib.contextmanager
def every_page(postgres: Any, data: Path, change: Callable[[str], None] = lambda dsn: None) -> Iterator[Site]:
    """Runs the server; ``change`` gets its database before the addresses are filled in."""
    dsn = postgres.make()
    environment = {"CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(data), "CROWDD_RATELIMIT_LIMIT": "0", **CROWDED}
    environment |= {"CROWDD_SITE_DEBUG": "on", "CROWDD_SIGNIN_GOOGLE_CLIENT_ID": "x"}
    served = Served(reactor, config.load(None, environment))
    cookies = pytest_twisted.blockon(ensureDeferred(_build(served)))
    routes = served.routes
    pytest_twisted.blockon(ensureDeferred(served.stop()))
    change(dsn)
    addresses = list(_filled(dsn, pages(routes)))
    live = LiveServer(dsn, data, **environment)
    live.start()
    yield Site(live.url, cookies, addresses)
    live.stop()
    postgres.drop(dsn)


def _filled(dsn: str, paths: list[str]) -> Iterator[tuple[str, str]]:
    with psycopg2.connect(dsn) as connection, connection.cursor() as cursor:
        stand_for = {}
        for name, statement in statements(paths).items():
            cursor.execute(statement)
            stand_for[name] = [value for (value,) in cursor.fetchall()]
    connection.close()
    return ((path, address) for path in paths for address in filled(path, stand_for))


async def _build(served: Served) -> dict[str, dict[str, str]]:
    await served.start()
    made = await matrix.build(served)
    await served.database.execute(
        BESIDE, {"encrypted": encrypted_at_first(served.house.base.secrets, "whsec_c2VjcmV0")}
    )
    visitor = served.client()
    await visitor.get("/about", headers=HTML)
    cookies = {"anonymous": visitor.cookies}
    for name in ("stranger", "owner", "admin"):
        cookies[name] = (await signed_in(served, name)).cookies
    token = (await made["owner"].page("/project/open/publish")).json()["csrf"]
    assert token
    return cookies
