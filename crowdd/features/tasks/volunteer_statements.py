"""SQL of the volunteers of a project: what is known of them, and the list that its owners see.

A volunteer is named by the word that their answers carry (`tasks/22_volunteer_pseudonyms.sql`).
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.features.tasks.rows import KnownVolunteer, VolunteerRow

# Those with answers that are not folded yet, and as many of the folded ones as may be on the page: each half of them, with and
# without an account, is read from its index (volunteer_top), beginning at the volunteer whom the page names (here).
_HALVES = {True: "(actor LIKE 'u:%%') IS TRUE", False: "(actor LIKE 'u:%%') IS FALSE"}
_UNFOLDED = """
WITH d AS MATERIALIZED (
    SELECT u.actor, u.runs + coalesce(v.runs, 0) AS runs FROM unfolded_runs(%(project)s, false, clock()) u
      LEFT JOIN volunteer v ON v.project_id = %(project)s AND v.actor = u.actor),
n AS (SELECT %(place_limit)s + %(offset)s + count(*) AS maximum FROM d),
here AS MATERIALIZED (
    SELECT actor, runs_of(%(project)s, actor) AS runs FROM volunteer_word WHERE word = %(place)s AND project_id = %(project)s)"""
COLUMNS = (
    "w.word AS volunteer, r.actor, r.answers::bigint AS answers, a.id AS user_id, a.name AS user_name, EXISTS ("
    "SELECT FROM barred_volunteer b WHERE b.project_id = %(project)s AND b.subject = r.actor) AS barred"
)
JOINS = (
    "LEFT JOIN volunteer_word w ON w.project_id = %(project)s AND w.actor = r.actor"
    " LEFT JOIN account a ON a.id = CASE WHEN r.actor LIKE 'u:%%' THEN substr(r.actor, 3)::bigint END"
)


async def listed(
    db: Database, project_id: int, place: Keyset, known: bool | None = None, offset: int = 0
) -> KeysetPage[VolunteerRow]:
    """A page of the volunteers of a project by their answers, beside the one with the code that ``place`` names.

    ``known``: only those with an account, or only those without. ``offset``: so many more are passed over. It reads as many
    counters as there are volunteers on the page and passed over, and those that are not folded yet.
    """
    way = ("DESC", "ASC") if place.reads_down else ("ASC", "DESC")
    order = f"runs {way[0]}, actor {way[1]}"
    halves = [half for of, half in _HALVES.items() if known in (None, of)]
    beside = _beside(place)
    folded = " UNION ALL ".join(
        f"(SELECT actor, runs FROM volunteer WHERE project_id = %(project)s AND {half} AND runs > 0 AND {part}"
        f" ORDER BY {order} LIMIT (SELECT maximum FROM n))"
        for half in halves
        for part in beside
    )
    chosen = " OR ".join(halves)
    rows = await fetch_rows(
        db,
        VolunteerRow,
        f"{_UNFOLDED} SELECT {COLUMNS} FROM (SELECT actor, runs AS answers FROM ("
        f"SELECT * FROM ({folded}) f WHERE NOT EXISTS (SELECT FROM d WHERE d.actor = f.actor) UNION ALL"
        f" SELECT * FROM d WHERE runs > 0 AND ({chosen}) AND ({' OR '.join(beside)})) s ORDER BY {order}"
        f" LIMIT %(place_limit)s OFFSET %(offset)s) r {JOINS} ORDER BY r.answers {way[0]}, r.actor {way[1]}",
        {"project": project_id, "offset": offset, **place.values()},
    )
    return place.part(rows)


def _beside(place: Keyset) -> list[str]:
    """Conditions on volunteers beside the one that the page names: as many answers, and more or fewer; each is a part of the index.

    Those with as many answers are in the order of their actors, which is the reverse one of the answers.
    """
    if place.row is None:
        return ["true"]
    fewer, behind = ("<", ">") if place.reads_down else (">", "<")
    same = f"runs = (SELECT runs FROM here) AND actor {behind} (SELECT actor FROM here)"
    return [same, f"runs {fewer} (SELECT runs FROM here)"]


async def count(db: Database, project_id: int) -> tuple[int, int]:
    """How many volunteers have answers in a project: with an account, and without."""
    row = await one(
        db,
        "SELECT people_authenticated AS known, people_anonymous AS others FROM project_figures WHERE project_id = %(project)s",
        {"project": project_id},
    )
    return int(row["known"]), int(row["others"])


async def find(db: Database, project_id: int, word: str) -> VolunteerRow | None:
    """The volunteer with this word; None without one."""
    return await fetch_row_or_none(
        db,
        VolunteerRow,
        f"SELECT {COLUMNS} FROM (SELECT actor, runs_of(%(project)s, actor) AS answers FROM volunteer_word"
        f" WHERE word = %(word)s AND project_id = %(project)s) r {JOINS}",
        {"project": project_id, "word": word},
    )


async def actor_of(db: Database, project_id: int, word: str) -> str | None:
    """The actor with this word; None without one."""
    row = await one_or_none(
        db,
        "SELECT actor FROM volunteer_word WHERE word = %(word)s AND project_id = %(project)s",
        {"project": project_id, "word": word},
    )
    return row["actor"] if row else None


async def word_of(db: Database, project_id: int, actor: str) -> str | None:
    """The word of a volunteer in a project; None for those who have not answered."""
    row = await one_or_none(
        db,
        "SELECT word FROM volunteer_word WHERE project_id = %(project)s AND actor = %(actor)s",
        {"project": project_id, "actor": actor},
    )
    return row["word"] if row else None


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
