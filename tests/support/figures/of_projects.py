"""The figures of the pages of a project."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from support.figures import Compared, counted, named_figures, plain
from support.figures.lively_site import Site

_FIGURES = """
WITH t AS (
    SELECT l.task_id, l.n_answers, l.retired, count(r.id) FILTER (WHERE r.counted) AS counted, count(r.id) AS given
      FROM task JOIN task_ledger l ON l.project_id = task.project_id AND l.task_id = task.id
      LEFT JOIN task_run r ON r.project_id = l.project_id AND r.task_id = l.task_id
     WHERE task.project_id = %(id)s GROUP BY l.task_id, l.n_answers, l.retired)
SELECT n_tasks, n_completed_tasks, n_task_runs, n_volunteers, n_results,
       CASE WHEN wanted = 0 THEN 0 ELSE least(CASE WHEN n_completed_tasks = n_tasks THEN 100 ELSE 99 END, floor(counted * 100 / wanted))::int END AS overall_progress
  FROM (SELECT count(*) AS n_tasks, count(*) FILTER (WHERE retired OR counted >= n_answers) AS n_completed_tasks,
               sum(counted) AS counted, sum(CASE WHEN retired THEN counted ELSE n_answers END) AS wanted FROM t) a,
       (SELECT count(*) AS n_task_runs, count(DISTINCT actor) AS n_volunteers FROM task_run WHERE project_id = %(id)s) b,
       (SELECT count(*) AS n_results FROM result WHERE project_id = %(id)s AND last_version AND info <> 'null') c"""
LIKELIEST = """
(SELECT to_jsonb(array_agg(m.choices[nth])) FROM trust_model m, unnest(x.posterior) WITH ORDINALITY u (share, nth)
  WHERE m.project_id = x.project_id AND share > (SELECT max(share) FROM unnest(x.posterior) v (share)) - 1e-6)"""
"""The most probable choices of a result x."""
_RESULTS = f"""
SELECT x.task_id, x.id, t.info, array_agg(r.info->'answer' ORDER BY r.id) AS answers, {LIKELIEST} AS likeliest
  FROM result x JOIN task t ON t.project_id = x.project_id AND t.id = x.task_id
  JOIN task_run r ON r.project_id = x.project_id AND r.id = ANY (x.task_run_ids)
 WHERE x.project_id = %(id)s AND x.last_version GROUP BY x.project_id, x.task_id, x.id, t.info ORDER BY x.id DESC"""
_LEADERS = """
SELECT a.name, count(*) AS n FROM task_run r JOIN account a ON a.id = r.user_id
 WHERE r.project_id = %(id)s AND NOT a."restrict" GROUP BY a.id ORDER BY 2 DESC, 'u:' || a.id LIMIT 5"""
_OWN = "SELECT count(*) AS n FROM task_run r JOIN account a ON a.id = r.user_id WHERE r.project_id = %(id)s AND a.name = %(name)s"
SHARED = ("n_tasks", "n_completed_tasks", "n_task_runs", "n_volunteers", "overall_progress")


def leading(answers: list[Any]) -> tuple[str | None, int]:
    """The most frequent answer as JSON, None where several are, and how often it was given."""
    (first, number), *others = Counter(json.dumps(one, sort_keys=True) for one in answers).most_common()
    return None if others and others[0][1] == number else first, number


def alike(answers: list[Any]) -> float:
    """The share of pairs of answers that are the same; 1 for a single one."""
    counts = Counter(json.dumps(one, sort_keys=True) for one in answers).values()
    return sum(n * (n - 1) for n in counts) / (len(answers) * (len(answers) - 1)) if len(answers) > 1 else 1.0


READ = ("birds", "cats", "finished", "paused", "locked", "draft")


def winner(name: str, row: Mapping[str, Any]) -> tuple[str | None, int]:
    """The consensus of a result as JSON, None without one, and how many said so: the most frequent answer, or the most
    probable one where the first answer field is a label.
    """
    if name != "cats":
        return leading(row["answers"])
    likeliest = row["likeliest"] or []
    return (json.dumps(likeliest[0]), row["answers"].count(likeliest[0])) if len(likeliest) == 1 else (None, 0)


def comparable(name: str, answers: list[Any]) -> list[Any]:
    """The answers that fit the first answer field: "cats" asks for a label, which is no object."""
    return [one for one in answers if name != "cats" or not isinstance(one, dict)]


async def of_projects(site: Site, names: Iterable[str] = READ) -> Compared:
    """All of them, of these projects."""
    for name in names:
        who = site.people["helper" if name in ("cats", "draft") else "owner"]
        rows = await site.one(_FIGURES, id=site.projects[name])
        for check in (_shared, _about, _results, _lists, _sizes, _publication):
            async for what, shown, expected in check(site, who, name, rows):
                yield f"{name}: {what}", shown, expected


async def _shared(site: Site, who: Any, name: str, rows: Mapping[str, Any]) -> Compared:
    """What all pages of a project tell has to be the same everywhere."""
    expected = {key: int(rows[key]) for key in SHARED}
    for page in ("", "stats", "results", "tasks/", "tasks/browse", "tasks/export", "volunteers", "publish", "settings"):
        seen = await site.json(f"/project/{name}/{page}", who)
        yield f"/{page}", {key: seen[key] for key in SHARED}, expected
    record = (await who.get(f"/api/project/{site.projects[name]}")).json()
    yield (
        "record",
        {key: int(record[key]) for key in (*SHARED, "n_results")},
        {**expected, "n_results": rows["n_results"]},
    )
    stats = named_figures(await site.html(f"/project/{name}/stats", who))
    if rows["n_task_runs"]:
        seen = [*stats.values()][:3]
        yield "figures of stats", seen, [str(rows[key]) for key in ("n_completed_tasks", "n_task_runs", "n_volunteers")]
        [seconds] = await site.rows(
            "SELECT avg(extract(epoch FROM finish_time - created) - coalesce(timeout, 0))::float8 AS s FROM task_run WHERE project_id = %(id)s",
            id=site.projects[name],
        )
        yield "seconds", [*stats.values()][3], f"{seconds['s']:.1f}"


async def _about(site: Site, who: Any, name: str, rows: Mapping[str, Any]) -> Compared:
    """The page of the project, and its card."""
    text = await site.html(f"/project/{name}/", who)
    figures, words = named_figures(text), plain(text)
    to_go = rows["n_tasks"] - rows["n_completed_tasks"]
    yield "figures", [*figures.values()][:3], [str(rows["n_task_runs"]), str(rows["n_volunteers"]), str(to_go)]
    yield "finished", counted(words, r"of \d+ tasks? (?:is|are) finished"), rows["n_completed_tasks"]
    yield "share", re.search(r"(\d+) % of the answers needed", words)[1], str(rows["overall_progress"])  # type: ignore[index]
    if name == "draft":
        return
    here = await site.one(
        "SELECT count(DISTINCT actor) AS n FROM lease WHERE project_id = %(id)s AND expires > clock() + interval '50 minutes'",
        id=site.projects[name],
    )
    yield "here", counted(words, "person here now", "people here now") or 0, here["n"]
    leaders = await site.rows(_LEADERS, id=site.projects[name])
    part = text.split('id="people"')[1].split("</ol>")[0] if 'id="people"' in text else ""
    yield "leaders", re.findall(r'<span class="num soft">(\d+)</span>', part), [str(row["n"]) for row in leaders]
    yield "names of leaders", re.findall(r"/account/([^/\"]+)/", part), [row["name"] for row in leaders]
    outcomes = await site.rows(_RESULTS, id=site.projects[name])
    results, winners = [comparable(name, row["answers"]) for row in outcomes], [winner(name, row) for row in outcomes]
    several = [alike(one) for one in results if len(one) > 1]
    average = f"{round(100 * sum(several) / len(several))} %" if several else None
    yield "average agreement", figures.get(f"average agreement, n = {len(several)}"), average
    agreed = [
        (winning[1], len(one))
        for winning, one in zip(winners[:12], results[:12], strict=True)
        if winning[0] is not None and winning[1] > 1
    ]
    yield "just agreed on", re.findall(r"(\d+) of (\d+) agree", words), [(str(n), str(m)) for n, m in agreed[:3]]
    if name not in ("paused", "locked"):
        card = plain(await site.html(f"/project/{name}/embed"))
        done = (
            "Every task has its answers"
            if rows["overall_progress"] == 100
            else f"{rows['overall_progress']} % of the answers needed"
        )
        yield "card", done in card, True


async def _results(site: Site, who: Any, name: str, _rows: Mapping[str, Any]) -> Compared:
    """What came out, together and by place and date."""
    document = await site.json(f"/project/{name}/results", who)
    rows = await site.rows(_RESULTS, id=site.projects[name])
    answer_lists = [comparable(name, row["answers"]) for row in rows]
    several = [alike(one) for one in answer_lists if len(one) > 1]
    winners = Counter(win for win, _ in (winner(name, row) for row in rows) if win is not None)
    summary = document["summary"]
    expected = {
        "tasks": len(answer_lists), "answers": sum(map(len, answer_lists)), "several": len(several), "unanimous": several.count(1), "kinds": len(winners),
        "tied": sum(winner(name, row)[0] is None and bool(answers) for row, answers in zip(rows, answer_lists, strict=True)), "others": sum(winners.values()) - sum(n for _, n in winners.most_common(10)),
        "bands": [sum(a < 0.5 for a in several), sum(0.5 <= a < 0.75 for a in several), sum(0.75 <= a < 1 for a in several), several.count(1)],
    }  # fmt: skip
    yield "results", {key: summary[key] for key in expected}, expected
    yield (
        "agreement",
        summary["agreement"] and round(summary["agreement"], 6),
        round(sum(several) / len(several), 6) if several else None,
    )
    outcomes = {json.dumps(one["answer"], sort_keys=True): one["n"] for one in summary["outcomes"]}
    yield "outcomes", outcomes, dict(winners)
    shown = [
        (row["task_id"], row["total"], round(row["agreement"], 6), sum(vote["n"] for vote in row["votes"]))
        for row in document["rows"]
    ]
    yield (
        "rows",
        shown,
        [
            (
                row["task_id"],
                len(row["answers"]),
                round(alike(comparable(name, row["answers"])), 6),
                len(row["answers"]),
            )
            for row in rows[:20]
        ],
    )
    for query, fits in (("min_agreement=100", lambda a: a == 1), ("max_agreement=49", lambda a: a < 0.5)):
        some = await site.json(f"/project/{name}/results?{query}", who)
        yield query, len(some["rows"]), min(20, sum(fits(alike(one)) for one in answer_lists))
    if answer_lists:
        async for what, shown_, counted_ in _contributors(site, who, name):
            yield what, shown_, counted_
    if name == "birds":
        charts, placed = document["charts"], [row for row in rows if "lat" in row["info"]]
        yield "map", sum(point["n"] for point in charts["map"]["points"]), len(placed)
        months = Counter(row["info"]["date"][:7] for row in placed)
        times: Counter[str] = Counter()
        for bar in charts["timeline"]["times"]:
            times[bar["time"]] += bar["n"]
        yield "timeline", dict(times), dict(months)


async def _contributors(site: Site, who: Any, name: str) -> Compared:
    """Who took part, below the results."""
    part = (await site.html(f"/project/{name}/results", who)).split('id="people"')[1].split("</section>")[0]
    leaders = await site.rows(_LEADERS, id=site.projects[name])
    yield "people of results", re.findall(r"/account/([^/\"]+)/\"", part), [row["name"] for row in leaders]
    counts = [int(words) for words in re.findall(r">(\d+) answers?<", part)]
    yield "answers of people of results", counts, [row["n"] for row in leaders]
    if name == "birds":
        own = await site.html(f"/project/{name}/results", site.people["ada"])
        total = await site.one(_OWN, id=site.projects[name], name="ada")
        yield "own answers", (counted(plain(own).split("You gave")[-1], "answers?"), total["n"] > 0), (total["n"], True)


async def _lists(site: Site, who: Any, name: str, rows: Mapping[str, Any]) -> Compared:
    """Lists of tasks and what their filters select; volunteers; background tasks."""
    total, done = rows["n_tasks"], rows["n_completed_tasks"]
    values = {"id": site.projects[name]}
    holding = await site.one(
        "SELECT count(*) AS n FROM task WHERE project_id = %(id)s AND info::text ILIKE '%%bird%%'", **values
    )
    agreements = [alike(comparable(name, row["answers"])) for row in await site.rows(_RESULTS, **values)]
    filters = {
        "": total, "state=completed": done, "state=ongoing": total - done, "min_agreement=60": sum(a >= 0.6 for a in agreements),
        "max_agreement=50": sum(a < 0.51 for a in agreements), "words=bird": holding["n"],
    }  # fmt: skip
    for query, number in filters.items():
        text = await site.html(f"/project/{name}/tasks/browse?per_page=100&{query}", who)
        yield f"rows of {query!r}", len(re.findall(r"<tr data-row=", text)), number
        if not number:
            continue
        matching = re.search(r'name="matching" value="([^"]*)"', text)
        offered = (
            re.search(r"([\d,]+)", plain(text.split('value="matching"')[1].split("</label>")[0]))
            if 'value="matching"' in text
            else None
        )
        if offered and not query.startswith("words"):
            yield f"selection of {query!r}", int(offered[1]), number
        body = {"matching": matching[1].replace("&amp;", "&") if matching else "", "priority_0": "1", "preview": "y"}
        effect = (await who.post(f"/project/{name}/tasks/priority", json=body)).json()["effect"]
        yield f"effect of {query!r}", effect and effect["tasks"], number
        export = await site.json(
            f"/project/{name}/tasks/export?scope=matching&matching={query.replace('=', '%3D')}%26orderby%3Did", who
        )
        yield f"export of {query!r}", export["exports"][0]["rows"], number
    people = await site.json(f"/project/{name}/volunteers", who)
    counts = await site.rows(
        "SELECT count(*) AS n FROM task_run WHERE project_id = %(id)s GROUP BY actor ORDER BY 1 DESC", **values
    )
    yield "volunteers", [one["answers"] for one in people["volunteers"]], [row["n"] for row in counts]
    yield "number of volunteers", people["pagination"]["total"], len(counts)
    known = await site.one(
        "SELECT count(DISTINCT actor) FILTER (WHERE actor LIKE 'u:%%') AS n FROM task_run WHERE project_id = %(id)s",
        **values,
    )
    text = plain(await site.html(f"/project/{name}/volunteers?kind=account", who))
    yield "volunteers with an account", counted(text, "volunteers?") or 0, known["n"]
    queue = await site.json(f"/project/{name}/queue", who)
    items = await site.rows(
        "SELECT id, done, total FROM queue_item WHERE project_id = %(id)s ORDER BY id DESC LIMIT 20", **values
    )
    yield (
        "background tasks",
        [(one["id"], one["done"], one["total"]) for one in queue["items"]],
        [(r["id"], r["done"], r["total"]) for r in items],
    )


async def _sizes(site: Site, who: Any, name: str, rows: Mapping[str, Any]) -> Compared:
    """What the export page says, and what the files hold."""
    exports = (await site.json(f"/project/{name}/tasks/export", who))["exports"]
    for one in exports:
        file = (await who.get(f"/project/{name}/tasks/export?type={one['type']}&format=json")).body
        yield f"export of {one['type']}", one["rows"], len(json.loads(file))
        if one["rows"] > 3:
            yield f"size of {one['type']}", 0.8 < one["bytes"] / len(file) < 1.25 or (one["bytes"], len(file)), True


async def _publication(site: Site, who: Any, name: str, rows: Mapping[str, Any]) -> Compared:
    """What publishing asks of volunteers and deletes."""
    wanted = await site.one(
        "SELECT count(*) AS tasks, coalesce(sum(n_answers), 0)::int AS answers, coalesce(min(n_answers), 0) AS fewest, coalesce(max(n_answers), 0) AS most"
        " FROM task_ledger WHERE project_id = %(id)s AND NOT retired", id=site.projects[name],
    )  # fmt: skip
    document = await site.json(f"/project/{name}/publish", who)
    keys = ("answers", "fewest", "most")
    yield "answers wanted", [document["answers_wanted"][key] for key in keys], [wanted[key] for key in keys]
    yield "trial answers", document["trial_answers"], rows["n_task_runs"] if name == "draft" else 0
    if name in ("draft", "paused"):
        text = plain(await site.html(f"/project/{name}/publish", who))
        match = re.search(r"(\d+) tasks? (?:with|×)", text)
        yield "tasks that want answers", match and int(match[1]), wanted["tasks"]
