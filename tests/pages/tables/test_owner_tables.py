"""The tables of volunteers, background tasks and deliveries: what their addresses say, the same as CSV, and what they cost."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest_twisted
from support.checks.shows import shows

HTML = {"Accept": "text/html"}


def rows_of(answer: Any) -> list[dict[str, str]]:
    assert answer.header("content-type") == "text/csv; charset=utf-8", answer.text
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


async def filled(served: Any, n: int = 60) -> tuple[Any, Any]:
    """An owner and a stranger; ``n`` browsers and as many accounts have 1 to ``n`` answers, two browsers and no fold yet."""
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=2, published=True, n_answers=1000)
    folded = "SELECT %(p)s, kind || n, n FROM generate_series(1, %(n)s) n, (VALUES ('u:9999'), ('c:a')) k(kind)"
    await served.database.execute(
        f"INSERT INTO volunteer (project_id, actor, runs) {folded}", {"p": project["id"], "n": n}
    )
    await served.database.execute(
        "INSERT INTO volunteer_word (project_id, actor, word) SELECT project_id, actor, md5(actor) FROM volunteer"
    )
    await served.database.execute(
        "UPDATE project_stat SET people_anonymous = %(n)s, people_authenticated = %(n)s WHERE project_id = %(p)s",
        {"p": project["id"], "n": n},
    )
    for _ in range(2):
        task = (await stranger.get(f"/api/project/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": 1}
        assert (await stranger.post("/api/taskrun", json=body)).status == 200
    return owner, stranger


@shows("page-volunteers")
@pytest_twisted.ensureDeferred
async def test_volunteers_are_a_table_with_filter_order_and_pages(served):
    owner, stranger = await filled(served)
    at = "/project/birds/volunteers"

    async def answers(query: str) -> list[int]:
        page = await owner.page(f"{at}?{query}")
        assert page.status == 200, page.text
        return [one["answers"] for one in page.json()["volunteers"]]

    every = sorted([*range(1, 61), *range(1, 61), 2], reverse=True)
    assert await answers("") == every[:50] and await answers("page=3") == every[100:]
    assert await answers("orderby=answers&per_page=100") == every[::-1][:100]
    assert await answers("orderby=answers&desc=1&per_page=25&page=2") == every[25:50]
    for kind, own in (("account", [*range(1, 61), 2]), ("other", [*range(1, 61)])):
        page = (await owner.page(f"{at}?kind={kind}&per_page=100")).json()
        assert [one["answers"] for one in page["volunteers"]] == sorted(own, reverse=True), kind
        assert {one["sort"] == "account" for one in page["volunteers"]} == {kind == "account"}
        assert page["pagination"]["total"] == len(own), kind
    for wrong in ("kind=robot", "orderby=name", "per_page=30", "page=100000", "desc=x&orderby=answers"):
        assert (await owner.page(f"{at}?{wrong}")).status == 415, wrong
    file = rows_of(await owner.get(f"{at}?csv=1&per_page=25&kind=other", headers=HTML))
    assert [int(row["answers"]) for row in file] == [*range(60, 35, -1)] and file[0]["sort"] == "anonymous"
    for path in (at, f"{at}?csv=1"):
        assert (await stranger.get(path, headers=HTML)).status == 403
    shown = (await owner.get(f"{at}?kind=account&per_page=25", headers=HTML)).text
    assert 'aria-sort="descending"' in shown and "per_page=25" in shown and 'rel="next"' in shown


@shows("page-volunteers-place")
@pytest_twisted.ensureDeferred
async def test_pages_of_volunteers_begin_at_a_volunteer(served):
    """Each number of answers is that of two volunteers, one of each sort, so that pages begin amid equal ones."""
    owner, _ = await filled(served)
    at = "/project/birds/volunteers"

    async def walked(query: str, way: str) -> list[list[str]]:
        pages, place = [], ""
        while True:
            page = (await owner.page(f"{at}?{query}{place}")).json()
            pages.append([one["volunteer"] for one in page["volunteers"]])
            assert page["pagination"]["prev"] is (len(pages) > 1) and page["pagination"]["next"] is (
                page["next"] is not None
            )
            if page["next"] is None:
                return pages
            place = f"&{way}={page['next']}"

    rows = await served.database.fetch(
        "SELECT word, actor, (SELECT runs FROM volunteer v WHERE v.actor = w.actor) + (SELECT count(*) FROM task_run r WHERE r.actor = w.actor) AS n"
        " FROM volunteer_word w UNION ALL SELECT NULL, NULL, NULL WHERE false"
    )
    rows = [{**row, "n": row["n"] if row["n"] is not None else 2} for row in rows]
    for kind, chosen in (("", rows), ("account", [row for row in rows if row["actor"].startswith("u:")])):
        words = [row["word"] for row in sorted(chosen, key=lambda row: (-row["n"], row["actor"]))]
        down = await walked(f"kind={kind}&per_page=25", "before")
        assert [word for page in down for word in page] == words, kind
        up = await walked(f"kind={kind}&per_page=25&orderby=answers", "after")
        assert [word for page in up for word in page] == words[::-1], kind
        for nth, page in enumerate(down[:-1]):
            back = (await owner.page(f"{at}?kind={kind}&per_page=25&after={down[nth + 1][0]}")).json()
            assert [one["volunteer"] for one in back["volunteers"]] == page
            number = (await owner.page(f"{at}?kind={kind}&per_page=25&page={nth + 1}")).json()
            assert [one["volunteer"] for one in number["volunteers"]] == page and number["pagination"][
                "page"
            ] == nth + 1
    assert (await owner.page(f"{at}?before=nobody")).json()["volunteers"] == []
    assert (await owner.page(f"{at}?page=9")).json()["volunteers"] == []


@shows("page-queue")
@pytest_twisted.ensureDeferred
async def test_background_tasks_are_a_table_with_filter_order_and_pages(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=1, published=True)
    await served.project(stranger, "fish", tasks=1)
    served.server._worker._size = 0
    await served.database.execute(
        "INSERT INTO queue_item (name, arguments, admin, via, user_id, project_id, state, created, due, ended)"
        " SELECT 'import_tasks', '{}', false, 'web', p.owner_id, p.id, CASE WHEN mod(n, 3) = 0 THEN 'dead' ELSE 'done' END, clock(), clock(), clock()"
        " FROM project p, generate_series(1, 60) n"
    )
    at = "/project/birds/queue"
    page = (await owner.page(at)).json()
    ids = [item["id"] for item in page["items"]]
    assert (
        len(ids) == 20 and page["next"] == ids[-1] and {item["project_id"] for item in page["items"]} == {project["id"]}
    )
    older = (await owner.page(f"{at}?before={ids[-1]}")).json()["items"]
    assert max(item["id"] for item in older) < ids[-1]
    dead = (await owner.page(f"{at}?state=dead&per_page=100")).json()
    assert len(dead["items"]) == 20 and dead["next"] is None and dead["chosen"] == {"state": "dead"}
    rising = (await owner.page(f"{at}?orderby=id&per_page=100")).json()["items"]
    assert [item["id"] for item in rising] == sorted(item["id"] for item in rising) and len(rising) == 60
    assert len(rows_of(await owner.get(f"{at}?csv=1&state=done", headers=HTML))) == 25
    shown = (await owner.get(f"{at}?per_page=50", headers=HTML)).text
    assert shown.count("<tr data-row=") == 50 and "before=" in shown
    for wrong in ("state=lost", "orderby=name", "per_page=7", "before=x"):
        assert (await owner.page(f"{at}?{wrong}")).status == 415, wrong
    assert (await stranger.get(f"{at}?csv=1", headers=HTML)).status == 403


@shows("page-webhook")
@pytest_twisted.ensureDeferred
async def test_deliveries_are_a_table_with_filter_order_and_pages(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=1, published=True)
    await served.database.execute(
        "INSERT INTO delivery (project_id, kind, created, state, next_at, finished)"
        " SELECT %(p)s, 'ping', clock(), CASE WHEN n %% 2 = 0 THEN 'failed' ELSE 'delivered' END, clock(), clock()"
        " FROM generate_series(1, 60) n",
        {"p": project["id"]},
    )
    at = "/project/birds/webhook"
    page = (await owner.page(at)).json()
    ids = [one["id"] for one in page["deliveries"]]
    assert len(ids) == 20 and ids == sorted(ids, reverse=True) and page["next"] == ids[-1]
    failed = (await owner.page(f"{at}?state=failed&per_page=25&orderby=id")).json()
    assert len(failed["deliveries"]) == 25 and {one["state"] for one in failed["deliveries"]} == {"failed"}
    assert failed["deliveries"][0]["id"] < failed["deliveries"][-1]["id"]
    assert len(rows_of(await owner.get(f"{at}?csv=1&per_page=50", headers=HTML))) == 50
    shown = (await owner.get(f"{at}?before={ids[-1]}", headers=HTML)).text
    assert "data-rows" in shown and "after=" in shown
    assert (await owner.page(f"{at}?per_page=7")).status == 415
    assert (await stranger.get(f"{at}?csv=1", headers=HTML)).status == 403
