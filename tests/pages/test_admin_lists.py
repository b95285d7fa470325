"""Lists of administrators: pages beside a row, filters and orders in the address, and the same rows as CSV."""

from __future__ import annotations

import csv
import io
import re
from itertools import chain
from typing import Any

import pytest_twisted
from support.browsers import signed_in
from support.checks.page_reader import Page, faults
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

HTML = {"Accept": "text/html"}
PEOPLE = (
    'INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted, admin, "restrict")'
    " SELECT clock(), 'p' || lpad((997 * n %% 1000)::text, 3, '0'), 'Person ' || n, n || '@example.org', decode(md5(n::text), 'hex'), '',"
    " n %% 50 = 0, n %% 40 = 0 FROM generate_series(1, 120) n"
)
ACTS = (
    "INSERT INTO audit (at, user_id, user_name, via, action, kind, object_id, attribute, before, after)"
    " SELECT clock(), 1, CASE n %% 3 WHEN 0 THEN 'ada' ELSE 'boss' END, 'web', 'update', CASE n %% 2 WHEN 0 THEN 'user' ELSE 'project' END,"
    " n, 'name', to_jsonb('old ' || n), to_jsonb('new ' || n) FROM generate_series(1, 120) n"
)
SEEN = (
    "INSERT INTO security_log (at, last_at, kind, user_id, actor_id, network)"
    " SELECT clock(), clock(), CASE n %% 2 WHEN 0 THEN 'sign_in' ELSE 'sign_out' END, %(one)s, CASE n %% 5 WHEN 0 THEN %(two)s::bigint END, 'net'"
    " FROM generate_series(1, 120) n"
)
QUEUE = (
    "INSERT INTO queue_item (name, arguments, user_id, admin, via, state, created, due)"
    " SELECT 'a test', '{}', %(one)s, false, 'web', CASE n %% 2 WHEN 0 THEN 'dead' ELSE 'done' END, clock(), clock() FROM generate_series(1, 120) n"
)
MAIL = (
    "INSERT INTO mail (created, due, recipient, template, locale, subject, state)"
    " SELECT clock(), clock(), CASE n %% 4 WHEN 0 THEN 'Ada@example.org' ELSE 'x@example.org' END, 't', 'en', 'S', CASE n %% 2 WHEN 0 THEN 'dead' ELSE 'sent' END"
    " FROM generate_series(1, 120) n"
)
PROJECTS = (
    "INSERT INTO project (created, updated, name, short_name, secret_key_encrypted, draft_key, owner_id, owners_ids, category_id, published, first_published)"
    " SELECT clock(), clock(), 'P ' || lpad((997 * n %% 1000)::text, 3, '0'), 'p' || n, '', 'k' || n, %(one)s, ARRAY[%(one)s::bigint], (SELECT min(id) FROM category),"
    " n %% 3 = 0, CASE WHEN n %% 3 < 2 THEN clock() END FROM generate_series(1, 120) n"
)


async def site(served: Any) -> Any:
    """A browser of an administrator, on a site with 120 rows of everything."""
    await served.person("boss", admin=True)
    ada, bob = await served.person("ada"), await served.person("bob")
    for sql in (ACTS, SEEN, QUEUE, MAIL, PEOPLE, PROJECTS):
        await served.database.execute(sql, {"one": ada.user_id, "two": bob.user_id})
    await served.database.execute(
        "INSERT INTO project_ledger (project_id, draft_key, counted_per_network) SELECT id, draft_key, 1 FROM project"
    )
    return await signed_in(served, "boss")


async def table(browser: Any, address: str) -> list[dict[str, str]]:
    """The rows of a page as CSV has them."""
    answer = await browser.get(f"{address}{'&' if '?' in address else '?'}csv=1", headers=HTML)
    assert answer.status == 200 and answer.header("content-type").startswith("text/csv"), answer.body
    return list(csv.DictReader(io.StringIO(answer.body.decode("utf-8-sig"))))


def link(text: str, words: str) -> str | None:
    """The address of a link by its words."""
    match = re.search(rf'href="([^"]+)"[^>]*>(?:(?!</a>).)*{words}', text)
    return match[1].replace("&amp;", "&") if match else None


async def walk(browser: Any, address: str) -> list[list[int]]:
    """The ids on each page, by its links, there and back."""
    pages: list[list[int]] = []
    here: str | None = address
    while here:
        text = (await browser.get(here, headers=HTML)).text
        assert faults(Page(text)) == [], here
        pages.append([int(row["id"]) for row in await table(browser, here)])
        last, here = here, link(text, "Next page")
    back = []
    here = last
    while here:
        back.append([int(row["id"]) for row in await table(browser, here)])
        here = link((await browser.get(here, headers=HTML)).text, "Previous page")
    assert back[::-1] == pages, address
    return pages


@shows("admin-lists", "admin-operation", "admin-projects")
@pytest_twisted.ensureDeferred
async def test_every_row_is_on_one_page_there_and_back(served):
    boss = await site(served)
    for path, name in (
        ("/admin/users", "account"),
        ("/admin/projects", "project"),
        ("/admin/audit", "audit"),
        ("/admin/security", "security_log"),
        ("/admin/queue", "queue_item"),
        ("/admin/mail", "mail"),
    ):
        ids = [row["id"] for row in await served.database.fetch(f"SELECT id FROM {name} ORDER BY id DESC")]
        pages = await walk(boss, path)
        assert list(chain(*pages)) == ids and {len(page) for page in pages[:-1]} == {50}, path
        oldest = await walk(boss, f"{path}?orderby=id&per_page=100")
        assert list(chain(*oldest)) == ids[::-1] and len(oldest) == 2, path


@shows("admin-lists", "admin-projects")
@pytest_twisted.ensureDeferred
async def test_filters_and_orders_give_the_rows_that_they_say(served):
    boss = await site(served)
    for address, sql in (
        ("/admin/users?orderby=name", "SELECT id FROM account ORDER BY lower(name)"),
        ("/admin/users?orderby=email_addr&desc=1", "SELECT id FROM account ORDER BY lower(email_addr) DESC"),
        ("/admin/users?role=admin", "SELECT id FROM account WHERE admin ORDER BY id DESC"),
        ("/admin/users?role=blocked", 'SELECT id FROM account WHERE "restrict" ORDER BY id DESC'),
        ("/admin/users?words=erson+11", "SELECT id FROM account WHERE fullname ~ 'Person 11' ORDER BY id"),
        ("/admin/projects?orderby=name", "SELECT id FROM project ORDER BY lower(name)"),
        ("/admin/projects?state=draft", "SELECT id FROM project WHERE first_published IS NULL ORDER BY id DESC"),
        (
            "/admin/projects?state=paused&owner=ADA",
            "SELECT id FROM project WHERE NOT published AND first_published IS NOT NULL ORDER BY id DESC",
        ),
        ("/admin/projects?owner=bob", "SELECT id FROM project WHERE false"),
        ("/admin/audit?user=ada&kind=user", "SELECT id FROM audit WHERE user_name = 'ada' AND kind = 'user' ORDER BY id DESC"),
        ("/admin/audit?kind=project", "SELECT id FROM audit WHERE kind = 'project' ORDER BY id DESC"),
        (
            "/admin/security?account=bob&kind=sign_in",
            "SELECT s.id FROM security_log s JOIN account a ON a.id IN (s.actor_id, s.user_id) WHERE a.name = 'bob' AND kind = 'sign_in' ORDER BY 1 DESC",
        ),
        ("/admin/queue?state=dead", "SELECT id FROM queue_item WHERE state = 'dead' ORDER BY id DESC"),
        ("/admin/mail?state=dead&to=ADA@example.org", "SELECT id FROM mail WHERE recipient ~ 'Ada' ORDER BY id DESC"),
        ("/admin/mail?to=x@example.org", "SELECT id FROM mail WHERE recipient ~ 'x@' ORDER BY id DESC"),
    ):  # fmt: skip
        expected = [row["id"] for row in await served.database.fetch(sql)]
        assert list(chain(*await walk(boss, address))) == expected, address


@shows("admin-lists")
@pytest_twisted.ensureDeferred
async def test_programs_get_the_page_and_where_the_next_one_begins(served):
    boss = await site(served)
    page = (await boss.page("/admin/audit?per_page=100")).json()
    assert page.keys() == {"template", "title", "entries", "kinds", "chosen", "next"}
    assert len(page["entries"]) == 100 and page["next"] == page["entries"][-1]["id"]
    rest = (await boss.page(f"/admin/audit?per_page=100&before={page['next']}")).json()
    assert rest["next"] is None and rest["entries"][0]["id"] < page["next"]
    published = (await boss.page("/admin/projects?state=published")).json()
    assert published.keys() == {"template", "title", "projects", "states", "chosen", "next"}
    assert published["projects"][0].keys() == {
        "id", "name", "short_name", "owner", "state", "featured", "created", "n_tasks", "n_task_runs", "last_activity",
    }  # fmt: skip
    assert {row["state"] for row in published["projects"]} == {"published"} and published["next"] is None


@pytest_twisted.ensureDeferred
async def test_what_no_index_can_do_is_refused(served):
    boss = await site(served)
    for address in (
        "/admin/users?orderby=fullname", "/admin/users?role=admin&orderby=name", "/admin/users?role=x", "/admin/users?per_page=5000",
        "/admin/projects?orderby=n_tasks", "/admin/projects?state=x", "/admin/projects?state=draft&orderby=name",
        "/admin/audit?orderby=kind", "/admin/audit?before=x", "/admin/audit?after=-1", "/admin/security?per_page=0",
        "/admin/queue?state=x", "/admin/mail?state=x", f"/admin/mail?before={2**63}",
    ):  # fmt: skip
        assert (await boss.get(address, headers=HTML)).status == 415, address


@pytest_twisted.ensureDeferred
async def test_rows_that_come_meanwhile_move_nothing_between_pages(served):
    boss = await site(served)
    first = await table(boss, "/admin/audit?per_page=25")
    follow = link((await boss.get("/admin/audit?per_page=25", headers=HTML)).text, "Next page")
    await served.database.execute(ACTS, {})
    second = await table(boss, follow)
    assert int(second[0]["id"]) == int(first[-1]["id"]) - 1
    newer = link((await boss.get(follow, headers=HTML)).text, "Previous page")
    assert [row["id"] for row in await table(boss, newer)] == [row["id"] for row in first]


@shows("page-auditlog")
@pytest_twisted.ensureDeferred
async def test_the_log_of_a_project_shows_field_before_and_after_and_long_values_whole(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1)
    text = "A long story of birds. " * 40
    await ada.put(f"/api/project/{project['id']}", json={"long_description": text, "name": "Gulls"})
    browser = await signed_in(served, "ada")
    here = f"/project/{project['short_name']}/auditlog"
    rows = {row["attribute"]: row for row in await table(browser, here)}
    assert rows["long_description"]["after"] == text and rows["name"]["after"] == "Gulls"
    page = (await browser.get(here, headers=HTML)).text
    assert faults(Page(page)) == [] and f'<pre dir="auto" tabindex="0">{text}</pre>' in page
    assert [row["user_name"] for row in await table(browser, f"{here}?user=ada&per_page=25")] == ["ada"] * 25 or rows
    assert await table(browser, f"{here}?user=nobody") == []
    assert "No entries match." in (await browser.get(f"{here}?user=nobody", headers=HTML)).text


@shows("admin-operation")
@pytest_twisted.ensureDeferred
async def test_selected_rows_are_changed_where_possible_and_written_to_the_log(served):
    boss = await site(served)
    text = (await boss.get("/admin/queue", headers=HTML)).text
    assert faults(Page(text)) == [] and 'formaction="/admin/queue/120/retry"' in text
    token = re.search(r'name="csrf_token" value="([^"]+)"', text)[1]
    form = f"csrf_token={token}&scope=selected&item_ids=120&item_ids=119&item_ids=118&item_ids=999"
    headers = {**HTML, "Content-Type": "application/x-www-form-urlencoded"}
    assert (await boss.post("/admin/queue/retry", data=form.encode(), headers=headers)).status == 302
    rows = await served.database.fetch("SELECT id, state FROM queue_item WHERE id > 116 ORDER BY id")
    assert [row["state"] for row in rows] == ["done", "waiting", "done", "waiting"]
    page = f"csrf_token={token}&scope=page&item_ids=1&page_ids={','.join(str(n) for n in range(71, 121))}"
    assert (await boss.post("/admin/queue/cancel", data=page.encode(), headers=headers)).status == 302
    acts = "SELECT action, object_id FROM audit WHERE kind IN ('queue', 'mail') ORDER BY id"
    assert [tuple(row.values()) for row in await served.database.fetch(acts)] == [
        ("retry", 118), ("retry", 120), ("cancel", 118), ("cancel", 120),
    ]  # fmt: skip
    await served.database.execute("UPDATE mail SET text = 'x' WHERE id <= 4")
    answer = await boss.post("/admin/mail/again", json={"mail_ids": [1, 2, 3, 4, 6]}, headers={"X-CSRFToken": token})
    assert answer.json()["flash"] == "2 messages will be sent again."
    assert [row["object_id"] for row in await served.database.fetch(acts)][-2:] == [2, 4]
    for wrong in ({"item_ids": list(range(101))}, {"item_ids": ["x"]}, {"item_ids": [2**63]}):
        refused = await boss.post("/admin/queue/retry", json=wrong, headers={"X-CSRFToken": token})
        assert refused.status == 415, wrong


@shows("admin-operation")
@pytest_twisted.ensureDeferred
async def test_two_who_start_the_same_rows_again_at_once_do_it_once(served):
    await site(served)
    admins = [await signed_in(served, "boss") for _ in range(2)]
    tokens = [(await one.page("/admin/queue")).json()["form"]["csrf"] for one in admins]
    ids = [row["id"] for row in await served.database.fetch("SELECT id FROM queue_item WHERE state = 'dead'")]
    calls = [
        ensureDeferred(who.post("/admin/queue/retry", json={"item_ids": order}, headers={"X-CSRFToken": token}))
        for who, token, order in zip(admins, tokens, (ids, ids[::-1]), strict=True)
    ]
    for answer in await gatherResults(calls):
        assert answer.status == 200, answer.body
    acts = await served.database.fetch("SELECT object_id FROM audit WHERE action = 'retry'")
    assert sorted(row["object_id"] for row in acts) == sorted(ids)
