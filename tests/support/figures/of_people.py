"""The figures of what people find of their own, and of an import."""

from __future__ import annotations

from support.figures import Compared, named_figures
from support.figures.lively_site import Site


async def of_people(site: Site) -> Compared:
    """All of them."""
    ada = site.people["ada"]
    values = {"user": ada.user_id}
    runs = await site.rows("SELECT id FROM task_run WHERE user_id = %(user)s ORDER BY id DESC", **values)
    own = await site.json("/account/ada/answers", ada)
    yield "own answers", [one["id"] for one in own["answers"]], [row["id"] for row in runs[:24]]
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
    told = await site.json("/account/ada/favourites", ada)
    yield "favourites", [one["task"]["id"] for one in told["favourites"]], [row["task_id"] for row in marked]
    [listed] = (await site.json("/account/ada/collections", ada))["collections"]
    items = await site.rows(
        "SELECT task_id FROM collection_item WHERE collection_id = %(id)s ORDER BY id DESC", id=listed["id"]
    )
    page = await site.json(f"/account/ada/collections/{listed['id']}", ada)
    yield "collections", listed["n_tasks"], len(items)
    yield "collection", [one["task"]["id"] for one in page["tasks"]], [row["task_id"] for row in items]
    for name in ("ada", "eve", "shy", "owner", "helper"):
        score = await site.one(
            "SELECT count(*) AS n, count(DISTINCT project_id) AS helped FROM task_run r JOIN project p ON p.id = r.project_id"
            " WHERE user_id = %(user)s AND first_published IS NOT NULL AND NOT %(user)s = ANY (owners_ids)",
            user=site.people[name].user_id,
        )
        figures = named_figures(await site.html(f"/account/{name}/", site.people[name]))
        answers = {word: int(number) for word, number in figures.items() if word in ("answer", "answers")}
        yield f"answers of {name}", [*answers.values()], [score["n"]]
    async for compared in _import(site):
        yield compared


async def _import(site: Site) -> Compared:
    """The page of the import: rows read are those added, updated, present and refused."""
    owner, birds = site.people["owner"], site.projects["birds"]
    [newest] = (await site.json("/project/birds/tasks/import", owner))["imports"]
    told = (await site.json(f"/project/birds/tasks/import/{newest['id']}", owner))["import"]
    rows = await site.one(
        "SELECT (SELECT count(*) FROM task WHERE project_id = %(id)s AND info->>'title' IN ('nest', 'egg', 'wing')) AS added,"
        " (SELECT count(*) FROM import_error WHERE import_id = %(import)s) AS refused",
        **{"id": birds, "import": newest["id"]},
    )
    preview = {name: told[name] for name in ("rows", "added", "present", "refused")}
    yield (
        "import",
        preview,
        {"rows": 5, "added": rows["added"], "present": 5 - rows["added"] - rows["refused"], "refused": rows["refused"]},
    )
