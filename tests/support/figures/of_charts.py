"""The numbers behind bars, circles and their tables: the dashboard, statistics of projects, map and timeline of results."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from typing import Any

from support.figures import Compared, named_figures
from support.figures.lively_site import FIELDS, Site
from support.figures.of_projects import LIKELIEST, alike, comparable, leading, winner
from support.figures.of_site import RETURNING, WEEK
from support.figures.reading import Chart, number, read

_DASHBOARD = {
    "Answers by day": "new_task_runs_week",
    "People with an account who answered, by day": "active_users_last_week",
    "People without an account who answered, by day": "active_anon_last_week",
    "New accounts by day": "new_users_week",
    "New tasks by day": "new_tasks_week",
}
_DAY = "(%s AT TIME ZONE 'UTC')::date"
_LATELY = f"{_DAY % 'finish_time'} > {_DAY % 'clock()'} - 14"
_DAYS = f"""
SELECT extract(epoch FROM d AT TIME ZONE 'UTC')::bigint * 1000 AS at, count(r.id) AS n, count(r.id) FILTER (WHERE r.actor NOT LIKE 'u:%%') AS anonymous,
       count(r.id) FILTER (WHERE r.actor LIKE 'u:%%') AS authenticated
  FROM generate_series({_DAY % "clock()"} - 13, {_DAY % "clock()"}, interval '1 day') d
  LEFT JOIN task_run r ON r.project_id = %(id)s AND {_DAY % "r.finish_time"} = d GROUP BY d ORDER BY d"""
_HOURS = f"""
SELECT h, count(r.id) AS n, count(r.id) FILTER (WHERE r.actor NOT LIKE 'u:%%') AS anonymous, count(r.id) FILTER (WHERE r.actor LIKE 'u:%%') AS authenticated
  FROM generate_series(0, 23) h LEFT JOIN task_run r ON r.project_id = %(id)s AND extract(hour FROM r.finish_time AT TIME ZONE 'UTC') = h AND {_LATELY}
 GROUP BY h ORDER BY h"""
_SIDES = """
SELECT count(*) AS runs, count(DISTINCT actor) AS people FROM task_run
 WHERE project_id = %(id)s AND actor LIKE 'u:%%' = %(known)s AND {since}"""
_BEST = """
SELECT a.name, count(*) AS n FROM task_run r JOIN account a ON a.id = r.user_id
 WHERE r.project_id = %(id)s AND NOT a."restrict" AND {since} GROUP BY a.id ORDER BY 2 DESC, 'u:' || a.id LIMIT 5"""
_PACE = f"""
SELECT (SELECT count(*) FROM task_run r WHERE project_id = p.id AND counted AND {_LATELY}) AS counted,
       extract(epoch FROM clock() - greatest(first_published, ({_DAY % "clock()"} - 13)::timestamp AT TIME ZONE 'UTC')) / 86400 AS days
  FROM project p WHERE id = %(id)s"""
_COMPARED = f"""
SELECT x.id, t.info, array_agg(r.info->'answer' ORDER BY r.id) AS answers, {LIKELIEST} AS likeliest
  FROM result x JOIN task t ON t.project_id = x.project_id AND t.id = x.task_id JOIN task_run r ON r.project_id = x.project_id AND r.id = ANY (x.task_run_ids)
 WHERE x.project_id = %(id)s AND x.last_version GROUP BY x.project_id, x.id, t.info"""


async def of_charts(site: Site) -> Compared:
    """All of them."""
    async for compared in _dashboard(site):
        yield compared
    for name, who in (("birds", "owner"), ("cats", "helper"), ("draft", "helper"), ("locked", "owner")):
        async for what, shown, expected in _statistics(site, name, site.people[who]):
            yield f"{name}: {what}", shown, expected
    async for compared in _results(site):
        yield compared
    for name, who in (("birds", "owner"), ("cats", "helper"), ("draft", "helper")):
        async for what, shown, expected in _shares(site, name, site.people[who]):
            yield f"{name}: {what}", shown, expected


def _bars(name: str, chart: Chart, figures: list[int]) -> list[tuple[str, Any, Any]]:
    """A chart, what its bars are called and the table behind it, against the figures; the highest bar may be of any height."""
    maximum = max(figures) or 1
    highest = max(chart.heights) or 1
    return [
        (f"table of {name}", [number(row[1]) for row in chart.table], figures),
        (f"words on bars of {name}", [number(figure) for _, figure in chart.named], figures),
        (f"names of {name}", [row[0] for row in chart.table], [bar for bar, _ in chart.named]),
        (f"bars of {name}", all(abs(high - highest * n / maximum) < 0.11 for high, n in zip(chart.heights, figures, strict=True)), True),
    ]  # fmt: skip


async def _dashboard(site: Site) -> Compared:
    boss = site.people["boss"]
    await site.json("/admin/dashboard/?refresh=1", boss)
    page = await read(site, "/admin/dashboard/", boss)
    week = await site.rows(WEEK)
    for label, key in _DASHBOARD.items():
        for compared in _bars(label, page.chart(label), [row[key] for row in week]):
            yield compared
    days = {row["days"]: row["people"] for row in await site.rows(RETURNING)}
    label = "People with an account by the number of days on which they answered"
    for compared in _bars(label, page.chart(label), [days.get(n, 0) for n in range(1, 8)]):
        yield compared


async def _statistics(site: Site, name: str, who: Any) -> Compared:
    """The charts and tables of a project's statistics."""
    values: dict[str, Any] = {"id": site.projects[name]}
    page = await read(site, f"/project/{name}/stats", who)
    charts = await site.json(f"/project/{name}/stats", who)
    days, hours = await site.rows(_DAYS, **values), await site.rows(_HOURS, **values)
    for label, rows in (
        ("Answers on each of the last 14 days", days),
        ("Answers by hour of the day, last 14 days", hours),
    ):
        for compared in _bars(label, page.chart(label), [row["n"] for row in rows]):
            yield compared
    for nth, of in enumerate(("n", "anonymous", "authenticated")):
        series = charts["projectStats"]["dayStats"][nth]["values"]
        yield f"JSON of days, {of}", [tuple(one) for one in series], [(row["at"], row[of]) for row in days]
        series = charts["projectStats"]["hourStats"][nth]["values"]
        yield f"JSON of hours, {of}", [one[:2] for one in series], [[row["h"], row[of]] for row in hours]
    for key, caption, since in (
        ("projectStats", "People and answers", "true"),
        ("userStats", "People and answers, last 14 days", _LATELY),
    ):
        sides = [await site.one(_SIDES.format(since=since), **values, known=known) for known in (True, False)]
        runs = sum(side["runs"] for side in sides)
        share = sides[1]["runs"] * 100 // runs if runs else 0
        shares = [100 - share if runs else 0, share]
        expected = [[side["people"], side["runs"], of] for side, of in zip(sides, shares, strict=True)]
        yield caption, [[number(cell.rstrip("% ")) for cell in row[1:]] for row in page.cells(caption)], expected
        both = [charts[key][side] for side in ("authenticated", "anonymous")]
        yield f"JSON of {key}", [[one["users"], one["taskruns"], one["pct_taskruns"]] for one in both], expected
        best = [(row["name"], row["n"]) for row in await site.rows(_BEST.format(since=since), **values)]
        yield f"JSON of the best of {key}", [(one["name"], one["tasks"]) for one in both[0]["top5"]], best
        section = "who" if key == "projectStats" else "lately"
        yield f"the best of {key}", [int(line.split()[-1]) for line in page.items(id_=section)], [n for _, n in best]
    if charts["estimate"] is not None:
        pace = await site.one(_PACE, **values)
        yield "pace", abs(charts["estimate"]["per_day"] - pace["counted"] / float(pace["days"])) < 0.01 or pace, True


async def _results(site: Site) -> Compared:
    """Map and timeline of birds: its bins, its shapes and the tables behind them."""
    rows = await site.rows(_COMPARED, id=site.projects["birds"])
    placed = [row for row in rows if "lat" in row["info"]]
    charts = (await site.json("/project/birds/results", site.people["owner"]))["charts"]
    page = await read(site, "/project/birds/results", site.people["owner"])
    wins = Counter(win for win, _ in (leading(row["answers"]) for row in placed) if win is not None)
    groups = [json.dumps(one["answer"], sort_keys=True) for one in charts["answers"]]
    yield "answers of charts", [wins[group] for group in groups], sorted(wins.values(), reverse=True)[:4]
    yield "tasks of charts", charts["tasks"], len(rows)

    def group(row: Any) -> int:
        win = leading(row["answers"])[0]
        return len(groups) + 1 if win is None else groups.index(win) if win in groups else len(groups)

    bins: dict[tuple[int, int, int], list[Any]] = defaultdict(list)
    lons, lats = [row["info"]["lon"] for row in placed], [row["info"]["lat"] for row in placed]
    for row in placed:
        cell = [
            min(math.floor((row["info"][key] - min(all_)) / max(max(all_) - min(all_), 1e-9) * cells), cells - 1)
            for key, all_, cells in (("lon", lons, 12), ("lat", lats, 6))
        ]
        bins[cell[0], cell[1], group(row)].append(row["info"])
    points = sorted((one["x"], one["y"], one["group"], one["n"]) for one in charts["map"]["points"])
    expected = sorted((_mean(infos, "lon"), _mean(infos, "lat"), of, len(infos)) for (_, _, of), infos in bins.items())
    yield "bins of the map", points, expected
    shown = [number(row["Tasks"]) for row in page.rows("Results by place")]
    yield "table of the map", sorted(n or 0 for n in shown), sorted(n for *_, n in expected)
    places = [row["Latitude, longitude"] for row in page.rows("Results by place")]
    yield "places of the map", sorted(places), sorted(f"{y:.4g}°, {x:.4g}°" for x, y, _, _ in expected)
    circles = page.drawn("Results by place and most frequent answer", "circle")
    maximum = max(n for *_, n in expected)
    radii = [6.0 if maximum == 1 else 5 + 11 * math.sqrt((n or 0) / maximum) for n in shown]
    yield "circles of the map", [float(one.get("r")) for one in circles], [round(radius, 1) for radius in radii]
    times = Counter((row["info"]["date"][:7], group(row)) for row in placed)
    yield (
        "bins of the timeline",
        {(one["time"], one["group"]): one["n"] for one in charts["timeline"]["times"]},
        dict(times),
    )
    table = page.rows("Results by time")
    sums = [sum(number(cell) or 0 for name, cell in row.items() if name != "Time") for row in table]
    months = Counter(row["info"]["date"][:7] for row in placed)
    yield (
        "table of the timeline",
        [(row["Time"], n) for row, n in zip(table, sums, strict=True) if n],
        sorted(months.items()),
    )
    pieces = page.drawn("Results by time and most frequent answer", "rect")
    heights: dict[str, float] = defaultdict(float)
    for piece in pieces:
        heights[piece.get("x")] += float(piece.get("height"))
    highest = max(months.values())
    highest += highest % 2  # the axis ends at an even number, so that its middle is whole
    yield (
        "bars of the timeline",
        [round(high) for high in heights.values()],
        [round(160 * n / highest) for _, n in sorted(months.items())],
    )


async def _shares(site: Site, name: str, who: Any) -> Compared:
    """The tables of the most frequent answers and of agreement, and the bars beside their figures."""
    rows = await site.rows(_COMPARED, id=site.projects[name])
    answers = [comparable(name, row["answers"]) for row in rows]
    if not answers:
        return
    page = await read(site, f"/project/{name}/results", who)
    wins = Counter(win for win, _ in (winner(name, row) for row in rows) if win is not None)
    unanswered = answers.count([])
    tied = len(answers) - sum(wins.values()) - unanswered
    counts = [*sorted(wins.values(), reverse=True), *(n for n in (tied, unanswered) if n)]
    several = [alike(one) for one in answers if len(one) > 1]
    bands = [
        several.count(1),
        *(sum(low <= a < high for a in several) for low, high in ((0.75, 1), (0.5, 0.75), (0, 0.5))),
    ]
    question = (
        f"Tasks by their consensus: {FIELDS[0]['name']}" if name == "cats" else "Tasks by their most frequent answer"
    )
    tables = (
        (question, counts, len(answers) if wins else 0),
        ("Tasks with several answers by agreement", bands, len(several)),
    )
    for caption, figures, total in tables:
        if total:
            expected = [f"{n} {round(100 * n / total)} %" for n in figures]
            yield caption, [cells[1] for cells in page.cells(caption)], expected
            yield f"bars of {caption}", page.shares(caption), [round(100 * n / total, 2) for n in figures]
    figures = named_figures(await site.html(f"/project/{name}/results", who))
    shown = [number(value) for value in figures.values()][:2]
    yield "figures of results", shown, [len(answers), sum(map(len, answers))]


def _mean(infos: list[Any], key: str) -> float:
    return round(sum(info[key] for info in infos) / len(infos), 4)
