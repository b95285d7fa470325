"""What a page costs: statements, and bytes over the wire at the first visit. Its CPU: bench/budgets/pages.py."""

from __future__ import annotations

import gzip
import re
from typing import Any

import attrs
import pytest
import pytest_twisted
from matrix import example_site as matrix
from support.addresses import BESIDE, filled, pages, statements
from support.browsers import signed_in
from support.checks.page_reader import Page
from support.checks.proofs import examples
from support.first_encryption import encrypted_at_first

from crowdd.database.connection import Connection

HTML = {"Accept": "text/html"}
FIRST_LOAD = 100_000  # bytes, compressed, with style and scripts and what these import
# Statements of each page, at most, for a visitor, the owner of the project or account, and an administrator; one of those who sign
# in finds the session. None: they do not get it. A page that does not stand here may take MOST of them.
MAXIMUM = 9
STATEMENTS: dict[str, tuple[int | None, int | None, int | None]] = {
    "/": (8, 9, 10),
    "/about": (0, 1, 1),
    "/account/": (4, 6, 6),
    "/account/<name>/": (4, 5, 5),
    "/account/<name>/answers": (None, 7, None),
    "/account/<name>/news": (None, 8, None),
    "/account/<name>/favourites": (None, 6, None),
    "/account/<name>/contributions": (None, 7, None),
    "/certificate/<certificate_key>": (1, 2, 2),
    "/account/<name>/authenticator": (None, 10, None),
    "/account/<name>/claim": (None, 4, None),
    "/account/<name>/collections": (None, 4, None),
    "/account/<name>/collections/<int:collection_id>": (2, 3, 3),
    "/account/<name>/collections/add": (None, None, None),
    "/account/<name>/groups": (None, 5, None),
    "/account/<name>/groups/<int:group_id>": (None, 5, None),
    "/account/<name>/groups/<int:group_id>/board": (None, 5, None),
    "/account/<name>/delete": (None, 4, 4),
    "/account/<name>/export": (None, 4, None),
    "/account/<name>/projects": (None, 4, 4),
    "/account/<name>/resetapikey": (None, 3, 3),
    "/account/<name>/sessions": (None, 4, None),
    "/account/<name>/update": (None, 5, 4),
    "/account/forgot-password": (0, 1, 1),
    "/account/newsletter": (None, 2, 2),
    "/account/page/<int:page>": (4, 6, 6),
    "/account/profile": (None, 4, 4),
    "/account/register": (2, None, None),
    "/account/signin": (0, None, None),
    "/app/": (0, 1, 1),
    "/admin/announcement": (None, None, 2),
    "/admin/announcement/<int:announcement_id>/update": (None, None, 2),
    "/admin/announcement/new": (None, None, 1),
    "/admin/audit": (None, None, 3),
    "/admin/security": (None, None, 2),
    "/admin/categories": (None, None, 2),
    "/admin/categories/del/<int:category_id>": (None, None, 2),
    "/admin/categories/update/<int:category_id>": (None, None, 2),
    "/admin/dashboard/": (None, None, 3),
    "/admin/featured": (None, None, 3),
    "/admin/jobs": (None, None, 2),
    "/admin/mail": (None, None, 2),
    "/admin/projects": (None, None, 2),
    "/admin/queue": (None, None, 2),
    "/admin/site": (None, None, 3),
    "/admin/templates": (None, None, 3),
    "/admin/site/invitations": (None, None, 3),
    "/admin/site/look": (None, None, 2),
    "/admin/site/rules": (None, None, 2),
    "/admin/site/texts/<language>": (None, None, 2),
    "/admin/users": (None, None, 2),
    "/admin/webhooks": (None, None, 2),
    "/announcements/": (1, 2, 2),
    "/unsubscribe": (None, None, None),
    "/api/docs": (0, 1, 1),
    "/help/": (0, 1, 1),
    "/help/cookies-policy": (0, 1, 1),
    "/help/license": (0, 1, 1),
    "/help/privacy": (0, 1, 1),
    "/help/terms-of-use": (0, 1, 1),
    "/group": (None, None, None),
    "/join": (0, 1, 1),
    "/join/<code>": (0, 1, 1),
    "/leaderboard/": (1, 3, 3),
    "/leaderboard/time": (1, 2, 2),
    "/leaderboard/week": (1, 2, 2),
    "/leaderboard/window/<int:window>": (1, 3, 3),
    "/project/<short_name>/": (5, 7, 7),
    "/project/<short_name>/<int:post_id>": (3, 4, 4),
    "/project/<short_name>/<int:post_id>/letter": (None, 5, 5),
    "/project/<short_name>/<int:post_id>/update": (None, 5, 5),
    "/project/<short_name>/adaptive": (None, 5, 5),
    "/project/<short_name>/analyses": (None, 6, 6),
    "/project/<short_name>/analyses/<int:analysis_id>": (None, 6, 6),
    "/project/<short_name>/analyses/<int:analysis_id>/volunteers": (None, 6, 6),
    "/project/<short_name>/auditlog": (None, 4, 4),
    "/project/<short_name>/blog": (3, 4, 4),
    "/project/<short_name>/coowners": (None, 5, 5),
    "/project/<short_name>/data": (2, 3, 3),
    "/project/<short_name>/delete": (None, 3, 3),
    "/project/<short_name>/new-blogpost": (None, 4, 4),
    "/project/<short_name>/fieldguide": (4, 5, 5),
    "/project/<short_name>/fieldguide/edit": (None, 4, 4),
    "/project/<short_name>/newtask": (3, 5, 5),
    "/project/<short_name>/next": (None, 7, 7),
    "/project/<short_name>/password": (0, 1, 1),
    "/project/<short_name>/pictures": (None, 4, 4),
    "/project/<short_name>/publish": (None, 6, 6),
    "/project/<short_name>/queue": (None, 4, 4),
    "/project/<short_name>/results": (6, 8, 8),
    "/project/<short_name>/review": (None, 6, 6),
    "/project/<short_name>/review/<int:task_id>": (None, None, None),
    "/project/<short_name>/languages": (None, 6, 6),
    "/project/<short_name>/languages/<language>": (None, 5, 5),
    "/project/<short_name>/reviewers": (None, 5, 5),
    "/project/<short_name>/rules": (None, 7, 7),
    "/project/<short_name>/settings": (None, 6, 6),
    "/project/<short_name>/volunteers": (None, 10, 10),
    "/project/<short_name>/share": (None, 3, 3),
    "/project/<short_name>/share/poster": (None, 3, 3),
    "/project/<short_name>/snapshots": (4, 5, 5),
    "/project/<short_name>/snapshots/<hash_>": (5, 6, 6),
    "/project/<short_name>/snapshots/<hash_>/deposit": (None, 7, 7),
    "/project/<short_name>/snapshots/<hash_>/difference": (5, 6, 6),
    "/project/<short_name>/leaderboard": (3, 4, 4),
    "/project/<short_name>/leaderboard/week": (3, 4, 4),
    "/project/<short_name>/stats": (5, 6, 6),
    "/project/<short_name>/task/<int:task_id>": (4, 6, 6),
    "/project/<short_name>/tasks/": (2, 3, 3),
    "/project/<short_name>/tasks/<int:task_id>": (8, 11, 11),
    "/project/<short_name>/tasks/<int:task_id>/answers/delete": (None, None, None),
    "/project/<short_name>/tasks/<int:task_id>/answers/aside": (None, None, None),
    "/project/<short_name>/tasks/<int:task_id>/answers/bar": (None, None, None),
    "/project/<short_name>/tasks/browse": (5, 6, 6),
    "/project/<short_name>/tasks/browse/<int:page>": (5, 6, 6),
    "/project/<short_name>/tasks/delete": (None, 3, 3),
    "/project/<short_name>/tasks/export": (3, 4, 4),
    "/project/<short_name>/tasks/import": (None, 7, 7),
    "/project/<short_name>/tasks/import/<int:import_id>": (None, 4, 4),
    "/project/<short_name>/tasks/media": (None, 5, 5),
    "/project/<short_name>/tasks/media/<int:batch_id>": (None, 9, 9),
    "/project/<short_name>/tasks/priority": (None, 3, 3),
    "/project/<short_name>/tasks/redundancy": (None, 4, 4),
    "/project/<short_name>/tasks/reopen": (None, 3, 3),
    "/project/<short_name>/tasks/retire": (None, 3, 3),
    "/project/<short_name>/tasks/columns": (None, 6, 6),
    "/project/<short_name>/tasks/scheduler": (None, 3, 3),
    "/project/<short_name>/tasks/taskpresentereditor": (None, 4, 4),
    "/project/<short_name>/tasks/withdraw": (None, 3, 3),
    "/project/<short_name>/template": (None, 3, 3),
    "/project/<short_name>/transferownership": (None, 3, 3),
    "/project/<short_name>/translators": (None, 5, 5),
    "/project/<short_name>/tutorial": (3, 5, 5),
    "/project/<short_name>/tutorial/edit": (None, 5, 5),
    "/project/<short_name>/update": (None, 5, 5),
    "/project/<short_name>/webhook": (None, 6, 6),
    "/project/<short_name>/webhook/<int:delivery_id>": (None, 5, 5),
    "/project/category/<category>/": (2, 3, 3),
    "/project/category/<category>/page/<int:page>/": (2, 3, 3),
    "/project/new": (None, 3, 3),
    "/project/page/<int:page>": (2, 3, 3),
    "/project/search": (2, 3, 3),
    "/stats/": (2, 3, 3),
    "/templates": (2, 3, 3),
    "/templates/<template>": (1, 2, 2),
}  # fmt: skip
NEW = (MAXIMUM, MAXIMUM, MAXIMUM)
WHO = ("anonymous", "owner", "admin")
# Pages that people see first and most often, and one of each family: of forms, lists, figures and administrators.
VISITED = [
    "/", "/account/signin", "/project/<short_name>/", "/project/<short_name>/newtask", "/project/<short_name>/task/<int:task_id>",
    "/project/<short_name>/tasks/browse", "/project/<short_name>/stats", "/project/<short_name>/update", "/admin/users",
]  # fmt: skip


@attrs.frozen
class Site:
    """A site with rows of every kind, those who look at it, and the addresses of its pages by their routes."""

    people: dict[str, Any]
    addresses: dict[str, str]


async def built(served: Any) -> Site:
    """The address of a page is the first there is."""
    await matrix.build(served)
    await served.database.execute(
        BESIDE, {"encrypted": encrypted_at_first(served.house.base.secrets, "whsec_c2VjcmV0")}
    )
    paths = pages(served.routes)
    stand_for = {
        name: [row["v"] for row in await served.database.fetch(sql)] for name, sql in statements(paths).items()
    }
    people = {"anonymous": served.client(), **{name: await signed_in(served, name) for name in WHO[1:]}}
    return Site(people, {path: next(filled(path, stand_for)) for path in paths})


async def got(browser: Any, address: str) -> str | None:
    """The page, if this one gets it."""
    answer = await browser.get(address, headers=HTML)
    shown = answer.status == 200 and (answer.header("content-type") or "").startswith("text/html")
    return answer.text if shown else None


class Files:
    """What pages load beside themselves; each file is asked for once."""

    def __init__(self, served: Any) -> None:
        self._served = served
        self._sizes: dict[str, int] = {}
        self._imports: dict[str, set[str]] = {}

    async def size(self, path: str) -> int:
        """Bytes over the wire; 0 for what is not found."""
        if path not in self._sizes:
            answer = await self._served.bare(path, "gzip")
            self._sizes[path] = len(answer.body) if answer.status == 200 else 0
        return self._sizes[path]

    async def imported(self, script: str) -> set[str]:
        """The scripts that one imports."""
        if script not in self._imports:
            text = (await self._served.bare(script, "identity")).body.decode()
            here = script.rpartition("/")[0]
            self._imports[script] = {f"{here}/{name}" for name in re.findall(r'from "\./([\w/.]+)"', text)}
        return self._imports[script]

    async def load(self, text: str) -> int:
        """Bytes of a page and all that it loads."""
        page = Page(text)
        files = {link.get("href") for link in page.all("link") if link.get("rel") in ("stylesheet", "icon")}
        scripts = {script.get("src") for script in page.all("script")}
        for script in list(scripts):
            scripts |= await self.imported(script.partition("?")[0])
        pictures = {image.get("src") for image in page.all("img")}
        whole = len(gzip.compress(text.encode(), 4, mtime=0))
        return whole + sum([await self.size(file) for file in files | scripts | pictures])


@examples("most visited")
@pytest.mark.parametrize("chosen", [VISITED, None], ids=["most visited", "every page"])
@pytest_twisted.ensureDeferred
async def test_a_page_takes_few_statements_and_a_first_visit_loads_little(served, monkeypatch, chosen):
    made: list[str] = []
    run = Connection.run
    monkeypatch.setattr(
        Connection, "run", lambda self, sql, *more, **named: (made.append(str(sql)), run(self, sql, *more, **named))[1]
    )

    async def minimum(browser: Any, address: str, stated: int | None) -> tuple[int | None, str]:
        """The fewest of some tries, for jobs of the server run meanwhile; and the page."""
        counts: list[int] = []
        while len(counts) < 12 and (not counts or min(counts) > (MAXIMUM if stated is None else stated)):
            made.clear()
            text = await got(browser, address)
            if text is None:
                return None, ""
            counts.append(len(made))
        return min(counts), text

    site, files = await built(served), Files(served)
    addresses = {path: site.addresses[path] for path in chosen or site.addresses}
    page_counts: dict[str, list[int | None]] = {path: [] for path in addresses}
    loads: dict[tuple[str, str], int] = {}
    for path, address in addresses.items():
        for who, stated in zip(WHO, STATEMENTS.get(path, NEW), strict=True):
            number, text = await minimum(site.people[who], address, stated)
            page_counts[path].append(number)
            if number is not None:
                loads[path, who] = await files.load(text)
    more = {
        path: counts
        for path, counts in page_counts.items()
        if any(
            n is not None and n > (MAXIMUM if maximum is None else maximum)
            for n, maximum in zip(counts, STATEMENTS.get(path, NEW), strict=True)
        )
    }
    assert more == {}
    entered = [
        path
        for path in chosen or STATEMENTS
        if [n is None for n in page_counts[path]] != [n is None for n in STATEMENTS[path]]
    ]
    assert entered == [], "who gets these pages is not what the table says"
    assert {where: bytes_ for where, bytes_ in loads.items() if bytes_ > FIRST_LOAD} == {}
    assert len(loads) > (len(chosen) if chosen else 60) and min(loads.values()) > 5000, "nothing was counted"
