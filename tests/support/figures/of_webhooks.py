"""The figures of webhooks: their pages, the log of deliveries, each delivery, and the list of administrators."""

from __future__ import annotations

from typing import Any

from support.figures import Compared, named_figures
from support.figures.lively_site import Site
from support.figures.reading import json_over_pages, number, over_pages, read, words

_STATE = """
SELECT p.short_name, p.webhook AS url,
       (SELECT count(*) FROM delivery d WHERE d.project_id = p.id AND state = 'waiting') AS waiting,
       (SELECT count(*) FROM delivery d WHERE d.project_id = p.id AND state = 'failed') AS failed,
       (SELECT count(*) FROM event e WHERE e.project_id = p.id AND seq IS NOT NULL) AS events,
       (SELECT count(*) FROM event e WHERE e.project_id = p.id AND seq IS NOT NULL
           AND NOT EXISTS (SELECT FROM delivery d WHERE d.project_id = p.id AND d.event_id = e.id)) AS unsent
  FROM project p WHERE webhook IS NOT NULL ORDER BY short_name"""
_DELIVERIES = """
SELECT d.id, d.seq, d.kind, d.state, d.attempts, l.status, l.seconds, l.problem FROM delivery d
  LEFT JOIN LATERAL (SELECT * FROM delivery_attempt a WHERE a.project_id = d.project_id AND a.delivery_id = d.id ORDER BY a.id DESC LIMIT 1) l ON true
 WHERE d.project_id = %(id)s ORDER BY d.id DESC"""
_ATTEMPTS = "SELECT delivery_id, status, seconds, problem FROM delivery_attempt WHERE project_id = %(id)s ORDER BY id"
_STATES = {"waiting": "Waiting", "delivered": "Delivered", "failed": "Failed"}


async def of_webhooks(site: Site) -> Compared:
    """All of them."""
    states = await site.rows(_STATE)
    yield "webhooks", [row["short_name"] for row in states], ["birds", "cats"]
    hooks = {one["short_name"]: one for one in (await site.json("/admin/webhooks", site.people["boss"]))["webhooks"]}
    listed = (await read(site, "/admin/webhooks", site.people["boss"])).rows("Webhooks")
    shown = {row["Project"]: row for row in listed}
    for row in states:
        name, who = row["short_name"], site.people["owner" if row["short_name"] == "birds" else "helper"]
        page = await site.json(f"/project/{name}/webhook", who)
        counts = {
            "n_waiting": row["waiting"],
            "n_failed": row["failed"],
            "n_events": row["events"],
            "n_missed": row["unsent"],
        }
        yield f"JSON of administrators: {name}", {key: hooks[name][key] for key in counts}, counts
        yield f"JSON of {name}", {key: page["webhook"][key] for key in counts}, counts
        columns = (number(shown[name]["Deliveries waiting"]), number(shown[name]["Deliveries failed"]))
        yield f"list of administrators: {name}", columns, (row["waiting"], row["failed"])
        text = await site.html(f"/project/{name}/webhook", who)
        expected = {
            "deliveries waiting": row["waiting"],
            "deliveries failed": row["failed"],
            "events so far": row["events"],
        }
        yield f"figures of {name}", {key: number(value) for key, value in named_figures(text).items()}, expected
        missed = words(text.split("happened while there was no address")[0].rsplit(">", 1)[1]) if row["unsent"] else ""
        yield f"missed events of {name}", missed, f"{row['unsent']} events" if row["unsent"] else ""
    async for compared in _deliveries(site):
        yield compared


async def _deliveries(site: Site) -> Compared:
    who, values = site.people["helper"], {"id": site.projects["cats"]}
    rows = await site.rows(_DELIVERIES, **values)
    at = "/project/cats/webhook"
    yield "deliveries have more than a page", len(rows) > 25, True
    yield "states", {row["state"] for row in rows}, {*_STATES}
    for query in ("", "orderby=id", "state=failed", "state=waiting", "state=delivered"):
        chosen = [row for row in rows if f"state={row['state']}" == query or not query.startswith("state")]
        chosen = chosen[::-1] if query == "orderby=id" else chosen
        shown = [row for page in await over_pages(site, f"{at}?{query}", who) for row in page.rows("Deliveries")]
        yield f"deliveries {query}", [_read(one) for one in shown], [_expected(row) for row in chosen]
        if query != "orderby=id":
            records = await json_over_pages(site, f"{at}?{query}", "deliveries", who)
            keys = ("id", "sequence", "event", "state", "attempts", "response_status_code")
            yield f"JSON of deliveries {query}", [tuple(one[key] for key in keys) for one in records], [
                (row["id"], row["seq"], row["kind"], row["state"], row["attempts"], row["status"]) for row in chosen
            ]  # fmt: skip
    attempts = await site.rows(_ATTEMPTS, **values)
    tried = [next(row for row in rows if row["state"] == state) for state in _STATES]
    for row in tried:
        own = [one for one in attempts if one["delivery_id"] == row["id"]]
        records = (await site.json(f"{at}/{row['id']}", who))["delivery"]["attempts_made"]
        yield (
            f"attempts of a delivery that is {row['state']}",
            [one["status"] for one in records],
            [one["status"] for one in own],
        )
        page = await read(site, f"{at}/{row['id']}", who)
        headings = [words(one.text) for one in page.page.all("h2") if one.get("id").startswith("a")]
        yield "headings of attempts", headings, [f"Attempt {n}" for n in range(len(own), 0, -1)]
        seconds = [
            words(one.text).split(", ")[-1].split()[0]
            for one in page.page.all("p")
            if "second" in one.text and ", " in words(one.text)
        ]
        yield "seconds of attempts", seconds, [f"{one['seconds']:.2f}" for one in own[::-1]]


def _read(one: dict[str, str]) -> tuple[Any, ...]:
    return (one["Number"].split()[0], one["State"], one["Answer"], one["Seconds"], one["Event"].split()[0])


def _expected(row: Any) -> tuple[Any, ...]:
    seconds = "–" if row["seconds"] is None else f"{row['seconds']:.2f}"
    name = "Test" if row["seq"] is None else str(row["seq"])
    return (name, _STATES[row["state"]], str(row["status"] or "–"), seconds, row["kind"])
