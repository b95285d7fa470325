"""Changes of many tasks while people work, and what they would do (`tasks/40_changes.sql`, `46_previews.sql`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdd.database.access import Database, fetch_row, one, one_or_none
from crowdd.features.tasks.list_statements import TaskFilter, ids_of
from crowdd.features.tasks.rows import Effect, Predicted

_RULE = (
    "jsonb_build_object('by', %(by)s::text, 'question', %(question)s::text, 'model', %(model)s::text, 'column', %(column)s::text,"
    " 'share', %(share)s::float8, 'seed', %(seed)s::bigint)"
)

# What is called for each change; %(tasks)s is an array of ids.
_APPLY = {
    "redundancy": "set_redundancy(%(project)s, %(tasks)s, %(n_answers)s, clock())",
    "priority": "set_priority(%(project)s, %(tasks)s, %(priority_0)s)",
    "order": f"set_order(%(project)s, %(tasks)s, {_RULE} || %(scale)s::jsonb)",
    "withdraw": "withdraw(%(project)s, %(tasks)s, %(actor)s, clock())",
    "delete": "delete_tasks(%(project)s, %(tasks)s, clock())",
    "retire": "retire(%(project)s, %(tasks)s, %(reason)s, %(note)s, %(user)s, clock())",
    "reopen": "reopen(%(project)s, %(tasks)s, clock())",
    "recount": "recount(%(project)s, %(tasks)s, clock())",
    "stopping": "set_stopping(%(project)s, %(tasks)s, %(completed)s, clock())",
    "lift": "lift(%(project)s, %(tasks)s, %(actor)s, clock())",
    "analysis": "apply_analysis(%(project)s, %(tasks)s, %(analysis)s, %(user)s, clock())",
    "aside": "set_answers_aside(%(project)s, (%(tasks)s::bigint[])[1], %(runs)s::bigint[], %(reason)s, %(user)s, clock())",
    "back": "take_answers_back(%(project)s, (%(tasks)s::bigint[])[1], %(runs)s::bigint[], clock())",
}
_PREVIEW = {  # {tasks} is an array of ids, null for all tasks
    "redundancy": "preview_redundancy(%(project)s, {tasks}, %(n_answers)s)",
    "priority": "preview_priority(%(project)s, {tasks}, %(priority_0)s)",
    "order": "preview_order(%(project)s, {tasks})",
    "withdraw": "preview_withdraw(%(project)s, {tasks}, %(actor)s)",
    "delete": "preview_delete(%(project)s, {tasks})",
    "retire": "preview_retire(%(project)s, {tasks})",
    "reopen": "preview_reopen(%(project)s, {tasks})",
    "stopping": "preview_stopping(%(project)s, {tasks}, %(min_answers)s, %(confidence)s, %(completed)s)",
    "lift": "preview_lift(%(project)s, {tasks}, %(actor)s)",
    "analysis": "preview_apply_analysis(%(project)s, {tasks}, %(analysis)s)",
}
Chosen = Sequence[int] | TaskFilter | None
"""Tasks by their ids, those that match, or all."""


async def apply(
    db: Database, change: str, project_id: int, task_ids: Sequence[int], values: Mapping[str, object] | None = None
) -> Effect:
    """Changes these tasks; how many it concerned (``tasks``), completed and reopened, and ``answers`` that went."""
    return await fetch_row(
        db,
        Effect,
        f"SELECT * FROM {_APPLY[change]}",
        {**(values or {}), "project": project_id, "tasks": list(task_ids)},
    )


async def preview(db: Database, change: str, project_id: int, chosen: Chosen, values: Mapping[str, object]) -> Effect:
    """What ``apply`` would give at this moment."""
    parameters = {**values, "project": project_id}
    if isinstance(chosen, TaskFilter):
        tasks, parameters = ids_of(chosen), {**parameters, **chosen.values}
    else:
        tasks, parameters["tasks"] = "%(tasks)s::bigint[]", None if chosen is None else list(chosen)
    return await fetch_row(db, Effect, f"SELECT * FROM {_PREVIEW[change].format(tasks=tasks)}", parameters)


async def list_next_tasks(db: Database, project_id: int, after: int, maximum: int) -> list[int]:
    """The ids of the tasks that follow one."""
    rows = await db.fetch(
        "SELECT task_id FROM task_ledger WHERE project_id = %(project)s AND task_id > %(after)s ORDER BY task_id LIMIT %(maximum)s",
        {"project": project_id, "after": after, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]


async def list_tasks_of_volunteer(db: Database, project_id: int, actor: str, maximum: int) -> list[int]:
    """The tasks that a volunteer has answered or holds, by id. Of people without an account it reads the whole index."""
    user = int(actor[2:]) if actor.startswith("u:") else None
    rows = await db.fetch(
        "SELECT task_id FROM task_run WHERE project_id = %(project)s AND actor = %(actor)s"
        f" {'AND user_id = %(user)s' if user is not None else ''}"
        " UNION SELECT task_id FROM lease WHERE project_id = %(project)s AND actor = %(actor)s ORDER BY 1 LIMIT %(maximum)s",
        {"project": project_id, "actor": actor, "user": user, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]


async def find_actor(db: Database, project_id: int, run_id: int) -> str | None:
    """The volunteer of an answer of the project."""
    row = await one_or_none(
        db,
        "SELECT actor FROM task_run WHERE project_id = %(project)s AND id = %(run)s",
        {"project": project_id, "run": run_id},
    )
    return row["actor"] if row else None


async def list_actors(db: Database, project_id: int, task_id: int, run_ids: Sequence[int]) -> list[str]:
    """The volunteers of these answers, as far as they are answers to the task."""
    rows = await db.fetch(
        "SELECT DISTINCT actor FROM task_run WHERE project_id = %(project)s AND task_id = %(task)s AND id = ANY (%(runs)s::bigint[])"
        " ORDER BY 1",
        {"project": project_id, "task": task_id, "runs": list(run_ids)},
    )
    return [row["actor"] for row in rows]


async def count_tasks_ever(db: Database, project_id: int) -> int:
    """How many tasks a project has had, which is at least how many it has."""
    row = await one_or_none(
        db, "SELECT n_ordinals FROM project_ledger WHERE project_id = %(project)s", {"project": project_id}
    )
    return row["n_ordinals"] if row else 0


async def count_tasks(db: Database, project_id: int) -> int:
    """How many tasks a project has now, as its figures say."""
    row = await one_or_none(db, "SELECT n_tasks FROM project_figures WHERE project_id = %(id)s", {"id": project_id})
    return int(row["n_tasks"]) if row else 0


async def find_usual_answers(db: Database, project_id: int) -> int | None:
    """``n_answers`` of the project's first task, for a form to begin with; None without tasks."""
    row = await one_or_none(
        db,
        "SELECT coalesce(max_answers, n_answers) AS n_answers FROM task_ledger WHERE project_id = %(project)s ORDER BY task_id LIMIT 1",
        {"project": project_id},
    )
    return row["n_answers"] if row else None


async def begin_scheduler(db: Database, project_id: int) -> None:
    """Begins to change the scheduler of a project with many tasks."""
    await db.fetch("SELECT begin_scheduler(%(project)s)", {"project": project_id})


async def convert_tasks(db: Database, project_id: int, sched: str, after: int, maximum: int) -> int | None:
    """Makes the next tasks ready for a scheduler; the last of them, None when there are no more."""
    row = await one(
        db,
        "SELECT convert_tasks(%(project)s, %(sched)s, %(after)s, %(maximum)s, clock()) AS last",
        {"project": project_id, "sched": sched, "after": after, "maximum": maximum},
    )
    return None if row["last"] is None else int(row["last"])


async def read_order_scale(db: Database, project_id: int, rule: Mapping[str, object]) -> str | None:
    """What the priorities of an order depend on beside its rule, as JSON; None if nothing is known of an open task."""
    row = await one(
        db,
        "SELECT CASE WHEN s.scale IS NOT NULL THEN jsonb_build_object('counts', s.counts, 'scale', s.scale)::text END AS scale"
        f" FROM read_order_scale(%(project)s, {_RULE}) s",
        {**rule, "project": project_id},
    )
    scale: str | None = row["scale"]
    return scale


async def read_predicted(db: Database, project_id: int) -> Predicted:
    """Questions and models of the newest 1,000 predictions, by name."""
    return await fetch_row(
        db,
        Predicted,
        "SELECT coalesce(array_agg(DISTINCT question ORDER BY question), '{}') AS questions,"
        " coalesce(array_agg(DISTINCT model ORDER BY model), '{}') AS models"
        " FROM (SELECT question, model FROM prediction WHERE project_id = %(project)s ORDER BY id DESC LIMIT 1000) p",
        {"project": project_id},
    )
