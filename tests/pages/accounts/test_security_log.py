"""The security log: what is written, for whom, how much of it, and for how long."""

from __future__ import annotations

from collections import Counter

import orjson
import pytest
import pytest_twisted
from support.browsers import PASSWORD, newcomer, sign_in, signed_in
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults
from twisted.internet.task import Clock
from twisted.logger import LogPublisher, globalLogPublisher

from crowdd.core import log_statements as stored
from crowdd.core import security_log
from crowdd.core.secrets import Secrets
from crowdd.core.security_log import KINDS, EntryBudget, SecurityLog, Subject
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.people import personal_data_statements
from crowdd.features.people.feature import PeopleFeature
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.site.admin_pages import WORDS
from crowdd.features.site.feature import SiteFeature
from crowdd.kernel.config import Settings
from crowdd.kernel.config.server import LogSettings
from crowdd.kernel.logs import EventWriter
from crowdd.kernel.requester import Requester, network
from crowdd.sched.feature import SWEEP_SECURITY_LOG_JOB

pytestmark = pytest.mark.inside
HTML = {"Accept": "text/html"}
ALL = "SELECT * FROM security_log ORDER BY id"


async def entries(served, *kinds):
    """What the log has, of some kinds only; what was counted is written first."""
    await served.house.base.security_log.close()
    rows = await served.database.fetch(ALL)
    return [row for row in rows if not kinds or row["kind"] in kinds]


async def counts(served, *kinds):
    totals = Counter()
    for row in await entries(served, *kinds):
        totals[row["kind"]] += row["count"]
    return dict(totals)


def pseudonym(served, address="127.0.0.1"):
    return served.house.base.secrets.pseudonym(network(address))


@pytest_twisted.ensureDeferred
async def test_each_sign_in_is_counted_failed_or_not(served):
    ada = await served.person("ada")
    for _ in range(9):
        await sign_in(served.client(), "ada", "a wrong password")
    assert (await sign_in(served.client(), "ada")).json()["status"] == "success"
    rows = await entries(served, "sign_in", "sign_in_failed")
    assert [(row["kind"], row["count"]) for row in rows] == [("sign_in_failed", 9), ("sign_in", 1)]
    assert {row["user_id"] for row in rows} == {ada.user_id}
    assert {row["network"] for row in rows} == {pseudonym(served)}
    assert all(row["request_id"] and row["tried"] == "" for row in rows)


@pytest_twisted.ensureDeferred
async def test_throttled_sign_ins_are_counted(served):
    await served.person("ada")
    for _ in range(10):
        await sign_in(served.client(), "ada", "a wrong password")
    assert (await sign_in(served.client(), "ada")).status == 429
    assert await counts(served, "sign_in", "sign_in_failed", "sign_in_throttled") == {
        "sign_in_failed": 10,
        "sign_in_throttled": 1,
    }


@pytest_twisted.ensureDeferred
async def test_sign_ins_at_once_are_all_counted(served):
    await served.person("ada")
    tries = [ensureDeferred(sign_in(served.client(), "ada", "a wrong password")) for _ in range(8)]
    await gatherResults(tries)
    assert await counts(served, "sign_in_failed") == {"sign_in_failed": 8}


@pytest_twisted.ensureDeferred
async def test_what_was_typed_for_an_unknown_account_is_hashed(served):
    boss = await served.person("boss", admin=True)
    await sign_in(served.client(), "nobody", "a wrong password")
    (row,) = await entries(served, "sign_in_failed")
    assert row["user_id"] is None and row["tried"] and "nobody" not in orjson.dumps(row, default=str).decode()
    page = await served.house[SiteFeature].administration.security(
        Requester(user_id=boss.user_id, admin=True), "NOBODY@example.org"
    )
    assert [row["kind"] for row in page.rows] == ["sign_in_failed"]


@pytest_twisted.ensureDeferred
async def test_a_thousand_refusals_of_one_network_share_few_rows(served):
    await newcomer(served, "ada")
    client = served.client()
    body = {"email": "ada@example.org", "password": "x"}
    for _ in range(50):
        tries = [ensureDeferred(client.post("/account/signin", json=body)) for _ in range(20)]
        assert {answer.status for answer in await gatherResults(tries)} == {400}
    rows = await entries(served, "csrf_refused")
    assert sum(row["count"] for row in rows) == 1000 and len(rows) <= 2, "two, when an hour began meanwhile"
    assert {row["detail"] for row in rows} == {"POST /account/signin"}


def test_rows_of_a_network_and_of_a_kind_are_bounded():
    budget, hour = EntryBudget(), 7
    one = {budget.place(Subject("sign_in_failed", "1.2.3.4", tried=str(n)), hour) for n in range(500)}
    assert len(one) == security_log.MAX_ROWS_OF_NETWORK + 1
    all_of_kind = {budget.place(Subject("sign_in_failed", str(n)), hour) for n in range(5000)} | one
    assert len(all_of_kind) == security_log.MAX_ROWS_OF_KIND + 1
    assert budget.place(Subject("sign_in_failed", "4999"), hour) == Subject(
        "sign_in_failed", "", detail=security_log.MORE_NETWORKS
    )
    known = Subject("sign_in_failed", "7")
    assert budget.place(known, hour) == known, "what has a row keeps it"
    assert budget.place(Subject("admin_refused", "4999"), hour).network == "4999", "each kind has its own bound"
    assert budget.place(Subject("sign_in_failed", "4999"), hour + 1).network == "4999", "and each hour"


@pytest_twisted.ensureDeferred
async def test_refused_administrators_pages_are_counted_with_who_asked(served):
    ada = await served.person("ada")
    browser = await signed_in(served, "ada")
    assert (await browser.get("/admin/users", headers=HTML)).status == 403
    assert (await served.client().get("/admin/users/export")).status == 302
    assert (await ada.get("/admin/", headers=HTML)).status == 403
    assert (await browser.get("/admin/nothing", headers=HTML)).status == 404
    rows = await entries(served, "admin_refused")
    assert {(row["user_id"], row["detail"], row["count"]) for row in rows} == {
        (ada.user_id, "GET /admin/users", 1),
        (None, "GET /admin/users/export", 1),
        (ada.user_id, "GET /admin/", 1),
    }
    assert all(row["network"] == pseudonym(served) and row["request_id"] for row in rows)


@pytest_twisted.ensureDeferred
async def test_requests_of_other_origins_are_counted(served):
    await served.person("ada")
    browser = await signed_in(served, "ada")
    opaque = await browser.get("/api/project", headers={"Origin": "null", "User-Agent": "Frame/1"})
    foreign = await browser.post("/api/project", json={}, headers={"Origin": "https://evil.example"})
    assert (opaque.status, foreign.status) == (403, 403)
    rows = await entries(served, "origin_refused")
    assert {row["detail"] for row in rows} == {"GET (refused)", "POST /api/project"}
    assert "Frame/1" in {row["agent"] for row in rows}
    assert {row["network"] for row in rows} == {pseudonym(served)} and all(row["request_id"] for row in rows)


@pytest_twisted.ensureDeferred
async def test_a_new_device_is_told_apart_from_a_known_one(served):
    ada = await served.person("ada")
    browser = await signed_in(served, "ada")
    await browser.post("/account/signout", headers={"X-CSRFToken": await token(browser)})
    await sign_in(browser, "ada")
    totals = await counts(served, "sign_in", "sign_out", "new_device")
    assert totals == {"sign_in": 2, "sign_out": 1, "new_device": 1}
    assert {row["user_id"] for row in await entries(served, "sign_out", "new_device")} == {ada.user_id}


async def token(browser):
    return (await browser.page("/account/ada/resetapikey")).json()["form"]["csrf"]


@pytest_twisted.ensureDeferred
async def test_a_key_is_noted_once_for_each_network(serve):
    served = await serve(CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1")
    ada = await served.person("ada")
    for address in ("192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2", "192.0.2.1"):
        await ada.get("/api/project", headers={"X-Forwarded-For": address})
    rows = await entries(served, "key_new_network")
    assert Counter(row["network"] for row in rows) == Counter(
        [pseudonym(served, "192.0.2.1"), pseudonym(served, "2001:db8::1")]
    )
    assert {(row["user_id"], row["count"]) for row in rows} == {(ada.user_id, 1)}


@pytest_twisted.ensureDeferred
async def test_a_known_network_is_written_once_a_day(house, pool):
    clock, statements = Clock(), []

    class Counting:
        async def fetch(self, sql, values=None):
            statements.append(sql)
            return await pool.fetch(sql, values)

        execute = pool.execute

    made = SecurityLog(clock, Counting(), Secrets(b"\x07" * 32))
    user_id = await person(house)
    who = Requester(user_id=user_id, network="1.2.3.4")
    for _ in range(100):
        made.key_used(b"hash", who)
        await made.close()
    assert len(statements) == 1
    clock.advance(86_400)
    made.key_used(b"hash", who)
    await made.close()
    assert len(statements) == 2
    (known,) = await pool.fetch("SELECT * FROM key_network")
    assert known["last_seen"] > known["first_seen"]
    assert [row["kind"] for row in await pool.fetch(ALL) if row["kind"] == "key_new_network"] == ["key_new_network"]


@pytest_twisted.ensureDeferred
async def test_a_key_keeps_its_latest_networks(house, pool):
    user_id = await person(house)
    for part in range(3):
        uses = [(b"hash", f"10.0.{part}.{n}", user_id) for n in range(50)]
        assert len(await stored.note_key_uses(pool, uses)) == 50
        await pool.execute("UPDATE clock_shift SET ahead = ahead + interval '1 hour'")
    (row,) = await pool.fetch("SELECT count(*) AS n, min(first_seen) > '2020-01-01' AS ok FROM key_network")
    assert row["n"] == stored.MAX_KEY_NETWORKS
    assert not await stored.note_key_uses(pool, [(b"hash", "10.0.2.49", user_id)])
    assert await stored.note_key_uses(pool, [(b"hash", "10.0.0.1", user_id)]) == {(b"hash", "10.0.0.1")}
    assert not await stored.note_key_uses(pool, [(b"hash", "10.9.9.9", user_id + 1)]), "an account that has gone"


async def person(house):
    from crowdd.features.accounts.validation import Registration

    form = Registration("ada", "Ada", "ada@example.org", PASSWORD, PASSWORD)
    return await house[AccountsFeature].accounts.register(form, Requester())


@pytest_twisted.ensureDeferred
async def test_changes_of_accounts_are_rows_of_their_own(served):
    boss, ada = await served.person("boss", admin=True), await served.person("ada")
    admin, browser = await signed_in(served, "boss"), await signed_in(served, "ada")
    await browser.send_form("/account/ada/resetapikey", {})
    sent = {"X-CSRFToken": (await admin.page("/admin/announcement")).json()["csrf"]}
    for act in ("add", "del"):
        assert (await admin.post(f"/admin/users/{act}/{ada.user_id}", json={}, headers=sent)).status == 200
    for act in ("block", "unblock"):
        assert (await admin.post(f"/admin/users/{act}/{ada.user_id}", json={}, headers=sent)).status == 200
    kinds = ("key_made", "admin_made", "admin_removed", "account_blocked", "account_unblocked")
    rows = [row for row in await entries(served, *kinds) if row["user_id"] == ada.user_id]
    assert [(row["kind"], row["actor_id"]) for row in rows] == [
        ("key_made", None),
        *[(kind, boss.user_id) for kind in kinds[1:]],
    ]
    assert all(row["network"] == pseudonym(served) and row["request_id"] and row["bucket"] is None for row in rows)


@pytest_twisted.ensureDeferred
async def test_passwords_and_addresses_leave_entries(served):
    ada = await served.person("ada")
    browser = await signed_in(served, "ada")
    await served.house[SigninFeature].recovery.ask("ada@example.org", Requester())
    await served.house[SigninFeature].recovery.ask("nobody@example.org", Requester())
    row = await served.house[AccountsFeature].accounts.profile(ada.user_id)
    profile = (await browser.page("/account/ada/update")).json()["form"]
    await browser.send_form("/account/ada/update", {**profile, "email_addr": "new@example.org", "btn": "Profile"})
    await served.house[PeopleFeature].profiles.set_password(row["id"], "another password", Requester(user_id=row["id"]))
    rows = await entries(served, "reset_asked", "address_changed", "password_changed")
    assert Counter((row["kind"], row["user_id"]) for row in rows) == Counter(
        [
            ("reset_asked", ada.user_id),
            ("reset_asked", None),
            ("password_changed", ada.user_id),
            ("address_changed", ada.user_id),
        ]
    )


@pytest_twisted.ensureDeferred
async def test_what_is_rolled_back_leaves_no_entry(served):
    ada = await served.person("ada")

    async def work(tx):
        await served.house.base.security_log.note(tx, KINDS["key_made"], Requester(user_id=ada.user_id))
        raise LookupError

    with pytest.raises(LookupError):
        await served.database.transaction(work)
    assert await entries(served, "key_made") == []


@pytest_twisted.ensureDeferred
async def test_other_administrators_hear_of_a_new_one(served):
    await served.person("boss", admin=True)
    second = await (await served.person("second", admin=True)).by_session()
    ada = await served.person("ada")
    await served.database.execute("DELETE FROM mail")
    assert (await second.put(f"/api/user/{ada.user_id}", json={"admin": True})).status == 200
    letters = await served.database.fetch("SELECT recipient, template, text FROM mail ORDER BY recipient")
    assert [(row["recipient"], row["template"]) for row in letters] == [
        ("boss@example.org", "new_administrator"),
        ("second@example.org", "new_administrator"),
    ]
    assert all("second made ada an administrator of crowdd." in row["text"] for row in letters)
    await second.put(f"/api/user/{ada.user_id}", json={"admin": True})
    assert len(await served.database.fetch("SELECT FROM mail")) == 2, "nothing has changed"


@pytest_twisted.ensureDeferred
async def test_acts_in_the_audit_log_have_network_and_request(served):
    ada = await served.person("ada")
    answer = await ada.post("/api/project", json={"name": "Birds", "short_name": "birds", "description": "x"})
    (row,) = await served.database.fetch("SELECT network, request_id FROM audit WHERE kind = 'project'")
    assert row == {"network": pseudonym(served), "request_id": answer.header("x-request-id")}
    log = (await ada.page("/project/birds/auditlog")).json()["auditlog"]
    assert not {"network", "request_id"} & log[0].keys(), "owners learn nothing of each other's networks"


@shows("admin-operation")
@pytest_twisted.ensureDeferred
async def test_the_page_shows_the_log_to_administrators(served):
    await served.person("boss", admin=True)
    ada = await served.person("ada")
    await sign_in(served.client(), "ada", "a wrong password")
    boss = await signed_in(served, "boss")
    await served.house.base.security_log.close()
    page = (await boss.page("/admin/security?account=ada&kind=sign_in_failed")).json()
    assert page.keys() == {"template", "title", "entries", "kinds", "chosen", "next"}
    assert [(row["kind"], row["user_id"], row["user_name"]) for row in page["entries"]] == [
        ("sign_in_failed", ada.user_id, "ada")
    ]
    assert {*page["kinds"]} == {*KINDS} == {*WORDS}
    html = (await boss.get("/admin/security?kind=sign_in_failed", headers={"Accept": "text/html"})).text
    assert "Sign-in failed</td>" in html and "<code>sign_in_failed" not in html
    assert (await boss.page("/admin/security?before=x")).status == 415
    assert (await boss.page("/admin/security?kind=nothing")).json()["entries"] == []
    await served.database.execute(
        "INSERT INTO security_log (at, last_at, kind, network) SELECT clock(), clock(), 'sign_out', '' FROM generate_series(1, 60)"
    )
    first = (await boss.page("/admin/security?kind=sign_out")).json()
    rest = (await boss.page(f"/admin/security?kind=sign_out&before={first['next']}")).json()
    assert (len(first["entries"]), len(rest["entries"]), rest["next"]) == (50, 10, None)


@pytest_twisted.ensureDeferred
async def test_entries_go_after_their_days(house, pool):
    await pool.execute(
        "INSERT INTO security_log (at, last_at, kind, network)"
        " SELECT clock() - make_interval(days => d), clock(), 'sign_in', '' FROM unnest(ARRAY[0, 89, 91, 400]) d"
    )
    user_id = await person(house)
    await stored.note_key_uses(pool, [(b"hash", "1.2.3.4", user_id)])
    assert await SWEEP_SECURITY_LOG_JOB.work(house) == "2 removed"
    await pool.execute("UPDATE clock_shift SET ahead = ahead + interval '91 days'")
    assert await SWEEP_SECURITY_LOG_JOB.work(house) == "3 removed", "two entries and a network"


@pytest_twisted.ensureDeferred
async def test_what_waits_is_written_once_the_database_is_back(house, pool):
    from crowdd.kernel.errors import UnavailableError

    class Failing:
        away = True
        fetch = pool.fetch

        async def execute(self, sql, values=None):
            if self.away:
                raise UnavailableError("The database is away.")
            return await pool.execute(sql, values)

    database = Failing()
    made = SecurityLog(Clock(), database, Secrets(b"\x07" * 32))
    for _ in range(3):
        made.count(KINDS["sign_out"], Requester(network="1.2.3.4"))
        await made.close()
    database.away = False
    made.count(KINDS["sign_out"], Requester(network="1.2.3.4"))
    await made.close()
    (row,) = await pool.fetch(ALL)
    assert (row["kind"], row["count"]) == ("sign_out", 4)


@pytest_twisted.ensureDeferred
async def test_two_processes_add_to_the_same_rows(house, pool):
    logs = [SecurityLog(Clock(), pool, Secrets(b"\x07" * 32)) for _ in range(2)]
    for n in range(200):
        for one in logs:
            one.count(KINDS["csrf_refused"], Requester(network=f"1.2.3.{n % 10}"), detail="POST /x")
    await gatherResults([ensureDeferred(one.close()) for one in logs])
    rows = await pool.fetch("SELECT network, sum(count) AS n FROM security_log GROUP BY 1")
    assert len(rows) == 10 and {int(row["n"]) for row in rows} == {40}


@pytest_twisted.ensureDeferred
async def test_entries_are_lines_of_the_servers_log(house, tmp_path):
    lines = []

    class Output:
        write = staticmethod(lines.append)
        flush = staticmethod(lambda: None)

    journal = EventWriter(Settings(log=LogSettings(format="json")), Output())
    globalLogPublisher.addObserver(journal)
    try:
        house.base.security_log.count(KINDS["sign_in_failed"], Requester(network="1.2.3.4"), tried="a\nb", request="r1")
        await house.base.security_log.close()
    finally:
        globalLogPublisher.removeObserver(journal)
    (line,) = [orjson.loads(text) for text in lines if "security event" in text]
    assert line["request"] == "r1" and line["security"]["kind"] == "sign_in_failed"
    assert line["message"].startswith("security event: kind=sign_in_failed tried=")
    assert isinstance(globalLogPublisher, LogPublisher)


@pytest_twisted.ensureDeferred
async def test_a_deleted_account_is_named_no_more(served):
    boss, ada = await served.person("boss", admin=True), await served.person("ada")
    await served.house[SiteFeature].administration.block(ada.user_id, Requester(user_id=boss.user_id, admin=True))
    await sign_in(served.client(), "ada")
    await ada.get("/api/project")
    await entries(served)
    pool = served.database
    await pool.transaction(lambda tx: personal_data_statements.remove(tx, ada.user_id, b""))
    rows = await entries(served)
    assert ada.user_id not in {row["user_id"] for row in rows} | {row["actor_id"] for row in rows}
    assert {row["kind"] for row in rows} >= {"account_blocked", "sign_in_failed"}
    assert await pool.fetch("SELECT * FROM key_network WHERE user_id = %(id)s", {"id": ada.user_id}) == []
