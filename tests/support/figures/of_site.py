"""The figures of the site: home, statistics, lists of projects, and what administrators see."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from support.factors import prove
from support.figures import Compared, counted, named_figures, plain
from support.figures.lively_site import SMALL, Site

_SERIOUS = "task_run r JOIN project p ON p.id = r.project_id AND p.first_published IS NOT NULL"
_PEOPLE = f"""
SELECT count(*) AS answers, count(DISTINCT user_id) FILTER (WHERE user_id <> ALL (p.owners_ids)) AS helpers, count(DISTINCT user_id) AS users, count(DISTINCT actor) FILTER (WHERE actor NOT LIKE 'u:%%') AS browsers,
       count(DISTINCT (r.project_id, actor)) FILTER (WHERE actor NOT LIKE 'u:%%') AS anonymous FROM {_SERIOUS}"""
_TASKS = """
SELECT count(*) AS tasks FROM task t JOIN project p ON p.id = t.project_id WHERE p.first_published IS NOT NULL"""
_PUBLIC = "published AND lock_id IS NULL"
_LISTED = f"SELECT count(*) AS n FROM project WHERE {_PUBLIC}"
_OF_CATEGORY = f"""
SELECT c.short_name, count(p.id) AS n FROM category c LEFT JOIN project p ON p.category_id = c.id AND {_PUBLIC} GROUP BY 1"""
_OPEN = f"""
SELECT count(*) AS n FROM project p WHERE {_PUBLIC} AND EXISTS (
    SELECT FROM task_ledger l WHERE l.project_id = p.id AND NOT retired
       AND n_answers > (SELECT count(*) FROM task_run r WHERE r.project_id = p.id AND r.task_id = l.task_id AND counted))"""
_HOURS = f"""
SELECT (SELECT count(*) FROM {_SERIOUS} WHERE date_trunc('hour', finish_time) = h) AS n
  FROM generate_series(date_trunc('hour', clock()) - interval '71 hours', date_trunc('hour', clock()), interval '1 hour') h ORDER BY h"""
_SCORES = f"""
SELECT a.name, count(*) AS score FROM account a JOIN ({_SERIOUS}) ON r.user_id = a.id
 WHERE a.id <> ALL (p.owners_ids) AND NOT a."restrict" GROUP BY a.id ORDER BY 2 DESC, a.id LIMIT 20"""
_BUSIEST = f"""
SELECT p.short_name, count(*) AS n FROM {_SERIOUS} WHERE p.{_PUBLIC} AND date_trunc('hour', finish_time) > clock() - interval '24 hours'
 GROUP BY p.id ORDER BY 2 DESC, p.id LIMIT 5"""
_DAY = "(%s AT TIME ZONE 'UTC')::date"
WEEK = f"""
SELECT d::date AS day, (SELECT count(*) FROM {_SERIOUS} WHERE {_DAY % "finish_time"} = d) AS new_task_runs_week,
       (SELECT count(DISTINCT user_id) FROM {_SERIOUS} WHERE {_DAY % "finish_time"} = d) AS active_users_last_week,
       (SELECT count(DISTINCT actor) FILTER (WHERE actor NOT LIKE 'u:%%') FROM {_SERIOUS} WHERE {_DAY % "finish_time"} = d) AS active_anon_last_week,
       (SELECT count(*) FROM account WHERE {_DAY % "created"} = d) AS new_users_week,
       (SELECT count(*) FROM task WHERE {_DAY % "created"} = d) AS new_tasks_week
  FROM generate_series({_DAY % "clock()"} - 6, {_DAY % "clock()"}, interval '1 day') d ORDER BY 1"""
RETURNING = f"""
SELECT days, count(*) AS people FROM (
    SELECT count(DISTINCT {_DAY % "finish_time"}) AS days FROM {_SERIOUS} WHERE user_id IS NOT NULL AND {_DAY % "finish_time"} > {_DAY % "clock()"} - 7 GROUP BY user_id) x
 GROUP BY 1"""
_CHARTS = ("new_task_runs_week", "active_users_last_week", "active_anon_last_week", "new_users_week", "new_tasks_week")


async def of_site(site: Site) -> Compared:
    """All of them."""
    for check in (_home, _statistics, _lists, _dashboard, _tables):
        async for name, shown, expected in check(site):
            yield f"site: {name}", shown, expected


async def _home(site: Site) -> Compared:
    text = await site.html("/")
    people, opened = await site.one(_PEOPLE), await site.one(_OPEN)
    expected = [people["answers"], people["helpers"] + people["anonymous"], opened["n"]]
    yield "figures of home", [*named_figures(text).values()], [str(n) for n in expected]
    hours = [row["n"] for row in await site.rows(_HOURS)]
    drawn = re.findall(r'56V([\d.]+)"', text.split('class="pulse')[1].split("</svg>")[0])
    yield "strokes", [float(end) for end in drawn], [round(53 - 50 * n / max(hours), 1) for n in hours]
    yield "answers of three days", counted(plain(text.split('id="pulse"')[1][:500]), "answers?"), sum(hours)
    listed = await site.one(_LISTED)
    for page in ("/", "/project/search"):
        yield (
            f"all projects of {page}",
            re.search(r"All (\d+) public projects", await site.html(page))[1],
            str(listed["n"]),
        )  # type: ignore[index]
    of_category = await site.rows(
        f"SELECT c.name, count(*) AS n FROM project p JOIN category c ON c.id = category_id WHERE {_PUBLIC} GROUP BY 1"
    )
    subjects = re.findall(r'/">([^<]*)<sup>(\d+)<', text)
    yield "subjects", sorted(subjects), sorted((row["name"], str(row["n"])) for row in of_category)
    scores = await site.rows(_SCORES)
    home = await site.json("/")
    yield (
        "top of home",
        [(one["name"], one["score"]) for one in home["top_users"]],
        [(row["name"], row["score"]) for row in scores[:10]],
    )


async def _statistics(site: Site) -> Compared:
    document = await site.json("/stats/")
    people, tasks = await site.one(_PEOPLE), await site.one(_TASKS)
    rows = await site.one(
        'SELECT (SELECT count(*) FROM account WHERE NOT "restrict") AS n_auth, count(*) FILTER (WHERE published) AS n_published_projects,'
        " count(*) FILTER (WHERE NOT published) AS n_draft_projects, count(*) AS n_total_projects,"
        " (SELECT count(*) FROM result x JOIN project p ON p.id = x.project_id WHERE p.first_published IS NOT NULL AND last_version AND x.info <> 'null') AS n_results FROM project"
    )
    expected = {
        **rows,
        "n_anon": people["anonymous"],
        "n_tasks": tasks["tasks"],
        "n_task_runs": people["answers"],
        "n_total_users": rows["n_auth"] + people["anonymous"],
    }
    yield "stats", document["stats"], expected
    text = await site.html("/stats/")
    figures = {name.rstrip("s"): int(number) for name, number in named_figures(text).items()}
    names = ("answer", "task", "published project", "account")
    keys = ("n_task_runs", "n_tasks", "n_published_projects", "n_auth")
    yield "figures of stats", [figures[name] for name in names], [expected[key] for key in keys]
    yield "a project with a password", (rows["n_published_projects"] > (await site.one(_LISTED))["n"]), True
    world = (await site.served.client().get("/api/globalstats")).json()
    categories = {name: number for one in world["categories"] for name, number in one.items()}
    public = {row["short_name"]: row["n"] for row in await site.rows(_OF_CATEGORY)}
    yield "categories of globalstats", {name: categories[name] for name in public}, public
    yield "drafts of globalstats", categories["draft"], rows["n_draft_projects"]
    yield "projects of globalstats", world["n_projects"], rows["n_published_projects"]
    runs = await site.one("SELECT count(*) AS n FROM task_run")
    yield "answers of globalstats", world["n_task_runs"], runs["n"]
    busiest = [(one["short_name"], one["n_answers"]) for one in document["top5_projects_24_hours"]]
    yield "busiest", busiest, [(row["short_name"], row["n"]) for row in await site.rows(_BUSIEST)]
    board = (await site.json("/leaderboard/"))["top_users"]
    yield (
        "leaderboard",
        [(one["name"], one["score"]) for one in board],
        [(row["name"], row["score"]) for row in await site.rows(_SCORES)],
    )


async def _lists(site: Site) -> Compared:
    rows = await site.rows(_OF_CATEGORY)
    public = sum(row["n"] for row in rows)
    for name, number in [*((row["short_name"], row["n"]) for row in rows), ("all", public)]:
        lengths = await _all_pages(site, f"/project/category/{name}/page/{{page}}/", "projects")
        yield f"category {name}", lengths, ({number}, number)
        words = plain(await site.html(f"/project/category/{name}/"))
        yield f"words of category {name}", counted(words, "projects?"), number
    yield "pages of lists", public > 20, True
    matches = await _all_pages(site, "/project/search?q=small&page={page}", "projects")
    yield "search", matches, ({SMALL}, SMALL)
    yield "words of search", counted(plain(await site.html("/project/search?q=small")), "projects?"), SMALL


async def _all_pages(site: Site, path: str, key: str) -> tuple[set[int], int]:
    """What the pages of a list give as its length, and how many different rows they have together."""
    totals, names = set(), set()
    for page in range(1, 20):
        document = await site.json(path.format(page=page))
        totals.add(document["pagination"]["total"])
        names |= {one["short_name"] for one in document[key]}
        if not document["pagination"]["next"]:
            return totals, len(names)
    raise AssertionError(path)


async def _dashboard(site: Site) -> Compared:
    boss = site.people["boss"]
    await site.later(0.01)
    await prove(boss)
    dashboard = await site.json("/admin/dashboard/?refresh=1", boss)
    week = await site.rows(WEEK)
    for name in _CHARTS:
        yield name, dashboard[name]["series"][0], [row[name] for row in week]
    days = {row["days"]: row["people"] for row in await site.rows(RETURNING)}
    yield "returning", dashboard["returning_users_week"]["series"][0], [days.get(n, 0) for n in range(1, 8)]
    people = await site.one(f"{_PEOPLE} WHERE {_DAY % 'finish_time'} > {_DAY % 'clock()'} - 7")
    text = await site.html("/admin/dashboard/", boss)
    sums = [sum(row[name] for row in week) for name in ("new_task_runs_week", "new_users_week", "new_tasks_week")]
    expected = [sums[0], people["users"], people["browsers"], sums[1], sums[2]]
    yield "totals of the week", [*named_figures(text).values()], [str(n) for n in expected]
    states = {
        "published": "published AND first_published", "draft": "first_published IS NULL AND created", "update": "updated",
    }  # fmt: skip
    for name, condition in states.items():
        rows = await site.one(
            f"SELECT count(*) AS n FROM project WHERE {condition} >= ({_DAY % 'clock()'} - 6)::timestamp AT TIME ZONE 'UTC'"
        )
        yield (
            f"{name} of the week",
            len(dashboard[f"{name + '_' if name != 'update' else 'update_'}projects_last_week"]),
            rows["n"],
        )


async def _table(site: Site, path: str) -> list[dict[str, str]]:
    """A table of administrators as CSV."""
    answer = await site.people["boss"].get(path, headers={"Accept": "text/html"})
    assert answer.status == 200, (path, answer.status)
    return list(csv.DictReader(io.StringIO(answer.body.decode("utf-8-sig"))))


async def _tables(site: Site) -> Compared:
    rows = await site.rows(
        "SELECT short_name, (SELECT count(*) FROM task WHERE project_id = p.id) AS tasks, (SELECT count(*) FROM task_run WHERE project_id = p.id) AS runs FROM project p"
    )
    projects = await _table(site, "/admin/projects?csv=1&per_page=100")
    yield (
        "admin's projects",
        sorted((one["short_name"], one["n_tasks"], one["n_task_runs"]) for one in projects),
        sorted((row["short_name"], str(row["tasks"]), str(row["runs"])) for row in rows),
    )
    people = await site.rows(
        f"SELECT name, (SELECT count(*) FROM {_SERIOUS} WHERE r.user_id = a.id AND a.id <> ALL (p.owners_ids)) AS n FROM account a"
    )
    listed: Any = [(one["name"], one["n_answers"]) for one in await _table(site, "/admin/users?csv=1&per_page=100")]
    yield "admin's users", sorted(listed), sorted((row["name"], str(row["n"])) for row in people)
    for path, table in (("/admin/queue", "queue_item"), ("/admin/mail", "mail")):
        number = await site.one(f"SELECT count(*) AS n FROM {table}")
        yield path, len(await _table(site, f"{path}?csv=1&per_page=100")), number["n"]
    hooks = await site.rows(
        "SELECT short_name, (SELECT count(*) FROM delivery d WHERE d.project_id = p.id AND state = 'waiting') AS waiting,"
        " (SELECT count(*) FROM delivery d WHERE d.project_id = p.id AND state = 'failed') AS failed FROM project p WHERE webhook IS NOT NULL"
    )
    states = await _table(site, "/admin/webhooks?csv=1&per_page=100")
    yield (
        "admin's webhooks",
        sorted((one["short_name"], one["n_waiting"], one["n_failed"]) for one in states),
        sorted((row["short_name"], str(row["waiting"]), str(row["failed"])) for row in hooks),
    )
    used: dict[str, Any] = {}
    categories = await site.html("/admin/categories", site.people["boss"])
    for row in await site.rows(
        f"SELECT c.name, count(p.id) AS n FROM category c LEFT JOIN project p ON p.category_id = c.id AND {_PUBLIC} GROUP BY 1"
    ):
        used[row["name"]] = row["n"]
    shown = plain(categories)
    yield "admin's categories", {name: counted(shown.split(name, 1)[1], "projects?") or 0 for name in used}, used
