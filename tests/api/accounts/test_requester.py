"""Who asks: key, session, browser, address; what a presenter's request may be; whose word on an address counts."""

import pytest_twisted
from support.browsers import newcomer, who
from support.checks.shows import shows

from crowdd.features.accounts.feature import AccountsFeature
from crowdd.kernel.requester import network


async def reads_as(client, path="/api/user/1", **headers):
    """What the caller is to the first account: its e-mail address is for itself only."""
    seen = (await client.get(path, headers=headers)).json()
    return seen.get("email_addr")


@shows("key-query")
@pytest_twisted.ensureDeferred
async def test_a_key_is_taken_from_the_query_or_the_authorization_header(served):
    ada = await served.person("ada")
    assert await reads_as(ada) == "ada@example.org"
    assert await reads_as(served.client(), Authorization=ada.key) == "ada@example.org"
    assert await reads_as(served.client()) is None
    assert await reads_as(served.client(), "/api/user/1?api_key=") is None


@shows("key-query")
@pytest_twisted.ensureDeferred
async def test_a_key_in_the_query_of_a_page_is_ignored(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1)  # a draft
    stranger, bob = served.client(), await newcomer(served, "bob")
    for path in ("/account/profile", f"/project/{project['short_name']}/settings"):
        for client in (stranger, bob):
            plain, with_key = await client.page(path), await client.page(f"{path}?api_key={ada.key}")
            assert (plain.status, plain.body) == (with_key.status, with_key.body), path
    assert (await bob.page(f"/account/profile?api_key={ada.key}")).json()["user"]["name"] == "bob"
    publish = f"/project/{project['short_name']}/publish?api_key={ada.key}"
    assert (await stranger.post(publish, json={})).status != 200
    assert (await ada.get(f"/api/project/{project['id']}")).json()["published"] is False


@shows("key-query")
@pytest_twisted.ensureDeferred
async def test_the_header_wins_over_the_query(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    assert await reads_as(bob, Authorization=ada.key) == "ada@example.org"
    assert await reads_as(ada, Authorization=bob.key) is None


@shows("key-schemes")
@pytest_twisted.ensureDeferred
async def test_headers_of_other_schemes_are_no_keys(served):
    ada = await served.person("ada")
    for header in ("Basic YTpi", "Bearer x.y.z", "Bearer"):
        expected = None if header == "Bearer" else "ada@example.org"
        assert await reads_as(ada, Authorization=header) == expected, header


@shows("key-wrong")
@pytest_twisted.ensureDeferred
async def test_a_wrong_key_is_an_anonymous_caller(served):
    await served.person("ada")
    client = served.client()
    for key in ("wrong", "x" * 500, "%C3%A9", "a%20b", "%00", "%FF"):
        assert (await client.get(f"/api/project?api_key={key}")).status == 200, key
        assert (await client.post(f"/api/project?api_key={key}", json={"name": "Birds"})).status == 401
        assert await reads_as(client, Authorization=key) is None


@shows("caller-order", "key-wrong")
@pytest_twisted.ensureDeferred
async def test_a_wrong_key_beside_a_session_is_still_anonymous(served):
    browser = await newcomer(served, "ada")
    assert await reads_as(browser) == "ada@example.org"
    assert await reads_as(browser, "/api/user/1?api_key=wrong") is None
    assert await reads_as(browser, Authorization="wrong") is None
    assert await reads_as(browser, Authorization="Basic YTpi") == "ada@example.org"


@shows("caller-order", "key-over-session")
@pytest_twisted.ensureDeferred
async def test_a_key_wins_over_a_session(served):
    browser = await newcomer(served, "ada")
    bob = await served.person("bob")
    browser.key = bob.key
    assert await reads_as(browser, "/api/user/2") == "bob@example.org"
    assert await who(browser) == "ada", "a key does not act on pages of accounts"


@shows("key-new")
@pytest_twisted.ensureDeferred
async def test_a_key_is_no_good_once_it_is_replaced(served):
    ada = await served.person("ada")
    assert (await ada.post("/account/ada/resetapikey", json={})).json()["status"] == "success"
    assert await reads_as(ada) is None
    row = await served.house[AccountsFeature].accounts.profile(ada.user_id)
    ada.key = served.house[AccountsFeature].accounts.api_key(row)
    assert await reads_as(ada) == "ada@example.org"


@shows("presenter-bridge")
@pytest_twisted.ensureDeferred
async def test_a_presenter_makes_even_its_owner_a_volunteer(served):
    owner, admin = await served.person("owner"), await served.person("boss", admin=True)
    project = await served.project(owner, tasks=1, published=True)
    for caller in (owner, admin):
        client = served.client(caller.key, **{"X-Presenter": str(project["id"])})
        seen = (await client.get(f"/api/project/{project['id']}")).json()
        assert seen["name"] == "Birds" and "secret_key" not in seen and seen["n_tasks"] is None
        assert (await client.put(f"/api/project/{project['id']}", json={"name": "Mine"})).status in (401, 403)
        assert (await client.delete(f"/api/task/{project['tasks'][0]}")).status in (401, 403)
        assert (await client.post("/api/project", json={"name": "Other"})).status in (401, 403)
        assert (await client.put(f"/api/user/{caller.user_id}", json={"fullname": "X"})).status in (401, 403, 404)
        assert "email_addr" not in (await client.get(f"/api/user/{caller.user_id}")).json()
        task = (await client.get(f"/api/{project['id']}/newtask")).json()
        run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
        stored = await client.post("/api/taskrun", json=run)
        assert stored.status == 200 and stored.json()["user_id"] == caller.user_id


@shows("presenter-bridge")
@pytest_twisted.ensureDeferred
async def test_a_presenter_reaches_its_own_project_only(served):
    owner = await served.person("owner")
    mine = await served.project(owner, tasks=1, published=True)
    other = await served.project(owner, "other", tasks=1, published=True)
    client = served.client(owner.key, **{"X-Presenter": str(mine["id"])})
    for path in (
        f"/api/{other['id']}/newtask", f"/api/project/{other['id']}", f"/api/task/{other['tasks'][0]}",
        f"/api/project/{other['id']}/userprogress",
    ):  # fmt: skip
        assert (await client.get(path)).status in (403, 404), path
    run = {"project_id": other["id"], "task_id": other["tasks"][0], "info": 1}
    assert (await client.post("/api/taskrun", json=run)).status == 403
    for kind, key in (("project", "id"), ("task", "project_id")):
        listed = (await client.get(f"/api/{kind}?all=1")).json()
        assert [row[key] for row in listed] == [mine["id"]]
        assert (await client.get(f"/api/{kind}?all=1&{key}={other['id']}")).json() == []


@shows("presenter-bridge")
@pytest_twisted.ensureDeferred
async def test_a_presenter_reaches_nothing_but_the_api(served):
    owner = await served.person("owner")
    project = await served.project(owner, published=False)
    for mark in (str(project["id"]), "x", "-1", "9" * 40):
        client = served.client(owner.key, **{"X-Presenter": mark})
        for path in ("/", "/account/profile", "/project/birds/", "/%61ccount/profile"):
            assert (await client.get(path)).status == 403, (mark, path)
    lost = served.client(owner.key, **{"X-Presenter": "nonsense"})
    assert (await lost.get(f"/api/project/{project['id']}")).status == 404
    assert (await lost.get("/api/project?all=1")).json() == []


@shows("limit-rate-proxy")
@pytest_twisted.ensureDeferred
async def test_forwarded_addresses_count_behind_trusted_proxies_only(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    for address in ("10.1.1.1", "10.1.1.2"):
        client = served.client(**{"X-Forwarded-For": address})
        assert (await client.get(f"/api/{project['id']}/newtask")).json()["id"]
    rows = await served.database.fetch("SELECT DISTINCT actor FROM lease")
    assert len(rows) == 1


@shows("limit-rate-proxy")
@pytest_twisted.ensureDeferred
async def test_the_last_address_that_is_no_proxy_is_the_client(serve):
    served = await serve(CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1 10.0.0.0/8 ::1")
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=50)
    expected = set()
    for header, client in (
        ("192.0.2.1", "192.0.2.1"), ("6.6.6.6, 192.0.2.2", "192.0.2.2"), ("6.6.6.6, 192.0.2.3, 10.1.2.3", "192.0.2.3"),
        ("192.0.2.4:443, 10.1.2.3:80", "192.0.2.4"), ("[2001:db8::1]:443", "2001:db8::1"),
        ("2001:db8::2", "2001:db8::2"), ("2001:db8:0:1::2", "2001:db8:0:1::2"),
        ("6.6.6.6, unknown, 10.1.2.4", "10.1.2.4"), ("6.6.6.6, nonsense", "127.0.0.1"), ("", "127.0.0.1"),
        ("10.9.9.9", "10.9.9.9"), ("6.6.6.6, \u00ff", "127.0.0.1"),
    ):  # fmt: skip
        await served.client(**{"X-Forwarded-For": header}).get(f"/api/{project['id']}/newtask")
        expected.add(f"i:{served.house.base.secrets.pseudonym(network(client))}")
        rows = await served.database.fetch("SELECT actor FROM lease")
        assert {row["actor"] for row in rows} == expected, header


@shows("caller-pseudonym")
@pytest_twisted.ensureDeferred
async def test_stored_addresses_are_pseudonyms_of_the_same_family(serve):
    served = await serve(CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1")
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=5)
    seen = {}
    for address in ("192.0.2.1", "192.0.2.77", "2001:db8::1", "::ffff:192.0.2.1"):
        client = served.client(**{"X-Forwarded-For": address})
        task = (await client.get(f"/api/{project['id']}/newtask")).json()
        if task:
            run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
            made = (await client.post("/api/taskrun", json=run)).json()["id"]
            seen[address] = (await owner.get(f"/api/taskrun/{made}")).json()["user_ip"]
    assert seen.keys() == {"192.0.2.1", "192.0.2.77", "2001:db8::1"} and not seen.keys() & set(seen.values())
    first, second = seen["192.0.2.1"], seen["192.0.2.77"]
    assert first != second and first.split(".")[:3] == second.split(".")[:3] and ":" in seen["2001:db8::1"]


@shows("caller-cookie")
@pytest_twisted.ensureDeferred
async def test_the_volunteer_cookie_can_be_switched_off(serve):
    served = await serve(CROWDD_VOLUNTEERS_ANONYMOUS="address")
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=2)
    browser = served.client()
    await browser.get("/about")
    assert "volunteer" not in browser.cookies
    assert (await browser.get(f"/api/{project['id']}/newtask")).json()["id"]
    assert (await served.database.fetch("SELECT actor FROM lease"))[0]["actor"].startswith("i:")


@shows("caller-cookie-budget")
@pytest_twisted.ensureDeferred
async def test_new_volunteer_cookies_are_limited_per_address(serve):
    served = await serve(CROWDD_VOLUNTEERS_COOKIES_PER_HOUR="2")
    browsers = [served.client() for _ in range(4)]
    for browser in browsers:
        await browser.get("/about")
    assert ["volunteer" in browser.cookies for browser in browsers] == [True, True, False, False]
    again = dict(browsers[0].cookies)
    await browsers[0].get("/about")
    assert browsers[0].cookies["volunteer"] == again["volunteer"]


@shows("caller-cookie")
@pytest_twisted.ensureDeferred
async def test_a_forged_volunteer_cookie_is_worth_nothing(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    browser = served.client()
    await browser.get("/about")
    good = browser.cookies["volunteer"]
    for forged in (good[:-1] + ("0" if good[-1] != "0" else "1"), "me." + good.split(".")[1], "me", "", "."):
        browser.cookies["volunteer"] = forged
        await browser.get(f"/api/{project['id']}/newtask")
        rows = await served.database.fetch("SELECT actor FROM lease")
        assert [row["actor"][:2] for row in rows] == ["i:"], forged
