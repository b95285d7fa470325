"""SQL of contributing: hand out tasks, take answers, manage leases, and create, change and find tasks.

Handing out and taking in are each one call of one function (`tasks/20_submission.sql`, `30_assignment.sql` and `36_leases.sql`). The wide row of a task and its
ledger change together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter

from crowdd.core.records.projection_statements import in_json, json_of
from crowdd.core.records.statements import MAX_LIST_BYTES
from crowdd.database.access import (
    Database,
    Prepared,
    as_json,
    fetch_each,
    fetch_row,
    fetch_row_or_none,
    fetch_rows,
    one,
    one_or_none,
)
from crowdd.features.tasks.rows import Amended, Answer, Ask, Handed, Progress, Renewal, StoredPrediction, Submitted
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.roles import Role
from crowdd.kinds.task import TASK

# What a volunteer who was handed a task may see of it.
VOLUNTEER = frozenset({Role.ANYBODY, Role.UNLOCKED})
ASK = Prepared(
    # A look-up for each task, never a join with all tasks of the project.
    "SELECT n.state, n.retry_in, n.lapsed, within_bytes(ARRAY("
    f"SELECT (SELECT {json_of(TASK, VOLUNTEER, info='shown_info')} FROM handed_out t"
    "          WHERE t.project_id = n.project AND t.id = u.id) FROM unnest(n.tasks) WITH ORDINALITY u(id, o) ORDER BY o),"
    f" {MAX_LIST_BYTES}) AS tasks FROM ask_many(%(asks)s, %(wait)s, clock()) n ORDER BY n.nth",
    asks="jsonb",
    wait="boolean",
    base_url="text",
)
# Words are made when all tasks are locked, in one order of volunteers: two such statements never wait for each other.
SUBMIT = Prepared(
    "SELECT r.*, CASE WHEN r.state IN ('counted', 'late', 'surplus') THEN coalesce("
    "(SELECT word FROM volunteer_word WHERE project_id = r.project AND actor = r.actor), volunteer_word(r.project, r.actor)) END AS volunteer,"
    " CASE WHEN r.state NOT IN ('counted', 'duplicate') AND r.run IS NOT NULL THEN gold_feedback(r.project, r.run) END AS feedback FROM ("
    "SELECT s.*, now_ AS finish_time FROM clock() now_, submit_many(%(answers)s, %(hurry)s, now_) s ORDER BY project, actor OFFSET 0) r",
    answers="jsonb",
    hurry="boolean",
)


async def has_asked(db: Database, actor: str, task_ids: Sequence[int]) -> bool:
    """Whether a volunteer holds, held or has answered one of these tasks."""
    sql = (
        "SELECT EXISTS (SELECT FROM task t WHERE t.id = ANY (%(tasks)s) AND ("
        " EXISTS (SELECT FROM lease l WHERE l.project_id = t.project_id AND l.actor = ANY (actors_of(t.project_id, %(actor)s)) AND l.task_id = t.id)"
        " OR EXISTS (SELECT FROM expired_lease l WHERE l.project_id = t.project_id AND l.actor = ANY (actors_of(t.project_id, %(actor)s)) AND l.task_id = t.id)"
        " OR EXISTS (SELECT FROM task_run r WHERE r.project_id = t.project_id AND r.task_id = t.id AND r.actor = ANY (actors_of(t.project_id, %(actor)s))))) AS asked"
    )
    return bool((await one(db, sql, {"actor": actor, "tasks": list(task_ids)}))["asked"])


def build_ask(who: Requester, project_id: int, limit: int, offset: int, scan: str, network: str = "") -> Ask:
    """An ask for tasks ``offset`` to ``offset + limit`` of a volunteer's sequence; ``network`` as the project knows it."""
    return {
        "me": who.user_id,
        "is_admin": who.admin,
        "unlocked": list(who.unlocked),
        "actor": who.actor,
        "network": network,
        "project": project_id,
        "maximum": limit,
        "skip": offset,
        "scan": scan,
        "also": who.also,
    }


async def lease_next_tasks(db: Database, asks: Sequence[Ask], base_url: str, *, wait: bool) -> list[Handed]:
    """A row per request; its tasks are JSON texts as the volunteer may see them.

    ``lapsed`` is not 0 where leases were taken back, by which late answers may count and figures change.

    State "again" means that the request has to be repeated alone: without ``wait`` the statement does not wait for locks; and
    a task that was added while it ran is handed out, but only the next statement can read it.
    """
    rows = await fetch_rows(db, Handed, ASK, ask_values(asks, base_url, wait=wait))
    return [{**row, "state": "again"} if None in (row["tasks"] or ()) else row for row in rows]


def ask_values(asks: Sequence[Ask], base_url: str, *, wait: bool) -> dict[str, object]:
    """The values of ASK."""
    return {"asks": as_json(asks), "wait": wait, "base_url": in_json(base_url)}


async def limit_time(tx: Database, seconds: int) -> None:
    """Ends each further statement of the transaction after so many seconds (StatementTimeoutError), on one processor."""
    sql = "SELECT set_config('statement_timeout', %(time)s, true), set_config('max_parallel_workers_per_gather', '0', true)"
    await tx.fetch(sql, {"time": f"{seconds}s"})


async def lease_task(db: Database, who: Requester, network: str, project_id: int, task_id: int) -> str:
    """Hands out one named task; says leased, late, answered, paused, no task, no project, locked, members only or barred."""
    row = await one(
        db,
        "SELECT lease_task(%(project)s, %(actor)s, %(me)s, %(is_admin)s, %(unlocked)s::text[], %(task)s, clock(), %(network)s, %(also)s) AS state",
        {
            **who.entry_values(),
            "actor": who.actor,
            "also": who.also,
            "network": network,
            "project": project_id,
            "task": task_id,
        },
    )
    return str(row["state"])


def build_answer(who: Requester, values: Values, address: str | None) -> Answer:
    """An answer of a volunteer, with the values of its body; ``address`` stands for the network of an anonymous one."""
    return {
        "project": values["project_id"],
        "actor": who.actor,
        "task": values["task_id"],
        "user_id": who.user_id if who.external_uid is None else None,
        "ip": address,
        "external": who.external_uid,
        "info": values["info"],
        "calibration": values.get("calibration"),
        "media_url": values.get("media_url"),
        "also": who.also,
        "circumstances": values.get("circumstances"),
    }


async def submit_answers(db: Database, answers: Sequence[Answer], *, hurry: bool = False) -> list[Submitted]:
    """A row per answer: ``state`` and, when it was stored, run, granted, finish_time, late_seconds and volunteer.

    With ``hurry`` UnavailableError comes soon where another transaction holds a task for long.
    """
    rows = await fetch_rows(db, Submitted, SUBMIT, submit_values(answers, hurry=hurry))
    return sorted(rows, key=itemgetter("nth"))


def submit_values(answers: Sequence[Answer], *, hurry: bool) -> dict[str, object]:
    """The values of SUBMIT."""
    return {"answers": as_json(answers), "hurry": hurry}


async def find_stored_answer(db: Database, answer: Answer, run: int) -> Submitted | None:
    """The run as a row of ``submit_answers`` where it is exactly this answer, stored before; else None."""
    return await fetch_row_or_none(
        db,
        Submitted,
        "SELECT 'counted' AS state, id AS run, created AS granted, finish_time, timeout AS late_seconds, volunteer,"
        " CASE WHEN gold THEN gold_feedback(project_id, id) END AS feedback"
        " FROM task_run_record"
        " WHERE project_id = %(project)s AND id = %(run)s AND info = %(info)s",
        {"project": answer["project"], "run": run, "info": as_json(answer["info"])},
    )


async def correct_answer(
    db: Database, who: Requester, network: str, project_id: int, task_id: int, info: object
) -> Amended:
    """Changes ``info`` of the volunteer's own answer to a task."""
    return await fetch_row(
        db,
        Amended,
        "SELECT * FROM amend_answer(%(project)s, %(actor)s, %(task)s, %(info)s, clock(), %(network)s)",
        {"project": project_id, "actor": who.actor, "network": network, "task": task_id, "info": as_json(info)},
    )


async def rewrite_answer(db: Database, project_id: int, run_id: int, changes: Values, *, admin: bool) -> Amended:
    """Changes ``info`` and ``calibration`` of an answer as its author, or (``admin``) as an administrator."""
    row = await fetch_row_or_none(
        db,
        Amended,
        "SELECT a.* FROM task_run r CROSS JOIN LATERAL amend_answer(r.project_id, r.actor, r.task_id, %(info)s::jsonb, clock(), '',"
        " %(calibration)s::jsonb, %(admin)s) a WHERE r.project_id = %(project)s AND r.id = %(run)s",
        {
            "project": project_id,
            "run": run_id,
            **{name: as_json(changes[name]) if name in changes else None for name in ("info", "calibration")},
            "admin": admin,
        },
    )
    return row or Amended("none", None)


async def delete_run(db: Database, project_id: int, run_id: int) -> bool:
    """Deletes an answer; its task is re-opened when it counted."""
    row = await one(
        db, "SELECT delete_run(%(project)s, %(run)s, clock()) AS done", {"project": project_id, "run": run_id}
    )
    return bool(row["done"])


_PROGRESS = {
    column: Prepared(
        "SELECT p.* FROM unnest(%(actors)s, %(projects)s) WITH ORDINALITY a(actor, project, nth) LEFT JOIN LATERAL ("
        "SELECT p.id, CASE WHEN EXISTS (SELECT FROM same_person s WHERE s.actor = a.actor AND s.project_id IN (0, p.id))"
        " THEN least(answered_in(p.id, a.actor), n.total) ELSE r.runs END AS done, n.total,"
        " CASE WHEN p.shows_accuracy THEN shown_accuracy(p.id, a.actor) END AS accuracy,"
        " p.lock_id, p.owners_ids, p.first_published IS NOT NULL AS published, p.draft_key"
        " FROM project p CROSS JOIN LATERAL runs_in(p.id, a.actor) r CROSS JOIN LATERAL tasks_in(p.id) t"
        " CROSS JOIN LATERAL (SELECT t.tasks + coalesce((SELECT n_gold FROM project_ledger l WHERE l.project_id = p.id), 0) AS total) n"
        f" WHERE p.{column} = a.project OFFSET 0) p ON true ORDER BY a.nth",
        actors="text[]",
        projects=type_,
    )
    for column, type_ in {"id": "bigint[]", "short_name": "text[]"}.items()
}
ActorIn = tuple[str, int | str]
"""A volunteer's ``actor``, and a project by its id or its short name."""


async def read_progress(db: Database, actor: str, project: int | str) -> Progress | None:
    """Tasks that a person has answered, and tasks of a project named by id or short name, gold tasks among them."""
    return (await read_progress_together(db, choose_project_column(project), [(actor, project)]))[0]


def choose_project_column(project: int | str) -> str:
    """The column that names a project: id or short_name."""
    return "id" if isinstance(project, int) else "short_name"


async def read_progress_together(db: Database, column: str, wanted: Sequence[ActorIn]) -> list[Progress | None]:
    """The same of several volunteers, in their order, whose projects are all named by one column."""
    actors, projects = [actor for actor, _ in wanted], [project for _, project in wanted]
    return await fetch_each(db, Progress, _PROGRESS[column], {"actors": actors, "projects": projects})


async def tells_gold(db: Database, project_id: int) -> bool:
    """Whether a project has gold tasks, and volunteers hear if their answers to these were right."""
    sql = "SELECT n_gold > 0 AND gold_feedback AS tells FROM project_ledger WHERE project_id = %(project)s"
    row = await one_or_none(db, sql, {"project": project_id})
    return bool(row and row["tells"])


async def renew_lease(db: Database, who: Requester, network: str, project_id: int, task_id: int) -> Renewal:
    """What became of the lease."""
    return await fetch_row(
        db,
        Renewal,
        "SELECT r.state, extract(epoch FROM r.ends - now_)::float8 AS left FROM clock() now_,"
        " renew_task(%(project)s, %(actor)s, %(me)s, %(is_admin)s, %(unlocked)s::text[], %(task)s, now_, %(network)s) r",
        {**who.entry_values(), "actor": who.actor, "network": network, "project": project_id, "task": task_id},
    )


async def give_back_leases(db: Database, actor: str, project_id: int, task_ids: Sequence[int], skip: bool) -> int:
    """Ends leases of a volunteer; how many there were."""
    row = await one(
        db,
        "SELECT give_back(%(project)s, %(actor)s, %(tasks)s::bigint[], %(skip)s, clock()) AS n",
        {"project": project_id, "actor": actor, "tasks": list(task_ids), "skip": skip},
    )
    return int(row["n"])


async def count_held_by_others(db: Database, actor: str, project_id: int) -> int:
    """How many unfinished tasks others have leased that the volunteer could answer; 100 stands for 100 or more."""
    row = await one(db, "SELECT held_by_others(%(project)s, %(actor)s) AS n", {"project": project_id, "actor": actor})
    return int(row["n"])


async def count_skip(db: Database, actor: str, project_id: int, task_id: int, reason: str) -> None:
    """Counts the reason for which a volunteer skipped a task, once for each volunteer; which volunteer gave it is not kept."""
    await db.execute(
        "SELECT count_skip(%(project)s, %(actor)s, %(task)s, %(reason)s, clock())",
        {"actor": actor, "project": project_id, "task": task_id, "reason": reason},
    )


async def list_skips(db: Database, project_id: int, task_id: int) -> dict[str, int]:
    """How often a task was skipped, by reason."""
    rows = await db.fetch(
        "SELECT reason, n FROM task_skip WHERE project_id = %(project)s AND task_id = %(task)s ORDER BY reason",
        {"project": project_id, "task": task_id},
    )
    return {row["reason"]: row["n"] for row in rows}


_IN_LEDGER = frozenset({"n_answers", "priority_0"})


async def insert_tasks(db: Database, project_id: int, tasks: Sequence[Mapping[str, object]]) -> list[int]:
    """The ids of new tasks (info, n_answers, priority_0, quorum, calibration each), in the order given.

    Raises NotFoundError when the project has been deleted meanwhile.
    """
    row = await one(
        db, "SELECT add_tasks(%(project)s, %(tasks)s, clock()) AS ids", {"project": project_id, "tasks": as_json(tasks)}
    )
    if row["ids"] is None:
        raise NotFoundError("The project has been deleted.")
    return list(row["ids"])


async def lock_task(db: Database, task_id: int) -> None:
    """Holds the ledger row of a task, which comes before everything else about it, and that of its project before."""
    await db.fetch(
        "SELECT FROM project_ledger WHERE project_id = (SELECT project_id FROM task WHERE id = %(id)s) FOR NO KEY UPDATE",
        {"id": task_id},
    )
    await db.fetch(
        "SELECT FROM task_ledger WHERE (project_id, task_id) = (SELECT project_id, id FROM task WHERE id = %(id)s) FOR UPDATE",
        {"id": task_id},
    )


async def update_task(db: Database, project_id: int, task_id: int, changes: Mapping[str, object]) -> None:
    """Writes changed attributes where each belongs; completion follows n_answers at once."""
    here = {"project": project_id, "task": task_id, "tasks": [task_id]}
    if "n_answers" in changes:
        await db.fetch(
            "SELECT set_redundancy(%(project)s, %(tasks)s, %(n)s, clock())", {**here, "n": changes["n_answers"]}
        )
    if "priority_0" in changes:
        await db.fetch(
            "SELECT set_priority(%(project)s, %(tasks)s, %(priority)s)", {**here, "priority": changes["priority_0"]}
        )
    wide = {name: as_json(v) if name == "info" else v for name, v in changes.items() if name not in _IN_LEDGER}
    if wide:
        sets = ", ".join(f"{name} = %({name})s" for name in wide)
        await db.execute(f"UPDATE task SET {sets} WHERE project_id = %(project)s AND id = %(task)s", {**here, **wide})


async def find_project(db: Database, task_id: int) -> int | None:
    """The project of a task: the one look-up of a task without its project."""
    row = await one_or_none(db, "SELECT project_id FROM task WHERE id = %(id)s", {"id": task_id})
    return row["project_id"] if row else None


async def hold_imports(db: Database, project_id: int, *, gold: bool = False) -> int:
    """Makes others who add tasks wait until the transaction ends, and says how many the project has had so far.

    ``gold``: some may come with their right answers. Raises NotFoundError when there is no such project.
    """
    if gold:  # the project first: it will be marked as one that has gold tasks
        await db.fetch("SELECT FROM project WHERE id = %(id)s FOR NO KEY UPDATE", {"id": project_id})
    row = await one_or_none(
        db, "SELECT n_ordinals FROM project_ledger WHERE project_id = %(id)s FOR UPDATE", {"id": project_id}
    )
    if row is None:
        raise NotFoundError("The project has been deleted.")
    return int(row["n_ordinals"])


async def count_digests(db: Database, project_id: int) -> Counter[str]:
    """How many tasks of the project have each digest: that of ``info`` as PostgreSQL writes it."""
    rows = await db.fetch(
        "SELECT md5(info::text) AS digest, count(*) AS n FROM task WHERE project_id = %(id)s GROUP BY 1",
        {"id": project_id},
    )
    return Counter({row["digest"]: row["n"] for row in rows})


async def compute_digests(db: Database, infos: Sequence[object]) -> list[str]:
    """The digests of values as tasks with this ``info`` would have them, in order."""
    rows = await db.fetch(
        "SELECT md5(e::text) AS digest FROM jsonb_array_elements(%(infos)s) WITH ORDINALITY u(e, o) ORDER BY o",
        {"infos": as_json(infos)},
    )
    return [row["digest"] for row in rows]


_PREDICTIONS = (
    "jsonb_to_recordset(%(rows)s) AS r(nth bigint, project_id bigint, task_id bigint, model text, version text, question text, value jsonb,"
    " probability double precision)"
)


async def store_predictions(tx: Database, rows: Sequence[Values]) -> list[StoredPrediction]:
    """The ids of predictions by their places in ``rows``, new ones or those that were there; none for a task that is not.

    One of the same model and version for the same question of a task takes the new value. ``rows`` name each once.
    """
    stored_rows = await tx.fetch(
        f"WITH r AS (SELECT r.* FROM {_PREDICTIONS} JOIN task t ON t.project_id = r.project_id AND t.id = r.task_id),"
        " stored AS (INSERT INTO prediction AS p (created, project_id, task_id, model, version, question, value, probability)"
        " SELECT clock(), project_id, task_id, model, version, question, coalesce(value, 'null'), probability FROM r ORDER BY nth"
        " ON CONFLICT (project_id, task_id, question, model, version) DO UPDATE SET value = excluded.value, probability = excluded.probability,"
        " created = CASE WHEN p.value = excluded.value THEN p.created ELSE excluded.created END RETURNING *)"
        " SELECT r.nth, s.id FROM r JOIN stored s USING (project_id, task_id, question, model, version)",
        {"rows": as_json([{**row, "nth": nth} for nth, row in enumerate(rows)])},
    )
    return [StoredPrediction(nth=row["nth"], id=row["id"]) for row in stored_rows]
