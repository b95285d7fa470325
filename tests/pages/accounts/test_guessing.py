"""Guessing passwords, and what costs a hash or a letter: how much of it a network, an account and the server allow."""

from __future__ import annotations

import pytest
import pytest_twisted
from argon2 import PasswordHasher
from support.browsers import registration
from support.checks.shows import shows
from support.servers.served import PASSWORD
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults

from crowdd.features.accounts import passwords as passwords_module
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.accounts.passwords import Passwords
from crowdd.http.auth.cookies import DEVICE
from crowdd.kernel.errors import BusyError

BEHIND_PROXY = {"CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1"}
WRONG = "Incorrect e-mail or password."


def at(served, address):
    """A browser at an address, as the proxy tells it."""
    return served.client(**{"X-Forwarded-For": address})


async def try_password(browser, login="ada@example.org", password="not the password"):
    return await browser.send_form("/account/signin", {"email": login, "password": password})


async def ready_forms(browsers):
    """The token of each, so that nothing but the attempts themselves is sent at the same time."""
    return [(await browser.page("/account/signin")).json()["form"]["csrf"] for browser in browsers]


def count_checks(served, monkeypatch):
    """A list that grows with each password that is compared with a hash."""
    checked, check = [], served.house[AccountsFeature].passwords.check

    async def counted(stored, password):
        checked.append(password)
        return await check(stored, password)

    monkeypatch.setattr(served.house[AccountsFeature].passwords, "check", counted)
    return checked


@shows("limit-attempts")
@pytest_twisted.ensureDeferred
async def test_addresses_of_one_64_share_the_attempts_at_an_account(serve):
    served = await serve(**BEHIND_PROXY)
    await served.person("ada")
    answers = [await try_password(at(served, f"2001:db8:1:2::{n:x}")) for n in range(1, 51)]
    assert [answer.status for answer in answers] == [200] * 10 + [429] * 40
    assert answers[10].json()["reason"] == "too_many_attempts"
    assert 0 < int(answers[10].header("retry-after")) <= 900
    assert (await try_password(at(served, "2001:db8:1:3::1"))).json()["flash"] == WRONG


@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_of_200_wrong_passwords_at_once_at_most_10_reach_the_hash(serve, monkeypatch):
    served = await serve()
    await served.person("ada")
    checked, browser = count_checks(served, monkeypatch), served.client()
    (token,) = await ready_forms([browser])
    form, headers = {"email": "ada@example.org", "password": "wrong"}, {"X-CSRFToken": token}
    sent = [ensureDeferred(browser.post("/account/signin", json=form, headers=headers)) for _ in range(200)]
    answers = await gatherResults(sent)
    assert len(checked) == 10 and sorted({answer.status for answer in answers}) == [200, 429]
    assert sum(answer.status == 200 for answer in answers) == 10


@pytest_twisted.ensureDeferred
async def test_e_mail_and_user_name_share_the_attempts_at_an_account(served):
    await served.person("ada")
    for login in ["ada", "ADA@example.org"] * 5:
        assert (await try_password(served.client(), login)).status == 200
    assert (await try_password(served.client(), "ada")).status == 429
    assert (await try_password(served.client(), "ada@example.org", PASSWORD)).status == 429
    assert (await try_password(served.client(), "bob@example.org")).status == 200


@pytest_twisted.ensureDeferred
async def test_an_account_has_one_slow_budget_over_all_networks_and_known_devices_are_exempt(serve):
    served = await serve(**BEHIND_PROXY, CROWDD_ACCOUNTS_MAX_LOGIN_FAILURES_PER_HOUR="12")
    await served.person("ada")
    known = at(served, "192.0.2.200")
    assert (await try_password(known, password=PASSWORD)).json()["status"] == "success"
    answers = [await try_password(at(served, f"192.0.2.{n}")) for n in range(1, 15)]
    assert [answer.status for answer in answers] == [200] * 12 + [429] * 2
    assert 900 < int(answers[12].header("retry-after")) <= 3600
    assert (await try_password(at(served, "192.0.2.200"), password=PASSWORD)).status == 429
    device = at(served, "192.0.2.200")
    device.cookies[DEVICE] = known.cookies[DEVICE]
    assert (await try_password(device, password=PASSWORD)).json()["status"] == "success"
    await served.database.execute("UPDATE clock_shift SET ahead = '61 minutes'")
    assert (await try_password(at(served, "192.0.2.201"), password=PASSWORD)).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_refused_attempts_use_up_nobody_elses_budget(serve):
    """A network that is refused already must not go on to lock an account for everybody."""
    served = await serve(**BEHIND_PROXY, CROWDD_ACCOUNTS_MAX_LOGIN_FAILURES_PER_HOUR="12")
    await served.person("ada")
    for _ in range(20):
        await try_password(at(served, "192.0.2.1"))
    assert (await try_password(at(served, "192.0.2.2"), password=PASSWORD)).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_right_passwords_are_not_counted(serve):
    served = await serve()
    await served.person("ada")
    for _ in range(12):
        assert (await try_password(served.client(), password=PASSWORD)).json()["status"] == "success"


@shows("account-register-limit")
@pytest_twisted.ensureDeferred
async def test_sign_ups_of_a_network_are_limited_per_hour(serve):
    served = await serve(**BEHIND_PROXY, CROWDD_ACCOUNTS_SIGNUPS_PER_HOUR="10")

    async def sign_up(name, address):
        return await at(served, address).send_form("/account/register", registration(name))

    names = [f"person{n}" for n in range(12)]
    answers = [await sign_up(name, f"2001:db8:7:7::{n:x}") for n, name in enumerate(names, 1)]
    assert [answer.status for answer in answers] == [200] * 10 + [429] * 2
    assert (await served.database.fetch("SELECT count(*) AS n FROM account"))[0]["n"] == 10
    assert (await sign_up("elsewhere", "2001:db8:7:8::1")).json()["status"] == "success"
    await served.database.execute("UPDATE clock_shift SET ahead = '61 minutes'")
    assert (await sign_up("later", "2001:db8:7:7::1")).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_mistakes_in_the_form_use_up_no_sign_up(serve):
    served = await serve(CROWDD_ACCOUNTS_SIGNUPS_PER_HOUR="1")
    await served.person("taken")
    for changes in ({"password": "short"}, {"fullname": ""}, {"name": "taken"}):
        refused = await served.client().send_form("/account/register", {**registration("ada"), **changes})
        assert refused.json()["status"] == "error"
    assert (await served.client().send_form("/account/register", registration("ada"))).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_letters_of_registration_count_as_sign_ups_too(serve):
    served = await serve(CROWDD_ACCOUNTS_SIGNUPS_PER_HOUR="1", CROWDD_ACCOUNTS_CONFIRM_EMAIL="on")
    answers = [await served.client().send_form("/account/register", registration(name)) for name in ("ada", "bob")]
    assert [answer.status for answer in answers] == [200, 429]


@shows("limit-account-forms")
@pytest_twisted.ensureDeferred
async def test_a_network_sends_each_form_of_accounts_so_often_and_no_more(serve):
    served = await serve(**BEHIND_PROXY, CROWDD_ACCOUNTS_MAX_POSTS="3")
    post = {"path": "/account/forgot-password", "json": {"email_addr": "x"}}
    answers = [await at(served, f"2001:db8::{n:x}").post(**post) for n in range(1, 6)]
    assert [answer.status for answer in answers] == [400, 400, 400, 429, 429]  # the token is missing
    assert int(answers[3].header("retry-after")) >= 1
    assert (await at(served, "2001:db8::1").post("/account/signin", json={})).status == 400
    assert (await at(served, "2001:db8:0:1::1").post(**post)).status == 400
    assert (await at(served, "2001:db8::1").page("/account/forgot-password")).status == 200


@pytest_twisted.ensureDeferred
async def test_a_stranger_cannot_block_letters_to_somebody(serve):
    served = await serve(**BEHIND_PROXY)
    await served.person("ada")

    async def ask(address):
        return await at(served, address).send_form("/account/forgot-password", {"email_addr": "ada@example.org"})

    assert [(await ask("192.0.2.66")).status for _ in range(4)] == [200, 200, 200, 429]
    assert (await ask("192.0.2.1")).status == 200


# Passwords of projects


async def locked_project(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    body = {"btn": "Password", "protect": True, "password": "sesame"}
    assert (await owner.post("/project/birds/update", json=body)).status == 200
    return project


@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_the_right_project_password_costs_one_hash_for_many_requests(serve, monkeypatch):
    served = await serve()
    project = await locked_project(served)
    checked, path = count_checks(served, monkeypatch), f"/api/project/{project['id']}"
    program = served.client(**{"X-Project-Password": "sesame"})
    assert [(await program.get(path)).status for _ in range(5)] == [200] * 5 and checked == ["sesame"]
    wrong = served.client(**{"X-Project-Password": "wrong"})
    assert [(await wrong.get(path)).status for _ in range(21)] == [401] * 20 + [429] and len(checked) == 21
    assert (await program.get(path)).status == 200 and len(checked) == 21


@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_a_changed_project_password_ends_the_remembered_one_at_once(serve):
    served = await serve(CROWDD_ACCOUNTS_KEYS_MANAGE_PROJECTS="on")
    project = await locked_project(served)
    path, owner = f"/api/project/{project['id']}", await served.house[AccountsFeature].accounts.find("owner")
    program = served.client(**{"X-Project-Password": "sesame"})
    assert (await program.get(path)).status == 200
    row = await served.house[AccountsFeature].accounts.profile(owner["id"])
    changed = {"btn": "Password", "protect": True, "password": "another"}
    headers = {"Authorization": served.house[AccountsFeature].accounts.api_key(row)}
    assert (await served.client().post("/project/birds/update", json=changed, headers=headers)).status == 200
    assert (await program.get(path)).status == 401


@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_wrong_project_passwords_at_once_reach_the_hash_no_more_often_than_allowed(serve, monkeypatch):
    served = await serve()
    project = await locked_project(served)
    checked, program = count_checks(served, monkeypatch), served.client(**{"X-Project-Password": "wrong"})
    sent = [ensureDeferred(program.get(f"/api/project/{project['id']}")) for _ in range(60)]
    answers = await gatherResults(sent)
    assert len(checked) == 20 and sum(answer.status == 429 for answer in answers) == 40


# Hashes


class Standstill:
    """Passwords whose threads do nothing until they are told."""

    def __init__(self, monkeypatch):
        self.waiting = []
        monkeypatch.setattr(passwords_module, "deferToThreadPool", self._defer)

    def _defer(self, *_arguments):
        self.waiting.append(Deferred())
        return self.waiting[-1]


@pytest_twisted.ensureDeferred
async def test_no_more_than_50_hashes_wait(monkeypatch):
    stopped = Standstill(monkeypatch)
    passwords = Passwords(None, threads=2)
    begun = [ensureDeferred(passwords.hash("x")) for _ in range(52)]
    with pytest.raises(BusyError):
        await passwords.hash("x")
    stopped.waiting[0].callback("hash")
    assert await begun[0] == "hash"
    begun.append(ensureDeferred(passwords.hash("x")))
    with pytest.raises(BusyError):
        await passwords.check(None, "x")
    for waiting in stopped.waiting[1:]:
        waiting.callback("hash")
    await gatherResults(begun[1:])


@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_beyond_that_people_are_told_to_come_back_and_nothing_is_counted(serve, monkeypatch):
    served = await serve()
    await served.person("ada")
    busy = served.client()
    monkeypatch.setattr(served.house[AccountsFeature].passwords, "_max_unfinished", 0)
    for _ in range(11):
        refused = await try_password(busy, password=PASSWORD)
        assert (refused.status, refused.json()["reason"]) == (503, "busy") and int(refused.header("retry-after")) > 0
    monkeypatch.undo()
    assert (await try_password(busy, password=PASSWORD)).json()["status"] == "success"


@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_a_hash_with_old_parameters_is_replaced_at_the_next_sign_in(serve):
    served = await serve()
    await served.person("ada")
    old = PasswordHasher(time_cost=1, memory_cost=16, parallelism=1).hash(PASSWORD)
    await served.database.execute("UPDATE account SET passwd_hash = %(old)s", {"old": old})
    assert (await try_password(served.client())).json()["status"] == "error"
    sql = "SELECT passwd_hash FROM account"
    assert (await served.database.fetch(sql))[0]["passwd_hash"] == old
    assert (await try_password(served.client(), password=PASSWORD)).json()["status"] == "success"
    renewed = (await served.database.fetch(sql))[0]["passwd_hash"]
    assert renewed != old and not served.house[AccountsFeature].passwords.is_outdated(renewed)
    assert (await try_password(served.client(), password=PASSWORD)).json()["status"] == "success"
    assert (await served.database.fetch(sql))[0]["passwd_hash"] == renewed
