"""Long lists of tasks, on all their pages and as JSON."""

from __future__ import annotations

import re

from support.figures import Compared
from support.figures.lively_site import Site
from support.figures.reading import over_pages, words

_TASKS = """
SELECT t.id, l.n_answers, (SELECT count(*) FROM task_run r WHERE r.project_id = t.project_id AND r.task_id = t.id ) AS given
  FROM task t JOIN task_ledger l ON l.project_id = t.project_id AND l.task_id = t.id WHERE t.project_id = %(id)s ORDER BY t.id"""


async def of_lists(site: Site) -> Compared:
    """All of them."""
    yield "tasks have several pages", len(await site.rows(_TASKS, id=site.projects["paused"])) > 25, True
    for name in ("paused", "birds", "finished"):
        rows = await site.rows(_TASKS, id=site.projects[name])
        pages = await over_pages(site, f"/project/{name}/tasks/browse?per_page=25", site.people["owner"])
        shown = [one for page in pages for one in page.page.all("tr") if one.get("data-row")]
        yield (
            f"pages of tasks of {name}",
            sorted(int(one.get("data-row")) for one in shown),
            [row["id"] for row in rows],
        )
        answers = {int(one.get("data-row")): re.search(r"(\d+) / (\d+)", words(one.text)) for one in shown}
        counts = {task: match and tuple(map(int, match.groups())) for task, match in answers.items()}
        yield f"answers of tasks of {name}", counts, {row["id"]: (row["given"], row["n_answers"]) for row in rows}
