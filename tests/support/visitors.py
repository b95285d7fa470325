"""A site that is looked at by visitors without an account, each from a network of their own."""

from __future__ import annotations

import itertools
import re
from typing import Any

import attrs
from twisted.internet.task import Clock
from twisted.web.client import readBody
from twisted.web.http_headers import Headers

from support.servers.served import Client, Response, Served

HTML = {"Accept": "text/html"}
_NETWORKS = itertools.count(1)
_OWN = re.compile(r'nonce="[^"]*"|name="csrf_token" value="[^"]*"|data-volunteer="[^"]*"|data-csrf="[^"]*"')


@attrs.define
class VisitedSite:
    """A server with an owner, an administrator, and for each test a volunteer with an answer in a project of two tasks.

    The project is the only one that is published, in a category of its own, and the volunteer the only one who is not
    blocked. ``short_name`` is the project's, ``word`` its name, ``person`` the name of the volunteer, whose full name is
    ``face``, and ``subject`` the short name of the category, whose name is ``topic``. ``made`` counts the pages that were
    made for many visitors, ``clock`` is that of the page cache.
    """

    served: Served
    clock: Clock = attrs.field(factory=Clock)
    made: int = 0
    number: int = 0
    owner: Any = None
    admin: Any = None
    ada: Any = None
    project: dict[str, Any] = attrs.field(factory=dict)

    short_name = property(lambda self: f"birds{self.number}")
    word = property(lambda self: f"Birds{self.number}")
    person = property(lambda self: f"ada{self.number}")
    face = property(lambda self: f"Ada{self.number}")
    subject = property(lambda self: f"thinking{self.number}")
    topic = property(lambda self: f"Pondering{self.number}")

    async def renew(self) -> VisitedSite:
        """With a project, a volunteer and a category that no test had before."""
        if self.owner is None:
            self.owner, self.admin = await self.served.person("owner"), await self.served.person("boss", admin=True)
        self.number += 1
        await self.sql("UPDATE project SET published = false, name = 'Old ' || id RETURNING 1")
        await self.sql("UPDATE category SET name = 'Old ' || id WHERE short_name LIKE 'thinking%%' RETURNING 1")
        await self.sql("UPDATE account SET \"restrict\" = true WHERE name NOT IN ('owner', 'boss') RETURNING 1")
        self.ada = await self.served.person(self.person)
        self.project = await self.served.project(self.owner, self.short_name, tasks=2, published=True)
        category = {"name": self.topic, "short_name": self.subject, "description": "x"}
        made = (await self.admin.post("/api/category", json=category)).json()
        self.project["category_id"] = made["id"]
        await self.sql(
            "UPDATE project SET category_id = %(c)s WHERE id = %(p)s RETURNING 1", c=made["id"], p=self.project["id"]
        )
        await self.answer(self.ada)
        self.made = 0
        return self

    def at(self, path: str) -> str:
        """An address with the project as ``{p}``, the volunteer as ``{a}`` and the category as ``{c}``."""
        return path.format(p=self.short_name, a=self.person, c=self.subject)

    def visitor(self) -> Client:
        """Somebody who comes for the first time."""
        number = next(_NETWORKS)
        return self.served.client("", **{"X-Forwarded-For": f"10.{number >> 8}.{number & 255}.1"})

    async def browser(self, who: str) -> Client:
        """A browser in which the ``owner``, ``admin`` or ``ada`` is signed in, from a network of its own."""
        browser: Client = await getattr(self, who).by_session()
        browser.headers = self.visitor().headers
        return browser

    async def seen(self, path: str, **headers: str) -> Response:
        """A page as a visitor gets it."""
        return await self.visitor().get(self.at(path), headers={**HTML, **headers})

    async def cached(self, path: str) -> Response:
        """The same from the cache."""
        first = await self.seen(path)
        before = self.made
        again = await self.seen(path)
        assert (first.status, again.status) == (200, 200), first.body
        assert self.made == before, f"{path} is not in the cache"
        return again

    async def bare(self, path: str, coding: str) -> Response:
        """The same as its bytes come."""
        headers = {"Accept-Encoding": [coding], "X-Forwarded-For": [self.visitor().headers["X-Forwarded-For"]]}
        answer = await self.served._agent.request(b"GET", (self.served.base + path).encode(), Headers(headers))
        return Response(answer.code, answer.headers, await readBody(answer))

    async def answer(self, who: Any) -> None:
        """An answer to the next task of the project."""
        task = (await who.get(f"/api/{self.project['id']}/newtask")).json()
        body = {"project_id": self.project["id"], "task_id": task["id"], "info": 1}
        assert (await who.post("/api/taskrun", json=body)).status == 200

    async def sql(self, text: str, **values: Any) -> list[dict[str, Any]]:
        """A statement past all rules, as another process may run it."""
        rows: list[dict[str, Any]] = await self.served.database.fetch(text, values)
        return rows

    async def version(self) -> int:
        """The exposure version."""
        return int(await self.served.house.base.exposure.version())


def without_own(text: str) -> str:
    """A page without what each response has of its own."""
    return _OWN.sub("", text)
