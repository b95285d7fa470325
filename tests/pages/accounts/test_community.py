"""People of the site, page by page."""

import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows

from crowdd.features.people.profiles import MAX_PASSED

KEYS = {"accounts", "pagination", "next", "top_users", "update_feed", "total", "template", "title"}


@shows("account-page")
@pytest_twisted.ensureDeferred
async def test_people_come_by_pages_the_newest_first(served):
    await served.database.execute(
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
        " SELECT clock(), 'person' || to_char(n, 'FM00'), 'Person', n || '@example.org', n::text::bytea, '' FROM generate_series(0, 25) n ORDER BY n"
    )
    await served.database.execute("""UPDATE account SET "restrict" = true WHERE name = 'person25'""")
    browser = await newcomer(served, "reader")
    first, second = [(await browser.page(f"/account/page/{n}")).json() for n in (1, 2)]
    assert first.keys() == second.keys() == KEYS and first["total"] == 26
    assert first["pagination"] == {"page": 1, "per_page": 24, "total": 26, "prev": False, "next": True}
    assert second["pagination"] == {"page": 2, "per_page": 24, "total": 26, "prev": True, "next": False}
    names = [user["name"] for page in (first, second) for user in page["accounts"]]
    stored = await served.database.fetch('SELECT name FROM account WHERE NOT "restrict" ORDER BY id DESC')
    assert names == [row["name"] for row in stored] and names[0] == "reader"
    assert (await browser.page("/account")).json()["accounts"] == first["accounts"]
    for page in (0, 3, MAX_PASSED // 24 + 2, 10**20):
        assert (await browser.page(f"/account/page/{page}")).status == 404, page


@shows("account-page-place")
@pytest_twisted.ensureDeferred
async def test_pages_of_people_begin_at_an_account(served):
    await served.database.execute(
        'INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted, "restrict")'
        " SELECT clock(), 'person' || n, 'Person', n || '@example.org', n::text::bytea, '', n = 30 FROM generate_series(1, 60) n ORDER BY n"
    )
    stored = await served.database.fetch('SELECT id, name FROM account WHERE NOT "restrict" ORDER BY id DESC')
    ids, names = [row["id"] for row in stored], [row["name"] for row in stored]
    nobody = served.client()

    async def page(query=""):
        document = (await nobody.page(f"/account/{query}")).json()
        return [one["name"] for one in document["accounts"]], document["next"], document["pagination"]

    first, next_, _ = await page()
    assert (first, next_) == (names[:24], ids[23])
    middle, next_, pages = await page(f"?before={ids[23]}")
    assert (middle, next_) == (names[24:48], ids[47])
    assert pages == {"page": None, "per_page": 24, "total": 59, "prev": True, "next": True}
    last, next_, pages = await page(f"?before={ids[47]}")
    assert (last, next_, pages["next"]) == (names[48:], None, False)
    assert (await page(f"?after={ids[48]}"))[0] == middle
    assert (await page("?orderby=id&per_page=25"))[0] == names[::-1][:25]
    assert (await page(f"?before={ids[-1]}"))[:2] == ([], None)
    for wrong in ("before=x", "per_page=1000", "orderby=name"):
        assert (await nobody.page(f"/account/?{wrong}")).status == 415, wrong
    text = (await nobody.get("/account/page/2", headers={"Accept": "text/html"})).text
    assert f"before={ids[47]}" in text and f"after={ids[24]}" in text


@pytest_twisted.ensureDeferred
async def test_who_keeps_a_name_private_keeps_it_here_too(served):
    ada = await served.person("ada")
    (seen,) = (await served.client().page("/account/page/1")).json()["accounts"]
    assert (seen["name"], seen["fullname"], seen["created"]) == ("ada", None, None)
    assert not {"email_addr", "api_key", "id", "passwd_hash"} & seen.keys()
    await ada.put(f"/api/user/{ada.user_id}", json={"privacy_mode": False})
    (seen,) = (await served.client().page("/account/page/1")).json()["accounts"]
    assert seen["fullname"] == "Ada" and seen["created"]
    assert "Ada" in (await served.client().get("/account/page/1")).text


@pytest_twisted.ensureDeferred
async def test_a_site_without_people_has_one_empty_page(served):
    page = (await served.client().page("/account/page/1")).json()
    assert (page["accounts"], page["total"]) == ([], 0) and (await served.client().get("/account/")).status == 200
