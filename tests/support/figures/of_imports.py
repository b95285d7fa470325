"""The figures of imports: one that has ended, one that is under way, and the list of them."""

from __future__ import annotations

import re

from support.figures import Compared, named_figures
from support.figures.lively_site import Site
from support.figures.reading import number, read

_COUNTED = """
SELECT (SELECT count(*) FROM task WHERE project_id = %(id)s AND info->>'title' IN ('nest', 'egg', 'wing')) AS added,
       (SELECT count(*) FROM import_error WHERE import_id = %(import)s) AS refused"""
_MOVING = """
SELECT i.rows, i.added, i.present, i.refused, q.done, q.total, extract(epoch FROM q.progressed - q.began) AS seconds
  FROM task_import i JOIN queue_item q ON q.id = i.queue_item WHERE i.id = %(import)s"""
_SUM = r"Rows: (\d+) = (\d+) added \+ (\d+) already there \+ (\d+) refused"


async def of_imports(site: Site) -> Compared:
    """All of them: rows read are those added, present and refused."""
    owner, birds = site.people["owner"], site.projects["birds"]
    at = "/project/birds/tasks/import"
    listed = (await site.json(at, owner))["imports"]
    ended = next(one for one in listed if one["id"] != site.moving)
    counts = await site.one(_COUNTED, **{"id": birds, "import": ended["id"]})
    rows = 5
    expected = [rows, counts["added"], rows - counts["added"] - counts["refused"], counts["refused"]]
    shown = (await site.json(f"{at}/{ended['id']}", owner))["import"]
    for name, one in (("import", shown), ("imports", ended)):
        yield f"JSON of {name}", [one[key] for key in ("rows", "added", "present", "refused")], expected
    page = await read(site, f"{at}/{ended['id']}", owner)
    sums = re.search(_SUM, page.words)
    yield "sum of the import", sums and [int(n) for n in sums.groups()], expected
    yield "rows of the import", re.findall(r"(\d+) rows? ·", page.words), [str(rows)]
    figures = named_figures(await site.html(f"{at}/{ended['id']}", owner))
    yield "figures of the import", [int(n) for n in figures.values()], [expected[1], 0, expected[2], expected[3]]
    lines = (await read(site, at, owner)).words
    yield "list of imports", f"{expected[1]} tasks added · {expected[3]} refused" in lines or lines, True
    row = await site.one(_MOVING, **{"import": site.moving})
    over = row["added"] + row["present"] + row["refused"]
    text = await site.html(f"{at}/{site.moving}", owner)
    speed = round(row["done"] / row["seconds"]) or 1
    figures = {name: number(value) for name, value in named_figures(text).items()}
    expected_figures = {"added": row["added"], "already there": row["present"], "refused": row["refused"]}
    yield "figures of the import under way", figures, expected_figures
    words = (await read(site, f"{at}/{site.moving}", owner)).words
    yield "rows left", f"{row['rows'] - over} row left" in words or words, True
    yield "rows per second", f"{speed} row per second" in words or words, True
    live = await site.json(f"{at}/{site.moving}/live", owner)
    shown = [
        live[key]
        for key in ("rows", "added", "present", "refused", "left", "done", "total", "rows_per_second", "seconds_left")
    ]
    seconds = round((row["total"] - row["done"]) * row["seconds"] / row["done"])
    yield "JSON of the import under way", shown, [
        row["rows"], row["added"], row["present"], row["refused"], row["rows"] - over, row["done"], row["total"], speed, seconds,
    ]  # fmt: skip
