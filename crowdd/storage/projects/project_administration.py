"""All projects, for administrators."""

from __future__ import annotations

from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.database import Database, fetch_rows
from crowdd.storage.projects.list_rows import AdministeredProject

STATES = ("draft", "published", "paused")
ORDERS = {"id": ("id",), "name": ("lower(name)",)}
"""By what projects can be sorted, and the columns of the index for it."""
_STATE = "(CASE WHEN published THEN 'published' WHEN first_published IS NULL THEN 'draft' ELSE 'paused' END)"


async def listed(
    db: Database, place: Keyset, *, state: str | None, owner: str | None
) -> KeysetPage[AdministeredProject]:
    """A page of projects: all in one of ORDERS, or those in a state or of an owner (a user name) in the order of ids.

    The figures are those of the pages of the projects; they are read for this page alone.
    """
    keys = ORDERS[place.order]
    where = [place.beside("project", "id", keys)]
    where += [f"{_STATE} = %(state)s"] if state else []
    where += ["owner_id = (SELECT id FROM account WHERE lower(name) = lower(%(owner)s))"] if owner else []
    rows = await fetch_rows(
        db,
        AdministeredProject,
        "SELECT p.id, p.name, p.short_name, a.name AS owner, p.state, p.featured, p.created, f.n_tasks,"
        " f.runs_anonymous + f.runs_authenticated AS n_task_runs, last_activity(p.id) AS last_activity"
        f" FROM (SELECT *, {_STATE} AS state, row_number() OVER () AS nth FROM ("
        f"SELECT * FROM project WHERE {' AND '.join(where)} {place.limited(keys)}) x) p"
        " JOIN account a ON a.id = p.owner_id"
        " CROSS JOIN LATERAL (SELECT * FROM project_figures WHERE project_id = p.id OFFSET 0) f ORDER BY p.nth",
        {**place.values(), "state": state, "owner": owner},
    )
    return place.part(rows)
