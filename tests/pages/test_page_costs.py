"""What a page costs: statements, bytes over the wire at the first visit, and CPU to make it."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Any

import pytest_twisted
from support.browsers import signed_in
from support.page_contexts import cases
from support.page_reader import Page

from crowdd.http.rendering import Templates
from crowdd.http.static_files import StaticFiles
from crowdd.languages import Languages
from crowdd.storage.connection import Connection

HTML = {"Accept": "text/html"}
FIRST_LOAD = 100_000  # bytes, compressed, with style and scripts and what these import
CPU_MS = 10
# Statements of each page for a visitor, or for an administrator in his browser (one of them finds his session).
VISITOR = {
    "/": 5, "/about": 0, "/help/": 0, "/announcements/": 1, "/leaderboard/": 1, "/stats": 2, "/account/page/1": 4,
    "/account/signin": 0, "/account/register": 1, "/account/ada/": 4, "/project/birds/": 2, "/project/birds/stats": 3,
    "/project/birds/newtask": 3, "/project/category/thinking/": 2, "/project/search?q=bird": 2, "/nothing": 0, "/api/docs": 0, "/project/birds/tasks/": 2,
    "/project/birds/tasks/browse": 3, "/project/birds/tasks/1": 6, "/project/birds/tasks/export": 3,
}  # fmt: skip
MEMBER = {
    "/account/profile": 4, "/account/boss/projects": 4, "/account/boss/update": 3, "/account/boss/resetapikey": 3,
    "/account/boss/sessions": 4, "/account/boss/claim": 3, "/account/boss/export": 4, "/account/boss/delete": 4,
    "/account/newsletter": 2,
}  # fmt: skip
ADMINISTRATOR = {
    "/admin/users": 2, "/admin/categories": 2, "/admin/featured": 3, "/admin/announcement": 2, "/admin/announcement/new": 1,
    "/admin/dashboard/": 3, "/admin/audit": 3, "/admin/jobs": 2, "/admin/queue": 2, "/admin/mail": 2, "/admin/webhooks": 2,
    "/project/birds/tasks/redundancy": 4, "/project/birds/tasks/priority": 3, "/project/birds/tasks/scheduler": 3,
    "/project/birds/tasks/delete": 3, "/project/birds/queue": 4, "/project/birds/tasks/import": 4,
}  # fmt: skip


async def built(served: Any) -> None:
    await served.person("boss", admin=True)
    ada = await served.person("ada")
    await served.project(ada, tasks=3, published=True)
    await served.project(ada, "fish", tasks=1, published=True)


@pytest_twisted.ensureDeferred
async def test_a_page_takes_so_many_statements(served, monkeypatch):
    said: list[str] = []
    run = Connection.run
    monkeypatch.setattr(
        Connection, "run", lambda self, sql, *more, **named: (said.append(str(sql)), run(self, sql, *more, **named))[1]
    )

    async def least(browser: Any, path: str, stated: int) -> int:
        """The fewest of some tries: jobs of the server run meanwhile."""
        counts: list[int] = []
        while len(counts) < 12 and stated not in counts:
            said.clear()
            assert (await browser.get(path, headers=HTML)).status in (200, 404), path
            counts.append(len(said))
        return min(counts)

    await built(served)
    visitor, boss = served.client(), await signed_in(served, "boss")
    found = {path: await least(visitor, path, stated) for path, stated in VISITOR.items()}
    assert found == VISITOR
    found = {path: await least(boss, path, stated) for path, stated in MEMBER.items()}
    assert found == MEMBER
    found = {path: await least(boss, path, stated) for path, stated in ADMINISTRATOR.items()}
    assert found == ADMINISTRATOR


@pytest_twisted.ensureDeferred
async def test_a_first_visit_loads_little(served):
    await built(served)
    sizes: dict[str, int] = {}

    async def size(path: str) -> int:
        if path not in sizes:
            answer = await served.bare(path, "gzip")
            assert answer.status == 200, path
            sizes[path] = len(answer.body)
        return sizes[path]

    async def imported(script: str) -> set[str]:
        text = (await served.bare(script, "identity")).body.decode()
        here = script.rpartition("/")[0]
        return {f"{here}/{name}" for name in re.findall(r'from "\./([\w/.]+)"', text)}

    loads = {}
    for path in VISITOR:
        if path == "/nothing":
            continue
        page = Page((await served.client().get(path, headers=HTML)).text)
        files = {link.get("href") for link in page.all("link") if link.get("rel") in ("stylesheet", "icon")}
        scripts = {script.get("src") for script in page.all("script")}
        for script in list(scripts):
            scripts |= await imported(script.partition("?")[0])
        pictures = {image.get("src") for image in page.all("img")}
        loads[path] = await size(path) + sum([await size(file) for file in files | scripts | pictures])
    assert {path: bytes_ for path, bytes_ in loads.items() if bytes_ > FIRST_LOAD} == {}
    assert max(loads.values()) > 5000, "nothing was counted"


def test_html_is_made_in_a_few_milliseconds():
    templates = Templates(
        StaticFiles.read(),
        now=lambda: datetime(2025, 11, 20, tzinfo=UTC),
        base_url="https://x.example",
        languages=Languages.read(),
    )

    def milliseconds(case: Any) -> float:
        spent = []
        for _ in range(5):
            begun = time.thread_time()
            templates.render(case.template, case.context)
            spent.append(1000 * (time.thread_time() - begun))
        return min(spent)

    plain = [case for case in cases() if not case.kind.endswith(("hostile", "long words"))]
    # The page of all parts is for those who make pages.
    slow = {
        (c.template, c.kind): ms
        for c in plain
        if (ms := milliseconds(c)) > CPU_MS and c.template != "about/design.html"
    }
    assert slow == {}
