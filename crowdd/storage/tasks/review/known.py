"""What is known of the volunteers of a project, for its owners and for themselves."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.database import Database, fetch_rows
from crowdd.storage.tasks.review.rows import KnownVolunteer
from crowdd.storage.tasks.rows import VolunteerRow
from crowdd.storage.tasks.volunteers import COLUMNS, JOINS

LOOKED_AT = 20_000
"""The newest answers of a project that tell when volunteers were last active, and how long answers take them."""
_KNOWN = "reliability v JOIN trust_model q ON q.project_id = v.project_id AND q.generation = v.generation"
_KEYS = ("counts", "accuracy", "actor")


async def doubted(db: Database, project_id: int, place: Keyset) -> KeysetPage[VolunteerRow]:
    """A page of the volunteers of whom something is known: those whose answers do not count first, then the least accurate.

    Sorts all of them: nothing keeps them in this order.
    """
    known = f"(SELECT v.actor, v.counts, v.accuracy FROM {_KNOWN} WHERE v.project_id = %(project)s AND v.accuracy IS NOT NULL)"
    here = "(SELECT actor FROM volunteer_word WHERE word = %(place)s AND project_id = %(project)s)"
    sign = "<" if place.reads_down else ">"
    beside = (
        "true"
        if place.row is None
        else f"(counts, accuracy, actor) {sign} (SELECT counts, accuracy, actor FROM k WHERE actor = {here})"
    )
    rows = await fetch_rows(
        db,
        VolunteerRow,
        f"WITH k AS MATERIALIZED {known} SELECT {COLUMNS} FROM (SELECT *, runs_of(%(project)s, actor) AS answers FROM k"
        f" WHERE {beside} {place.limited(_KEYS)}) r {JOINS}"
        f" {place.limited([f'r.{key}' for key in _KEYS])}",
        {"project": project_id, **place.values()},
    )
    return place.part(rows)


async def known(db: Database, project_id: int, words: Sequence[str]) -> list[KnownVolunteer]:
    """What is known of the volunteers with these codes, in their order; a row for each, also for a code that nobody has."""
    return await fetch_rows(
        db,
        KnownVolunteer,
        "WITH wanted AS MATERIALIZED (SELECT x.nth, w.actor, x.word FROM unnest(%(words)s::text[]) WITH ORDINALITY x(word, nth)"
        " LEFT JOIN volunteer_word w ON w.word = x.word AND w.project_id = %(project)s),"
        " newest AS MATERIALIZED (SELECT actor, time_spent(created, finish_time, timeout) AS seconds, finish_time FROM"
        " (SELECT * FROM task_run WHERE project_id = %(project)s ORDER BY id DESC LIMIT %(maximum)s) r JOIN wanted USING (actor))"
        " SELECT x.word AS volunteer, v.gold_right, v.gold_seen, v.peer_right, v.peer_seen, v.accuracy::numeric::float8 AS accuracy,"
        " coalesce(v.counts, true) AS counts, coalesce(v.lifted, false) AS lifted, n.seconds, n.last_active FROM wanted x"
        f" LEFT JOIN LATERAL (SELECT v.* FROM {_KNOWN} WHERE v.project_id = %(project)s AND v.actor = x.actor) v ON true"
        " LEFT JOIN (SELECT actor, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds::float8) AS seconds, max(finish_time) AS last_active"
        " FROM newest GROUP BY 1) n ON n.actor = x.actor ORDER BY x.nth",
        {"project": project_id, "words": list(words), "maximum": LOOKED_AT},
    )
