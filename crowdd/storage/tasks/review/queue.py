"""The queue of completed tasks that an expert should look at, in pages of the index ``result_review``."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from crowdd.storage.core import hidden_columns
from crowdd.storage.database import Database, fetch_row, fetch_rows
from crowdd.storage.tasks.review.rows import ReviewCounts, ReviewedTask

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
_BEHIND = "(coalesce(r.confidence, 0), r.task_id) > (b.confidence, b.task_id)"
_FIRST = "ORDER BY coalesce(r.confidence, 0), r.task_id LIMIT %(maximum)s"
_OF_REASON = "r.project_id = %(project)s AND r.last_version AND r.reason = w.reason"


@attrs.frozen
class Wanted:
    """Which tasks: those with these ``reasons``, in this order, or ``special`` ones: opinions, commented, doubted or disputed.

    ``class_``: only results of this class, 0 for those without one, None for all. ``after``: behind the result with
    this id. ``me``: tasks of which this account has said what it thinks are left out of the queue.
    """

    reasons: Sequence[str] = QUEUE
    special: str = ""
    class_: int | None = None
    after: int | None = None
    me: int | None = None


async def page(db: Database, project_id: int, wanted: Wanted, maximum: int, *, owns: bool) -> list[ReviewedTask]:
    """The next tasks, least certain first within each reason. Reads ``maximum`` index entries per reason and class."""
    return await fetch_rows(
        db,
        ReviewedTask,
        f"""
        WITH here AS MATERIALIZED (
            SELECT coalesce(array_position(%(reasons)s::text[], reason), 0) AS rank, coalesce(confidence, 0) AS confidence, task_id
              FROM result WHERE project_id = %(project)s AND id = %(after)s),
        found AS MATERIALIZED ({_special(wanted.special) if wanted.special else _queue(wanted.class_)})
        SELECT r.id AS result_id, r.task_id, r.class::int AS class_, r.confidence::numeric::float8 AS confidence,
               CASE WHEN r.n_compared > 1 THEN r.agreement::numeric::float8 END AS agreement, r.reason,
               cardinality(r.task_run_ids) AS answers, ({_OPEN_OPINIONS}) AS opinions, ({_OPEN_COMMENTS}) AS comments,
               CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS info
          FROM found f JOIN result r ON r.project_id = %(project)s AND r.id = f.id
          JOIN {hidden_columns.tasks(owns=owns)} t ON t.project_id = r.project_id AND t.id = r.task_id
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
    """Tasks for which a second opinion is wanted, with open comments, doubted or disputed ones, in the order of their ids."""
    if which == "disputed":
        return (
            "SELECT 1 AS rank, r.id, 0::real AS confidence, r.task_id FROM ("
            f"{_DISPUTED} AND a.task_id > coalesce((SELECT task_id FROM here), 0)) o"
            " JOIN result r ON r.project_id = %(project)s AND r.task_id = o.task_id AND r.last_version"
            f" WHERE {_COMPLETE} ORDER BY r.task_id LIMIT %(maximum)s"
        )
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
    }[which]
    return (
        "SELECT 1 AS rank, r.id, 0::real AS confidence, r.task_id FROM ("
        f"SELECT DISTINCT o.task_id FROM {table} o WHERE o.project_id = %(project)s AND {still}"
        " AND o.task_id > coalesce((SELECT task_id FROM here), 0)) o"
        " JOIN result r ON r.project_id = %(project)s AND r.task_id = o.task_id AND r.last_version"
        f" WHERE {_COMPLETE}"
        " ORDER BY r.task_id LIMIT %(maximum)s"
    )


async def counts(db: Database, project_id: int) -> ReviewCounts:
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
