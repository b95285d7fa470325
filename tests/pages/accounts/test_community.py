"""People of the site, page by page."""

import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows

KEYS = {"accounts", "pagination", "top_users", "update_feed", "total", "template", "title"}


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
    for page in (0, 3, 10**20):
        assert (await browser.page(f"/account/page/{page}")).status == 404, page


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
