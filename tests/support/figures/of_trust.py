"""The figures of trust in answers: how tasks were complete, the review's queue, and what is known of volunteers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from support.figures import Compared
from support.figures.lively_site import Site
from support.figures.reading import read

_RESULTS = """
SELECT x.reason, x.confidence, cardinality(x.task_run_ids) AS answers, x.saved FROM result x JOIN task_ledger l USING (project_id, task_id)
 WHERE x.project_id = %(id)s AND x.last_version AND x.reason IS NOT NULL AND l.done"""
_PEERS = """
SELECT w.word, sum(x.posterior[r.class]::float8) / count(*) AS agreement
  FROM result x JOIN task_run r ON r.project_id = x.project_id AND r.id = ANY (x.task_run_ids) AND r.class IS NOT NULL
  JOIN volunteer_word w ON w.project_id = r.project_id AND w.actor = r.actor
 WHERE x.project_id = %(id)s AND x.last_version AND x.posterior IS NOT NULL GROUP BY 1"""


async def of_trust(site: Site) -> Compared:
    """Of the project whose first answer field is a label. Volunteers are compared when evidence is folded."""
    who, values = site.people["helper"], {"id": site.projects["cats"]}
    rows = await site.rows(_RESULTS, **values)
    reasons = Counter(row["reason"] for row in rows)
    document = await site.json("/project/cats/adaptive", who)
    figures = document["figures"]
    yield "cats: reasons", {name: figures[name] for name in ("sure", "full", "none", "expert")}, {
        name: reasons[name] for name in ("sure", "full", "none", "expert")
    }  # fmt: skip
    yield "cats: answers saved", figures["below_maximum"], sum(row["saved"] for row in rows)
    mean = sum(row["answers"] for row in rows) / len(rows) if rows else None
    yield "cats: answers per completed task", mean and round(figures["mean_answers"], 6), mean and round(mean, 6)
    page = await read(site, "/project/cats/adaptive", who)
    yield "cats: figures of trust on the page", f"No answer fits {reasons['none']} " in f"{page.words} ", True
    review = await site.json("/project/cats/review", who)
    waiting = [row for row in rows if row["reason"] != "expert"]
    yield "cats: tasks to review", len(review["tasks"]), min(25, len(waiting))
    yield "cats: counts of the review", {name: review["counts"][name] for name in ("none", "full", "sure")}, {
        name: reasons[name] for name in ("none", "full", "sure")
    }  # fmt: skip
    confidences = [row["model"] or 0 for row in review["tasks"] if row["reason"] == "full"]
    yield "cats: order of the review", confidences, sorted(confidences)
    if await site.rows("SELECT FROM evidence WHERE project_id = %(id)s LIMIT 1", **values):
        return
    listed = await site.json("/project/cats/volunteers", who)
    known = {
        one["volunteer"]: known["agreement"] for one, known in zip(listed["volunteers"], listed["known"], strict=True)
    }
    peers: dict[str, Any] = {row["word"]: row["agreement"] for row in await site.rows(_PEERS, **values)}
    for word, agreement in known.items():
        if word in peers:
            yield f"cats: agreement of {word}", agreement and round(agreement, 4), round(peers[word], 4)
