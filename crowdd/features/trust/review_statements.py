"""SQL of the review: the queue, decisions (`review/56_review.sql`), and figures and rows for replays.

The queue is read in pages of the index ``result_review``.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, fetch_row, fetch_row_or_none, fetch_rows, one_or_none
from crowdd.features.trust import decision_statements
from crowdd.features.trust.rows import (
    CheckedResult,
    Decided,
    GoldRun,
    ReplayedRun,
    ReviewCase,
    ReviewCounts,
    ReviewedRun,
    ReviewedTask,
    ReviewOpinion,
    TrustFigures,
)
from crowdd.kernel.values import Json

QUEUE = ("none", "full", "sure", "analysis")
"""Reasons of results in the order in which their tasks are shown."""
DECIDED = ("expert",)
MAX_COUNTED = 1000
MAX_DOUBTED = 500
"""How many of the tasks that stopped early are recalculated, the least certain first, to find those that are no longer sure."""
_MAX_INFO_BYTES = 4000  # of a task; of a larger one nothing is shown
_OPEN_OPINIONS = (
    "SELECT count(*)::int FROM review_opinion o WHERE o.project_id = r.project_id AND o.task_id = r.task_id"
    " AND o.result_id IS NULL"
)
_OPEN_COMMENTS = "SELECT count(*)::int FROM task_comment c WHERE c.project_id = r.project_id AND c.task_id = r.task_id AND NOT c.settled"
_COMPLETE = (
    "EXISTS (SELECT FROM task_ledger l WHERE l.project_id = r.project_id AND l.task_id = r.task_id AND l.done)"
    " AND NOT EXISTS (SELECT FROM gold_task g WHERE g.project_id = r.project_id AND g.task_id = r.task_id)"
)
_WAITS = (
    f"{_COMPLETE} AND NOT EXISTS (SELECT FROM review_opinion o WHERE o.project_id = r.project_id AND o.task_id = r.task_id"
    " AND o.user_id = %(me)s AND o.result_id IS NULL)"
)
# Tasks of which the last analyses by both methods that are offered first say something else than the result, which no expert has decided.
_LAST_ANALYSIS = "(SELECT id, choices FROM analysis WHERE project_id = %(project)s AND method = '{method}' AND ended IS NOT NULL ORDER BY id DESC LIMIT 1)"
_OTHER = (
    "a.different AND b.different AND a.class IS NOT NULL AND b.class IS NOT NULL"
    " AND x.choices->(a.class - 1) IS DISTINCT FROM r.consensus AND y.choices->(b.class - 1) IS DISTINCT FROM r.consensus"
)
_DISPUTED = (
    f"SELECT a.task_id FROM {_LAST_ANALYSIS.format(method='one_coin')} x JOIN analysis_task a ON a.project_id = %(project)s AND a.analysis_id = x.id"
    f" CROSS JOIN {_LAST_ANALYSIS.format(method='dawid_skene')} y JOIN analysis_task b ON b.project_id = %(project)s AND b.analysis_id = y.id AND b.task_id = a.task_id"
    " JOIN result r ON r.project_id = %(project)s AND r.task_id = a.task_id AND r.last_version AND r.reason <> 'expert'"
    f" WHERE {_OTHER}"
)
_UNDECIDED = " AND r.reason IS DISTINCT FROM 'expert'"
_BEHIND = "(coalesce(r.confidence, 0), r.task_id) > (b.confidence, b.task_id)"
_FIRST = "ORDER BY coalesce(r.confidence, 0), r.task_id LIMIT %(maximum)s"
_OF_REASON = "r.project_id = %(project)s AND r.last_version AND r.reason = w.reason"


@attrs.frozen
class Wanted:
    """Which tasks: those with these ``reasons``, in this order, or ``special`` ones: opinions, commented, doubted, disputed, ruled or
    agreement.

    ``class_``: only results of this class, 0 for those without one, None for all. ``after``: behind the result with
    this id. ``me``: tasks of which this account has said what it thinks are left out of the queue.
    """

    reasons: Sequence[str] = QUEUE
    special: str = ""
    class_: int | None = None
    after: int | None = None
    me: int | None = None


async def list_queue(db: Database, project_id: int, wanted: Wanted, maximum: int, *, owns: bool) -> list[ReviewedTask]:
    """The next tasks, least certain first within each reason. Reads ``maximum`` index entries per reason and class."""
    return await fetch_rows(
        db,
        ReviewedTask,
        f"""
        WITH here AS MATERIALIZED (
            SELECT coalesce(array_position(%(reasons)s::text[], reason), 0) AS rank, coalesce(confidence, 0) AS confidence, task_id, agreement, id
              FROM result WHERE project_id = %(project)s AND id = %(after)s),
        found AS MATERIALIZED ({_special(wanted.special) if wanted.special else _queue(wanted.class_)})
        SELECT r.id AS result_id, r.task_id, r.class::int AS class_, printed_confidence(r)::numeric::float8 AS confidence,
               model_value(r)::numeric::float8 AS model, CASE WHEN r.n_compared > 1 THEN r.agreement::numeric::float8 END AS agreement, r.reason,
               cardinality(r.task_run_ids) AS answers, ({_OPEN_OPINIONS}) AS opinions, ({_OPEN_COMMENTS}) AS comments,
               CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS info
          FROM found f JOIN result r ON r.project_id = %(project)s AND r.id = f.id
          JOIN {record_statements.task_relation(owns=owns)} t ON t.project_id = r.project_id AND t.id = r.task_id
         ORDER BY f.rank, f.confidence, f.task_id""",
        {
            "project": project_id,
            "reasons": list(wanted.reasons),
            "class": wanted.class_,
            "after": wanted.after,
            "me": wanted.me,
            "maximum": maximum,
        },
    )


def _queue(class_: int | None) -> str:
    """The first ones of each reason and class, merged. Each class is a part of the index."""
    columns = "SELECT r.id, coalesce(r.confidence, 0) AS confidence, r.task_id FROM result r"
    where = f"{_OF_REASON} AND {_BEHIND} AND {_WAITS}"
    classes = "SELECT coalesce(%(class)s::int, n)::smallint AS class FROM generate_series(1, CASE WHEN %(class)s IS NULL THEN (SELECT k FROM trust_model WHERE project_id = %(project)s) ELSE 1 END) n"
    of_classes = (
        f"(SELECT x.* FROM ({classes}) c CROSS JOIN LATERAL ({columns} WHERE {where} AND r.class = c.class {_FIRST}) x)"
    )
    without = f"({columns} WHERE {where} AND r.class IS NULL {_FIRST})"
    parts = [] if class_ == 0 else [of_classes]
    parts += [without] if not class_ else []
    return (
        "SELECT w.rank, x.* FROM unnest(%(reasons)s::text[]) WITH ORDINALITY w(reason, rank) LEFT JOIN here ON true"
        " CROSS JOIN LATERAL (SELECT CASE WHEN w.rank = here.rank THEN here.confidence ELSE -1 END AS confidence,"
        " CASE WHEN w.rank = here.rank THEN here.task_id ELSE 0 END AS task_id) b"
        f" CROSS JOIN LATERAL ({' UNION ALL '.join(parts)}) x WHERE w.rank >= coalesce(here.rank, 0)"
        " ORDER BY w.rank, x.confidence, x.task_id LIMIT %(maximum)s"
    )


def _special(which: str) -> str:
    """Tasks for which a second opinion is wanted, with open comments, doubted, disputed or ruled ones, in the order of their ids."""
    if which == "disputed":
        return (
            "SELECT 1 AS rank, r.id, 0::real AS confidence, r.task_id FROM ("
            f"{_DISPUTED} AND a.task_id > coalesce((SELECT task_id FROM here), 0)) o"
            " JOIN result r ON r.project_id = %(project)s AND r.task_id = o.task_id AND r.last_version"
            f" WHERE {_COMPLETE} ORDER BY r.task_id LIMIT %(maximum)s"
        )
    if which == "agreement":
        return decision_statements.by_agreement(_COMPLETE)
    if which == "doubted":
        return (
            "SELECT 1 AS rank, r.id, 0::real AS confidence, r.task_id FROM (SELECT r.* FROM result r WHERE r.project_id = %(project)s"
            f" AND r.last_version AND r.posterior IS NOT NULL AND r.reason = 'sure' ORDER BY r.confidence, r.task_id LIMIT {MAX_DOUBTED}) r"
            " JOIN trust_model q ON q.project_id = r.project_id CROSS JOIN LATERAL weigh(r.project_id, r.task_id) w"
            f" WHERE (w.class IS DISTINCT FROM r.class OR w.confidence < q.confidence) AND {_COMPLETE}"
            " AND r.task_id > coalesce((SELECT task_id FROM here), 0) ORDER BY r.task_id LIMIT %(maximum)s"
        )
    table, still = {
        "opinions": ("review_opinion", "o.result_id IS NULL"),
        "commented": ("task_comment", "NOT o.settled"),
        "ruled": ("rule_decision", "o.kind = 'review'"),
    }[which]
    return (
        "SELECT 1 AS rank, r.id, 0::real AS confidence, r.task_id FROM ("
        f"SELECT DISTINCT o.task_id FROM {table} o WHERE o.project_id = %(project)s AND {still}"
        " AND o.task_id > coalesce((SELECT task_id FROM here), 0)) o"
        " JOIN result r ON r.project_id = %(project)s AND r.task_id = o.task_id AND r.last_version"
        f" WHERE {_COMPLETE}{_UNDECIDED if which == 'ruled' else ''}"
        " ORDER BY r.task_id LIMIT %(maximum)s"
    )


async def count_queue(db: Database, project_id: int) -> ReviewCounts:
    """How many tasks wait, each up to MAX_COUNTED + 1."""
    reasons = ", ".join(
        f"(SELECT count(*)::int FROM (SELECT FROM result r WHERE r.project_id = %(project)s AND r.last_version"
        f" AND r.reason = '{reason}' LIMIT %(maximum)s) x) AS \"{reason}\""
        for reason in ("none", "full", "sure")
    )
    specials = ", ".join(
        f"(SELECT count(*)::int FROM (SELECT DISTINCT task_id FROM {table} WHERE project_id = %(project)s AND {still}"
        f" LIMIT %(maximum)s) x) AS {name}"
        for name, table, still in (
            ("opinions", "review_opinion", "result_id IS NULL"),
            ("commented", "task_comment", "NOT settled"),
        )
    )
    return await fetch_row(
        db, ReviewCounts, f"SELECT {reasons}, {specials}", {"project": project_id, "maximum": MAX_COUNTED + 1}
    )


MAX_RUNS = 200

_CASE = (
    "SELECT r.id AS result_id, r.task_id, r.version, r.class::int AS class_, printed_confidence(r)::numeric::float8 AS confidence,"
    " model_value(r)::numeric::float8 AS model, CASE WHEN r.n_compared > 1 THEN r.agreement::numeric::float8 END AS agreement, r.reason, r.posterior::float8[] AS posterior,"
    " coalesce(r.log_likelihoods, b.log_likelihoods)::float8[] AS added, r.task_run_ids, coalesce(to_jsonb(q.choices), '[]') AS choices, r.decided_by, a.name AS decided_name, r.decided_at, r.decided"
    " FROM result r LEFT JOIN trust_model q ON q.project_id = r.project_id LEFT JOIN account a ON a.id = r.decided_by"
    " LEFT JOIN LATERAL (SELECT b.log_likelihoods FROM result b WHERE b.project_id = r.project_id AND b.task_id = r.task_id"
    " AND b.task_run_ids = r.task_run_ids AND b.log_likelihoods IS NOT NULL ORDER BY b.version DESC LIMIT 1) b ON true"
)


async def find_case(db: Database, project_id: int, task_id: int) -> ReviewCase | None:
    """The last result of a completed task; None without one."""
    return await fetch_row_or_none(
        db,
        ReviewCase,
        f"{_CASE} JOIN task_ledger l ON l.project_id = r.project_id AND l.task_id = r.task_id AND l.done AND l.mode <> 'gold'"
        " WHERE r.project_id = %(project)s AND r.task_id = %(task)s AND r.last_version"
        " AND (r.reason IS NOT NULL OR q.project_id IS NULL)",
        {"project": project_id, "task": task_id},
    )


async def list_opinions(db: Database, project_id: int, task_id: int) -> list[ReviewOpinion]:
    """What has been said of a task while a second opinion is wanted, the first first."""
    return await fetch_rows(
        db,
        ReviewOpinion,
        "SELECT o.user_id, a.name AS user_name, o.class::int AS class_, o.at FROM review_opinion o JOIN account a ON a.id = o.user_id"
        " WHERE o.project_id = %(project)s AND o.task_id = %(task)s AND o.result_id IS NULL ORDER BY o.at, o.user_id",
        {"project": project_id, "task": task_id},
    )


async def decide_task(
    tx: Database, project_id: int, task_id: int, result_id: int, user_id: int | None, class_: int, *, owns: bool
) -> Decided:
    """Decides a task of which ``result_id`` was the last result: decided, same, waiting, differ, before, changed, open or class."""
    return await fetch_row(
        tx,
        Decided,
        "SELECT * FROM decide_task(%(project)s, %(task)s, %(seen)s, %(user)s, %(class)s, %(owns)s, clock())",
        {"project": project_id, "task": task_id, "seen": result_id, "user": user_id, "class": class_, "owns": owns},
    )


async def ask_opinion(
    tx: Database, project_id: int, task_id: int, result_id: int, user_id: int, class_: int | None
) -> Decided:
    """Asks for what somebody else thinks of a task: asked, before, changed, open or class."""
    return await fetch_row(
        tx,
        Decided,
        "SELECT * FROM ask_for_opinion(%(project)s, %(task)s, %(seen)s, %(user)s, %(class)s, clock())",
        {"project": project_id, "task": task_id, "seen": result_id, "user": user_id, "class": class_},
    )


async def list_choices(db: Database, project_id: int) -> list[Json]:
    """The classes of a project in their order; [] where the first answer field is no label."""
    row = await one_or_none(
        db,
        "SELECT to_jsonb(choices) AS choices FROM trust_model WHERE project_id = %(project)s",
        {"project": project_id},
    )
    return list(row["choices"]) if row else []


async def list_runs(db: Database, project_id: int, task_id: int) -> list[ReviewedRun]:
    """The answers to a task, those that count first, at most MAX_RUNS. Of a long one nothing but its class is told."""
    return await fetch_rows(
        db,
        ReviewedRun,
        f"SELECT r.id, r.class::int AS class_, CASE WHEN octet_length(r.info::text) <= {_MAX_INFO_BYTES} THEN r.info END AS info,"
        " r.counted, r.unreliable, w.word AS volunteer, v.accuracy::numeric::float8 AS accuracy"
        " FROM task_run r LEFT JOIN volunteer_word w ON w.project_id = r.project_id AND w.actor = r.actor"
        " LEFT JOIN trust_model q ON q.project_id = r.project_id"
        " LEFT JOIN reliability v ON v.project_id = r.project_id AND v.actor = r.actor AND v.generation = q.generation"
        f" WHERE r.project_id = %(project)s AND r.task_id = %(task)s ORDER BY r.counted DESC, r.id LIMIT {MAX_RUNS}",
        {"project": project_id, "task": task_id},
    )


MAX_REPLAYED = 2000
"""So many of the tasks that were completed last are replayed."""
MAX_CHECKED = 5000
"""So many of the newest decisions of experts are compared with what the results said before."""
MAX_GOLD = 200
"""So many gold tasks, the newest ones, tell whether results are right."""
_NETWORK = "CASE WHEN r.actor ~ '^[ci]:' THEN r.user_ip END AS network"


async def read_trust_figures(db: Database, project_id: int) -> TrustFigures | None:
    """From the sums of the model, and what is not folded yet; None where the first answer field is no label."""
    return await fetch_row_or_none(
        db,
        TrustFigures,
        "SELECT q.min_answers, q.confidence::numeric::float8 AS confidence, to_jsonb(q.choices) AS choices, q.guarded, q.accuracy::numeric::float8 AS accuracy,"
        ' q.tasks + e.tasks AS tasks, q.saved + e.saved AS below_maximum, q.sure + e.sure AS sure, q."full" + e."full" AS "full",'
        ' q."none" + e."none" AS "none", (SELECT count(*)::int FROM result r WHERE r.project_id = q.project_id AND r.last_version'
        " AND r.reason = 'expert') AS expert, f.n_counted AS answers, (q.gold_seen + q.peer_seen)::bigint AS judged, f.n_completed_tasks AS completed, (SELECT avg(cardinality(r.task_run_ids))::float8 FROM (SELECT task_run_ids FROM result"
        " WHERE project_id = q.project_id AND last_version AND reason IS NOT NULL ORDER BY id DESC LIMIT 20000) r) AS mean_answers, q.gold_seen + e.gold_seen AS gold_seen"
        " FROM trust_model q JOIN project_figures f ON f.project_id = q.project_id CROSS JOIN LATERAL ("
        "SELECT coalesce(sum(sign) FILTER (WHERE NOT gold), 0)::bigint AS tasks, coalesce(sum(sign * saved) FILTER (WHERE NOT gold), 0)::bigint AS saved,"
        " coalesce(sum(sign) FILTER (WHERE reason = 'sure'), 0)::bigint AS sure, coalesce(sum(sign) FILTER (WHERE reason = 'full'), 0)::bigint AS \"full\","
        " coalesce(sum(sign) FILTER (WHERE reason = 'none'), 0)::bigint AS \"none\", coalesce(sum(sign) FILTER (WHERE gold), 0)::float8 AS gold_seen"
        " FROM evidence e WHERE e.project_id = q.project_id AND e.generation = q.generation) e WHERE q.project_id = %(project)s",
        {"project": project_id},
    )


async def list_replayed_runs(db: Database, project_id: int, maximum: int = MAX_REPLAYED) -> list[ReplayedRun]:
    """The counted answers to the tasks that were completed last, in the order in which these were completed, then that of the answers."""
    return await fetch_rows(
        db,
        ReplayedRun,
        "WITH newest AS MATERIALIZED (SELECT r.id, r.task_id, r.class, r.reason, r.task_run_ids FROM result r WHERE r.project_id = %(project)s"
        " AND r.last_version AND r.reason IS NOT NULL AND NOT EXISTS (SELECT FROM gold_task g WHERE g.project_id = r.project_id AND g.task_id = r.task_id)"
        " ORDER BY r.id DESC LIMIT %(maximum)s)"
        " SELECT n.task_id, n.class::int AS result_class, n.reason = 'expert' AS expert, s.decided::int AS truth, r.actor, r.class::int AS class_,"
        f" {_NETWORK}, coalesce(v.gold_right, 0) AS gold_right, coalesce(v.gold_seen, 0) AS gold_seen"
        " FROM newest n CROSS JOIN LATERAL unnest(n.task_run_ids) u(id) JOIN task_run r ON r.project_id = %(project)s AND r.id = u.id"
        " JOIN trust_model q ON q.project_id = r.project_id"
        " LEFT JOIN reliability v ON v.project_id = r.project_id AND v.actor = r.actor AND v.generation = q.generation"
        " LEFT JOIN sampled_result s ON s.project_id = q.project_id AND s.task_id = n.task_id AND s.generation = q.generation"
        " WHERE r.class IS NOT NULL ORDER BY n.id, r.id",
        {"project": project_id, "maximum": maximum},
    )


async def list_checked_results(db: Database, project_id: int, maximum: int = MAX_CHECKED) -> list[CheckedResult]:
    """What the results said that experts have decided: the version before the first decision on each task."""
    return await fetch_rows(
        db,
        CheckedResult,
        "SELECT b.confidence::numeric::float8 AS confidence, b.class = d.class AS right FROM (SELECT * FROM result r WHERE r.project_id = %(project)s"
        " AND r.last_version AND r.reason = 'expert' ORDER BY r.id DESC LIMIT %(maximum)s) d"
        " CROSS JOIN LATERAL (SELECT * FROM result b WHERE b.project_id = d.project_id AND b.task_id = d.task_id AND b.version < d.version"
        " AND b.reason IN ('sure', 'full', 'analysis') ORDER BY b.version DESC LIMIT 1) b WHERE b.class IS NOT NULL",
        {"project": project_id, "maximum": maximum},
    )


async def list_gold_runs(db: Database, project_id: int, per_task: int, maximum: int = MAX_GOLD) -> list[GoldRun]:
    """The first answers to each of the newest gold tasks with a class among the right answers, in the order in which they came.

    What is known of a volunteer is what would be known if nobody had answered the task: what was learned from the same
    answers proves nothing. An answer that is not folded yet has taught nothing.
    """
    return await fetch_rows(
        db,
        GoldRun,
        "WITH q AS MATERIALIZED (SELECT * FROM trust_model WHERE project_id = %(project)s),"
        " waiting AS MATERIALIZED (SELECT e.task_id, e.actors[1] AS actor FROM evidence e JOIN q USING (project_id, generation) WHERE e.gold),"
        " golden AS MATERIALIZED (SELECT g.task_id, g.number, t.truths FROM q JOIN gold_task g USING (project_id) CROSS JOIN LATERAL ("
        "SELECT array_agg(choice_position(q.choices, a)) FILTER (WHERE choice_position(q.choices, a) IS NOT NULL) AS truths FROM jsonb_array_elements(g.answer) a) t"
        " WHERE t.truths IS NOT NULL ORDER BY g.number DESC LIMIT %(maximum)s),"
        " learned AS MATERIALIZED (SELECT r.task_id, r.id, CASE WHEN (r.taught->>'generation')::int = q.generation AND NOT EXISTS"
        " (SELECT FROM waiting w WHERE w.task_id = r.task_id AND w.actor = r.actor) THEN r.taught END AS taught, r.is_right"
        " FROM golden g CROSS JOIN q JOIN task_run r ON r.project_id = q.project_id AND r.task_id = g.task_id AND r.taught IS NOT NULL),"
        " everybody AS MATERIALIZED (SELECT task_id, count(*) FILTER (WHERE is_right) AS n_right, count(*) AS n_seen FROM learned WHERE taught IS NOT NULL GROUP BY 1)"
        " SELECT g.task_id, g.truths, r.class::int AS class_, r.actor, coalesce(r.network, '') AS network,"
        " coalesce(w.known, false) AS known, w.log_likelihoods::float8[] AS says"
        " FROM golden g CROSS JOIN q"
        f" CROSS JOIN LATERAL (SELECT r.class, r.actor, r.id, {_NETWORK} FROM task_run r WHERE r.project_id = q.project_id AND r.task_id = g.task_id"
        " AND r.class IS NOT NULL ORDER BY r.id LIMIT %(per_task)s) r"
        " LEFT JOIN learned l ON l.task_id = g.task_id AND l.id = r.id LEFT JOIN everybody e ON e.task_id = g.task_id"
        " LEFT JOIN reliability v ON v.project_id = q.project_id AND v.actor = r.actor AND v.generation = q.generation"
        " CROSS JOIN LATERAL without_gold(q, v, l.taught, l.is_right, coalesce(e.n_right, 0), coalesce(e.n_seen, 0)) w"
        " ORDER BY g.number, r.id",
        {"project": project_id, "maximum": maximum, "per_task": per_task},
    )
