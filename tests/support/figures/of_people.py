"""The figures of what people find of their own, and of the list of people."""

from __future__ import annotations

from typing import Any

from support.figures import Compared, counted, named_figures
from support.figures.lively_site import Site
from support.figures.reading import json_over_pages, number, over_pages, read

_SERIOUS = "JOIN project p ON p.id = r.project_id AND p.first_published IS NOT NULL"
_RANKS = f"""
SELECT id, name, score, rank() OVER (ORDER BY score DESC) AS rank FROM (
    SELECT a.id, a.name, (SELECT count(*) FROM task_run r {_SERIOUS} WHERE r.user_id = a.id AND a.id <> ALL (p.owners_ids)) AS score
      FROM account a WHERE NOT a."restrict") s ORDER BY score DESC, id"""
_HELPED = f"""
SELECT count(DISTINCT project_id) AS n FROM task_run r {_SERIOUS} WHERE user_id = %(user)s AND p.published AND lock_id IS NULL"""


async def of_people(site: Site) -> Compared:
    """All of them."""
    ada = site.people["ada"]
    values = {"user": ada.user_id}
    runs = await site.rows("SELECT id FROM task_run WHERE user_id = %(user)s ORDER BY id DESC", **values)
    own = await site.json("/account/ada/answers", ada)
    every = await json_over_pages(site, "/account/ada/answers", "answers", ada)
    yield "own answers", [one["id"] for one in every], [row["id"] for row in runs]
    projects = await site.rows(
        "SELECT p.id, p.short_name, count(DISTINCT t.task_id) AS n FROM project p JOIN task_ledger t ON t.project_id = p.id"
        " WHERE published AND lock_id IS NULL AND NOT retired"
        " AND n_answers > (SELECT count(*) FROM task_run r WHERE r.project_id = p.id AND r.task_id = t.task_id AND counted)"
        " AND NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = p.id AND r.task_id = t.task_id AND r.user_id = %(user)s)"
        " AND EXISTS (SELECT FROM task_run r WHERE r.project_id = p.id AND r.user_id = %(user)s) GROUP BY p.id ORDER BY p.id DESC",
        **values,
    )
    yield (
        "projects to continue",
        [one["short_name"] for one in own["projects"]],
        [row["short_name"] for row in projects],
    )
    marked = await site.rows("SELECT task_id FROM favourite WHERE user_id = %(user)s ORDER BY task_id DESC", **values)
    favourites = await site.json("/account/ada/favourites", ada)
    yield "favourites", [one["task"]["id"] for one in favourites["favourites"]], [row["task_id"] for row in marked]
    [listed] = (await site.json("/account/ada/collections", ada))["collections"]
    items = await site.rows(
        "SELECT task_id FROM collection_item WHERE collection_id = %(id)s ORDER BY id DESC", id=listed["id"]
    )
    page = await site.json(f"/account/ada/collections/{listed['id']}", ada)
    yield "collections", listed["n_tasks"], len(items)
    yield "collection", [one["task"]["id"] for one in page["tasks"]], [row["task_id"] for row in items]
    for check in (_scores, _list):
        async for compared in check(site):
            yield compared


async def _scores(site: Site) -> Compared:
    """Answers, projects helped and rank: on people's own pages, on those that others see, in the API and on the leaderboard."""
    ranked = await site.rows(_RANKS)
    of = {row["name"]: row for row in ranked}
    for name in ("ada", "eve", "shy", "owner", "helper", "quiet5"):
        row, who = of[name], site.people.get(name)
        helped = (await site.one(_HELPED, user=row["id"]))["n"]
        expected = {"answer": row["score"], "project helped": helped, **({"rank": row["rank"]} if row["score"] else {})}
        for reader in (who, None) if who else (None,):
            if name == "shy" and reader is None:
                continue
            figures = named_figures(await site.html(f"/account/{name}/", reader))
            shown = {
                words.replace("answers", "answer").replace("projects", "project"): number(n)
                for words, n in figures.items()
                if number(n) is not None
            }
            yield f"figures of {name}, read by {reader and name}", shown, expected
        if who:
            user = (await site.json(f"/account/{name}/", who))["user"]
            yield f"JSON of {name}", (user["score"], user["n_answers"]), (row["score"], row["score"])
            yield f"rank of {name}", user["rank"], row["rank"]
    order = [row for row in ranked if row["score"]]
    for name in ("helper", "shy", "ada"):
        async for compared in _around(site, name, order, of[name]):
            yield compared


async def _around(site: Site, name: str, order: list[Any], row: Any) -> Compared:
    """The leaderboard of somebody with three people around them."""
    who = site.people[name]
    page = await read(site, "/leaderboard/window/3", who)
    places = [
        (cells[0], cells[1], cells[2])
        for cells in page.cells("Those who answered most, and the people around you")
        if len(cells) == 3
    ]
    shown = order[:20]
    if row["name"] not in [one["name"] for one in shown]:
        around = sorted([*order, row], key=lambda one: (-one["score"], one["id"]))
        nth = around.index(row)
        shown = shown + [one for one in around[max(0, nth - 3) : nth + 4] if one not in shown]
    expected = [(f"{one['rank']}" if one["score"] else "–", one, f"{one['score']:,}") for one in shown]
    yield f"leaderboard of {name}", [(rank, n) for rank, _, n in places], [(rank, n) for rank, _, n in expected]
    json_ = (await site.json("/leaderboard/window/3", who))["top_users"]
    yield f"JSON of the leaderboard of {name}", [(one["rank"], one["name"], one["score"]) for one in json_], [
        (one["rank"], one["name"], one["score"]) for one in shown
    ]  # fmt: skip


async def _list(site: Site) -> Compared:
    """The list of people, on all its pages."""
    rows = sorted(await site.rows(_RANKS), key=lambda row: -row["id"])
    yield "people have several pages", len(rows) > 48, True
    pages = await over_pages(site, "/account/")
    lines = [line for page in pages for line in page.items(label="People")]
    yield "people", [counted(line, "answers?") for line in lines], [row["score"] for row in rows]
    heads = {counted(page.words, "accounts?") for page in pages}
    yield "number of people", heads, {len(rows)}
    accounts = await json_over_pages(site, "/account/", "accounts")
    yield (
        "JSON of people",
        [(one["name"], one["n_answers"]) for one in accounts],
        [(row["name"], row["score"]) for row in rows],
    )
    first, second = [await site.json(f"/account/page/{page}") for page in (1, 2)]
    numbered = [one["name"] for page in (first, second) for one in page["accounts"]]
    yield "pages of people by number", numbered, [row["name"] for row in rows[:48]]
    totals = {
        page[key] if key == "total" else page[key]["total"]
        for page in (first, second)
        for key in ("total", "pagination")
    }
    yield "JSON of the number of people", totals, {len(rows)}
