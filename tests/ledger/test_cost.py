"""What the hot functions touch does not grow with the project: pages of memory per call, counted by PostgreSQL.

A small project is built beside a large one in the same database, each with a newcomer and with a veteran who has
answered half of it. The numbers are those of prepared connections: plans as if tables were large, no scan of a whole
table. A call for the large project may touch a few pages more, for its indexes are a level deeper. That is less than
the smallest index with an entry for each task.
"""

from __future__ import annotations

import json

import pytest
from support.checks.shows import shows
from support.ledger import Ledger

SMALL, LARGE = 500, 20_000  # bench.cost has a million
MAXIMUM = {"next_tasks": 95, "submit": 90}  # pages; completion comes to the latter
DEEPER = 10  # pages more in the large project
ORDERS = ["priority", "priority-up", "id", "id-down"]
SCHEDULERS = ["default", "random", "depth_first_all", "incremental", "breadth_first"]
BUILD = [
    """INSERT INTO task (id, project_id, created, info) OVERRIDING SYSTEM VALUE
       SELECT %(first)s + o, %(p)s, clock(), '{}' FROM generate_series(1, %(n)s) o""",
    """INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, answers, mode, requeued_xid)
       SELECT %(p)s, %(first)s + o, o, 3, (o <= %(half)s)::int, mode_of(%(sched)s),
              CASE %(sched)s WHEN 'breadth_first' THEN 100 END FROM generate_series(1, %(n)s) o""",
    """INSERT INTO task_run (project_id, task_id, actor, user_id, created, finish_time, counted, info)
       SELECT %(p)s, %(first)s + o, 'u:1', 1, clock(), clock(), true, '{}' FROM generate_series(1, %(half)s) o""",
    """INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted)
       SELECT %(p)s, date_trunc('hour', clock()), 'u:1', 1, %(half)s, %(half)s""",
    """INSERT INTO stat_delta (project_id, hour, tasks, wanted)
       SELECT %(p)s, date_trunc('hour', clock()), %(n)s, 3 * %(n)s""",
    """UPDATE project_ledger SET n_ordinals = %(n)s, max_rank = 0 WHERE project_id = %(p)s""",
    """INSERT INTO position SELECT %(p)s, 'u:1', scan || '/1', 0, %(first)s + %(half)s
         FROM unnest(ARRAY['priority', 'priority-up', 'id']) scan""",
]

TABLES = (
    "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
)


def build(ledger: Ledger, tasks: int, sched: str) -> int:
    """A project of which u:1 has answered the first half."""
    project = ledger.project(sched=sched)
    first = ledger.value("SELECT coalesce(max(id), 0) FROM task")
    for statement in BUILD:
        ledger.run(statement, p=project, n=tasks, half=tasks // 2, first=first, sched=sched)
    ledger.run("SELECT setval(pg_get_serial_sequence('task', 'id'), (SELECT max(id) FROM task))")
    return project


def build_gold(ledger: Ledger, tasks: int) -> int:
    """The same with 200 gold tasks, where every ask is for one of them; u:1 has answered half of them."""
    project = build(ledger, tasks, "random")
    ids = ledger.tasks(project)[tasks // 2 : tasks // 2 + 200]
    for task in ids:
        ledger.value("SELECT make_gold(%(p)s, %(t)s, '[\"yes\"]', NULL, NULL, 1, clock())", p=project, t=task)
    ledger.run("UPDATE project_ledger SET gold_rate = 1, gold_start = 1 WHERE project_id = %(p)s", p=project)
    for task in ids[::2]:
        ledger.hold(project, "u:1", task)
        ledger.answer(project, "u:1", task)
    return project


def pages(ledger: Ledger, sql: str, **values) -> int:
    """Pages that a statement looked at, in memory or on disk."""
    (plan,) = ledger.value(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}", **values)
    return plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]


def pair(ledger: Ledger, project: int, actor: str, order: str = "priority") -> dict[str, int]:
    """Pages for a task handed out and for its answer."""
    values = {"p": project, "a": actor, "o": order}
    asking = "SELECT * FROM next_tasks(%(p)s, %(a)s, NULL, false, '{}', 1, 0, %(o)s, clock())"
    answering = "SELECT * FROM submit(%(p)s, %(a)s, %(t)s, 1, NULL, NULL, %(i)s, NULL, NULL, clock())"
    asked = pages(ledger, asking, **values)
    task = ledger.take(project, actor, order=order)
    return {"next_tasks": asked, "submit": pages(ledger, answering, t=task, i=json.dumps("yes"), **values)}


def cost(ledger: Ledger, project: int, order: str = "priority") -> dict[str, int]:
    """The most of several pairs, for the veteran and for newcomers; chance draws the same tasks each time."""
    pair(ledger, project, "c:first", order)  # looks up in the catalogue what was forgotten meanwhile
    ledger.run("SELECT setseed(0.5)")
    costs = [pair(ledger, project, actor, order) for actor in ("u:1", "u:2", "u:1", "u:3", "u:4")]
    return {name: max(one[name] for one in costs) for name in MAXIMUM}


@pytest.fixture(scope="module")
def sized(postgres):
    """A session on a database with a large and a small project for each scheduler."""
    dsn = postgres.make()
    ledger = Ledger(dsn)
    # Its snapshot would leave pages that VACUUM must not mark as seen by all, and what it finds out is looked up again.
    for table in ledger.rows(TABLES):
        ledger.run(f"ALTER TABLE {table['name']} SET (autovacuum_enabled = off)")
    projects = {(sched, size): build(ledger, size, sched) for sched in SCHEDULERS for size in (LARGE, SMALL)}
    projects |= {("gold", size): build_gold(ledger, size) for size in (LARGE, SMALL)}
    ledger.fold()
    ledger.run("VACUUM ANALYZE")
    ledger.run("SET plan_cache_mode = force_generic_plan")
    ledger.run("SET enable_seqscan = off")
    # A first call looks things up in the catalogue, also one that compares answers.
    project = ledger.project(tasks=1, n=3)
    for actor, info in (("c:a", "yes"), ("c:b", "no"), ("c:c", "yes")):
        ledger.hold(project, actor, ledger.tasks(project)[0])
        ledger.answer(project, actor, ledger.tasks(project)[0], info)
    for sched in SCHEDULERS:
        project = ledger.project(tasks=8, n=2, sched=sched)
        for order in ORDERS:
            pair(ledger, project, f"c:{order}", order)
    yield ledger, projects
    ledger.close()
    postgres.drop(dsn)


def check(sized: tuple[Ledger, dict[tuple[str, int], int]], sched: str, order: str = "priority") -> None:
    """Neither function touches more than it may, nor more in the large project."""
    ledger, projects = sized
    small, large = (cost(ledger, projects[sched, size], order) for size in (SMALL, LARGE))
    for name, maximum in MAXIMUM.items():
        assert max(small[name], large[name]) <= maximum, (name, small, large)
        assert large[name] <= small[name] + DEEPER, (name, small, large)


@pytest.mark.proof
@shows("newtask-order-cost")
@pytest.mark.parametrize("sched", SCHEDULERS)
def test_a_pair_costs_the_same_at_any_size(sized, sched):
    check(sized, sched)


@pytest.mark.proof
@shows("newtask-order-cost")
@pytest.mark.parametrize("order", ORDERS[1:])
def test_so_it_does_in_every_order(sized, order):
    check(sized, "depth_first_all", order)


@pytest.mark.proof
@shows("gold-mixed")
def test_gold_tasks_cost_no_more(sized):
    check(sized, "gold")


@pytest.mark.proof
def test_the_margin_is_smaller_than_a_look_at_every_task(sized):
    ledger, projects = sized
    counting = "SELECT count(*) FROM task WHERE project_id = %(p)s"
    small, large = (pages(ledger, counting, p=projects["default", size]) for size in (SMALL, LARGE))
    assert large > small + DEEPER


def test_hot_functions_use_no_bitmap_scans(ledger: Ledger) -> None:
    """PostgreSQL marks the entries of deleted leases in an index when it meets them, but not if it reads them into a bitmap.

    Whether it chooses a bitmap depends on when it looked at the table last; ``bench.hot`` shows what that costs: a pair
    took 0.7 ms of its CPU instead of 0.4 after half a minute.
    """
    without = (
        "SELECT array_agg(proname::text ORDER BY proname) FROM pg_proc WHERE 'enable_bitmapscan=off' = ANY (proconfig)"
    )
    assert ledger.value(without) == ["lease_task", "next_tasks", "submit", "submit_together", "take_together"]


def test_statistics_of_empty_tables_make_no_plan_that_reads_a_project(ledger: Ledger) -> None:
    """Tables are analysed while a site is new; the plans that its connections keep are used for years."""
    for table in ledger.rows(TABLES):
        ledger.run(f"ALTER TABLE {table['name']} SET (autovacuum_enabled = off)")
    ledger.run("VACUUM ANALYZE")
    ledger.run("SET plan_cache_mode = force_generic_plan")
    ledger.run("SET enable_seqscan = off")
    first = ledger.project(tasks=3, n=3)
    asking = "SELECT * FROM next_tasks(%(p)s, %(a)s, NULL, false, '{}', 1, 0, 'priority', clock(), true, %(w)s)"
    answering = "SELECT * FROM submit(%(p)s, %(a)s, %(t)s, NULL, %(w)s, NULL, '1', NULL, NULL, clock())"

    def both(project: int, network: str) -> int:
        values = {"p": project, "a": f"c:{network}", "w": network}
        asked = pages(ledger, asking, **values)
        task = ledger.value("SELECT task_id FROM lease WHERE project_id = %(p)s AND actor = %(a)s", **values)
        return asked + pages(ledger, answering, t=task, **values)

    both(first, "n1")
    large = ledger.project()
    for statement in BUILD[:2]:
        ledger.run(statement, p=large, n=SMALL, half=0, first=1_000, sched="default")
    ledger.run(
        "INSERT INTO task_run (project_id, task_id, actor, user_ip, created, finish_time, counted, info)"
        " SELECT %(p)s, 1000 + o, 'c:' || n, 'n:' || n, clock(), clock(), true, '{}'"
        " FROM generate_series(1, %(n)s) o, generate_series(1, 20) n",
        p=large,
        n=SMALL,
    )
    ledger.run("UPDATE project_ledger SET n_ordinals = %(n)s, max_rank = 0 WHERE project_id = %(p)s", p=large, n=SMALL)
    assert both(large, "n2") <= sum(MAXIMUM.values()) + DEEPER


def test_statistics_of_small_tables_make_no_fold_that_compares_everybody(ledger: Ledger) -> None:
    """Rows that a fold of many volunteers reads: by key, whatever was known of the tables when it was planned."""
    for table in ledger.rows(TABLES):
        ledger.run(f"ALTER TABLE {table['name']} SET (autovacuum_enabled = off)")
    ledger.run("SET plan_cache_mode = force_generic_plan")
    ledger.run("SET enable_seqscan = off")
    project = ledger.project()

    def register(people: int) -> None:
        ledger.run(
            "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
            " SELECT clock(), k, k, k, k::bytea, '' FROM (SELECT 'p' || %(n)s || '-' || n AS k FROM generate_series(1, %(n)s) n) n",
            n=people,
        )
        ledger.run(
            "INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, seconds)"
            " SELECT %(p)s, date_trunc('hour', clock()), 'u:' || id, id, 1, 1, 7 FROM account WHERE name LIKE %(names)s",
            p=project,
            names=f"p{people}-%",
        )

    def read() -> int:
        ledger.run("BEGIN")
        ledger.run("SELECT fold_stats(clock(), 1000000)")
        of = "relname IN ('account', 'person_stat', 'volunteer')"
        rows = ledger.value(
            f"SELECT sum(idx_tup_fetch + seq_tup_read)::bigint FROM pg_stat_xact_user_tables WHERE {of}"
        )
        ledger.run("COMMIT")
        return rows

    read()  # one row of the owner in each table: every way to read them costs the same
    ledger.run(
        "INSERT INTO stat_delta (project_id, hour, actor, user_id, runs) SELECT 0, clock(), 'u:' || id, id, 1 FROM account"
    )
    ledger.run("VACUUM ANALYZE")
    read()  # the plan that the session keeps
    register(2000)
    assert read() < 5 * 2000
