"""The first administrator comes by a link that works once."""

import pytest_twisted
from support.browsers import registration
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.accounts.feature import AccountsFeature


async def link(served):
    return f"/account/first-admin?key={await served.house[AccountsFeature].accounts.first_admin_link()}"


@shows("account-first-admin", "caller-first-admin")
@pytest_twisted.ensureDeferred
async def test_the_link_makes_an_administrator_once(served):
    address, browser = await link(served), served.client()
    assert (await browser.page(address)).json()["form"].keys() >= {"csrf", "name", "password"}
    refused = (await browser.send_form(address, registration("boss", password="x"))).json()
    assert refused["status"] == "error" and "password" in refused["form"]["errors"]
    assert (await browser.send_form(address, registration("boss"))).json()["status"] == "success"
    assert (await browser.page("/account/profile")).json()["user"]["admin"] is True
    again = await served.client().page(address)
    assert again.status == 404 and await served.house[AccountsFeature].accounts.first_admin_link() is None


@pytest_twisted.ensureDeferred
async def test_two_at_once_make_one(served):
    address = await link(served)
    browsers = [served.client() for _ in range(4)]
    tokens = [(await browser.page(address)).json()["form"]["csrf"] for browser in browsers]
    posts = [
        browser.post(address, json=registration(f"boss{n}"), headers={"X-CSRFToken": token})
        for n, (browser, token) in enumerate(zip(browsers, tokens, strict=True))
    ]
    answers = await gatherResults([ensureDeferred(post) for post in posts])
    assert sorted(answer.status for answer in answers) == [200, 404, 404, 404]
    rows = await served.database.fetch("SELECT count(*) AS n FROM account")
    assert rows[0]["n"] == 1


@shows("account-first-admin")
@pytest_twisted.ensureDeferred
async def test_a_wrong_an_old_and_a_late_link_are_nothing(served):
    old = await link(served)
    fresh = await link(served)
    for address in (old, "/account/first-admin?key=wrong", "/account/first-admin", "/account/first-admin?key=%FF"):
        assert (await served.client().page(address)).status == 404
    assert (await served.client().page(fresh)).status == 200
    await served.database.execute("UPDATE clock_shift SET ahead = '49 hours'")
    assert (await served.client().page(fresh)).status == 404


@pytest_twisted.ensureDeferred
async def test_the_link_ends_when_an_administrator_came_another_way(served):
    address = await link(served)
    await served.person("boss", admin=True)
    assert (await served.client().page(address)).status == 404
