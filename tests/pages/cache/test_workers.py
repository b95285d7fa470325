"""Two processes: what one of them changes, visitors of both see with the next request; figures within a second."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.servers.served import Served
from support.until import until
from support.visitors import HTML, VisitedSite
from twisted.web.client import Agent, HTTPConnectionPool

ASKED = 12  # times, each on a connection of its own: the kernel gives them to both


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_visitors_of_both_processes_see_what_was_changed(serve, monkeypatch):
    monkeypatch.setenv("CROWDD_DAEMON_WORKERS", "2")
    served = await serve(CROWDD_DAEMON_WORKERS="2", CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1")
    site = await VisitedSite(served).renew()

    async def everywhere(path: str) -> list[Any]:
        """A page as visitors of both processes get it."""
        return [await _alone(served, site, path) for _ in range(ASKED)]

    for words in ("Feathers", "Wings", "Nests"):
        assert {page.status for page in await everywhere("/project/{p}/")} == {200}
        assert (await site.owner.put(f"/api/project/{site.project['id']}", json={"name": words})).status == 200
        for path in ("/project/{p}/", "/"):
            assert all(words in page.text for page in await everywhere(path)), (path, words)
    await site.sql(
        "UPDATE project SET lock_id = 'x', passwd_hash = 'x' WHERE id = %(id)s RETURNING 1", id=site.project["id"]
    )
    assert {page.status for page in await everywhere("/project/{p}/")} == {302}
    await site.sql(
        "UPDATE project SET lock_id = NULL, passwd_hash = NULL WHERE id = %(id)s RETURNING 1", id=site.project["id"]
    )
    await until(lambda: _one_page(everywhere), 10)  # what the changes above have still to do in the background, is done
    for _ in range(2):
        await site.answer(site.ada if _ else await served.person("bob"))
    await until(lambda: _figures(everywhere), 10)


async def _one_page(everywhere: Any) -> bool:
    """Whether both processes give the same page."""
    pages = await everywhere("/project/{p}/")
    assert {page.status for page in pages} == {200}
    return len({page.header("etag") for page in pages}) == 1


async def _figures(everywhere: Any) -> bool:
    return all(
        'data-figure="n_task_runs">3<' in page.text or ">3<" in page.text for page in await everywhere("/project/{p}/")
    )


async def _alone(served: Served, site: VisitedSite, path: str) -> Any:
    """A page over a new connection."""
    from twisted.internet import reactor

    pool = HTTPConnectionPool(reactor, persistent=False)
    visitor = site.visitor()
    visitor._agent = Agent(reactor, pool=pool)
    return await visitor.get(site.at(path), headers=HTML)
