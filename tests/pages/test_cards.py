"""The card of a project for pages of other sites: what it shows, to whom, and that nothing else can be framed."""

from __future__ import annotations

import pytest_twisted
from support.browsers import lock, signed_in
from support.checks.shows import shows

CARD = "/project/birds/embed"
FOREIGN = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}


@shows("page-embed")
@pytest_twisted.ensureDeferred
async def test_a_page_of_another_site_may_show_the_card_and_nothing_else(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, n_answers=1)
    await owner.post(
        "/api/taskrun", json={"project_id": project["id"], "task_id": (await owner.get(f"/api/{project['id']}/newtask")).json()["id"], "info": 1}
    )  # fmt: skip
    card = await served.client().get(CARD, headers=FOREIGN)
    assert card.status == 200 and card.header("x-frame-options") is None and card.header("set-cookie") is None
    policy = card.header("content-security-policy")
    assert "frame-ancestors *" in policy and "script-src" not in policy and "default-src 'none'" in policy
    assert "<script" not in card.text and "<form" not in card.text
    assert "50\u00a0% of the answers needed" in card.text
    assert f'href="{served.house.base.settings.base_url}/project/birds/" target="_blank" rel="noopener"' in card.text
    for path in ("/project/birds/", "/project/birds/newtask", "/project/birds/results", "/project/birds/embed/x", "/"):
        other = await served.client().get(path, headers=FOREIGN)
        assert "frame-ancestors *" not in str(other.header("content-security-policy")), path
        assert "Birds" not in other.text, path


@shows("page-embed")
@pytest_twisted.ensureDeferred
async def test_it_is_in_the_language_of_the_page_around_it(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=1, published=True)
    german = (await served.client().get(f"{CARD}?language=de", headers=FOREIGN)).text
    assert '<html lang="de"' in german and "Mitmachen" in german
    arabic = await served.client().get(CARD, headers=FOREIGN | {"Accept-Language": "ar"})
    assert '<html lang="ar" dir="rtl"' in arabic.text and "Accept-Language" in arabic.header("vary")
    assert '<html lang="en"' in (await served.client().get(f"{CARD}?language=xx", headers=FOREIGN)).text


@shows("page-embed")
@pytest_twisted.ensureDeferred
async def test_what_strangers_may_not_see_is_on_nobodys_card(served):
    await served.person("owner")
    owner = await signed_in(served, "owner")
    key = await served.person("owner2")
    await served.project(key, tasks=1)
    drafts = [await client.get(CARD, headers=FOREIGN) for client in (served.client(), owner, key)]
    assert [one.status for one in drafts] == [404] * 3 and not any("Birds" in one.text for one in drafts)
    await key.post("/project/birds/publish", json={})
    assert (await served.client().get(CARD, headers=FOREIGN)).status == 200
    await lock(served, "birds", key, "a long secret")
    locked = [await client.get(CARD, headers=FOREIGN) for client in (served.client(), key)]
    assert [one.status for one in locked] == [404] * 2 and not any("Birds" in one.text for one in locked)
    assert (await served.client().get("/project/none/embed", headers=FOREIGN)).text == locked[0].text


@pytest_twisted.ensureDeferred
async def test_what_an_owner_writes_is_only_ever_text(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    changed = await owner.put(f"/api/project/{project['id']}", json={"name": evil, "description": evil})
    assert changed.status == 200, changed.text
    card = (await served.client().get(CARD, headers=FOREIGN)).text
    assert "<script" not in card and "<img" not in card and "&lt;script&gt;" in card
