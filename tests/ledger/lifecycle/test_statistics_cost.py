"""What figures touch does not grow with people and answers, nor with what is not folded of others: pages of memory.

The numbers are those of the server's connections: plans as if tables were large and nothing were known of a project.
"""

from __future__ import annotations

import pytest
from support.ledger import Ledger

SMALL, LARGE = 200, 10_000
SLACK = 30  # pages: an index may be a level higher
FILL = [
    """INSERT INTO volunteer (project_id, actor, runs, seconds, recent)
       SELECT %(p)s, CASE WHEN n %% 3 = 0 THEN 'c:' ELSE 'u:' END || n, 1 + n %% 97, n, 1 + n %% 53 FROM generate_series(1, %(n)s) n""",
    """INSERT INTO volunteer_day (project_id, day, actor, runs)
       SELECT project_id, day_of(clock()) - ((length(actor) + runs) %% 13)::int, actor, recent FROM volunteer WHERE project_id = %(p)s""",
    """INSERT INTO project_hour (project_id, hour, runs_anonymous, runs_authenticated, counted, completed)
       SELECT %(p)s, date_trunc('hour', clock()) - h * interval '1 hour', 5, 5, 10, 2 FROM generate_series(1, %(n)s / 10) h""",
    """UPDATE project_stat SET runs_authenticated = %(n)s, people_authenticated = %(n)s, recent_authenticated = %(n)s WHERE project_id = %(p)s""",
]
PEOPLE = [
    """INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)
       SELECT clock(), 'n' || n, 'n', 'n' || n, ('n' || n)::bytea, '' FROM generate_series(1, %(n)s) n""",
    "SELECT fold_stats(clock(), 1000000)",
    "UPDATE person_stat SET runs = 1 + (user_id * 7919) %% 5000",
    "SELECT repair_people(NULL, clock())",
]
OF_PROJECT = {
    "figures": "SELECT * FROM project_figures WHERE project_id = %(p)s",
    "hours": "SELECT * FROM hours_of(%(p)s, first_day(clock()))",
    "people": "SELECT * FROM recent_people(%(p)s, clock())",
    "top": "SELECT * FROM top_volunteers(%(p)s, true, false, 5, clock())",
    "top lately": "SELECT * FROM top_volunteers(%(p)s, false, true, 5, clock())",
    "last activity": "SELECT last_activity(%(p)s)",
    "tasks": "SELECT tasks_of(%(p)s)",
}
OF_PEOPLE = {
    "place": "SELECT * FROM place_of(%(u)s)",
    "top": "SELECT * FROM top_people(20)",
    "around": "SELECT * FROM people_around(%(u)s, 10)",
}


def pages(ledger: Ledger, sql: str, **values) -> int:
    """Pages that a statement looks at; planned before, so that the catalogue is not counted."""
    ledger.rows(sql, **values)
    (plan,) = ledger.value(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}", **values)
    return plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]


def as_server(dsn: str) -> Ledger:
    """A session with the settings of the server's pool."""
    made = Ledger(dsn)
    made.run("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off")
    return made


def site(postgres, people: int) -> tuple[str, Ledger, int]:
    """A database with so many people, all of them volunteers of one project."""
    dsn = postgres.make()
    ledger = as_server(dsn)
    project = ledger.project(tasks=9, n=1)
    ledger.contribute(project, "c:0")
    ledger.fold()
    for statement in FILL:
        ledger.run(statement, p=project, n=people)
    for statement in PEOPLE:
        ledger.run(statement, n=people)
    ledger.run("VACUUM ANALYZE")
    return dsn, ledger, project


@pytest.fixture(scope="module")
def sites(postgres):
    made = {people: site(postgres, people) for people in (SMALL, LARGE)}
    yield made
    for dsn, ledger, _ in made.values():
        ledger.close()
        postgres.drop(dsn)


def cost(sites, people: int) -> dict[str, int]:
    """Pages of each figure: of the project, and of a person in the middle."""
    _, ledger, project = sites[people]
    person = ledger.value("SELECT user_id FROM person_stat ORDER BY runs OFFSET %(half)s LIMIT 1", half=people // 2)
    page_counts = {name: pages(ledger, sql, p=project) for name, sql in OF_PROJECT.items()}
    return page_counts | {f"person: {name}": pages(ledger, sql, u=person) for name, sql in OF_PEOPLE.items()}


@pytest.mark.proof
def test_figures_and_ranks_cost_the_same_at_any_size(sites):
    small, large = cost(sites, SMALL), cost(sites, LARGE)
    assert {name: (small[name], large[name]) for name in small if large[name] > small[name] + SLACK} == {}


def test_what_others_have_not_folded_costs_nothing(sites):
    _, ledger, project = sites[LARGE]
    before = {name: pages(ledger, sql, p=project) for name, sql in OF_PROJECT.items()}
    ledger.run(
        "INSERT INTO stat_delta (project_id, hour, actor, runs) SELECT %(p)s + 1 + n %% 9, clock(), 'c:' || n, 1"
        " FROM generate_series(1, 5000) n",
        p=project,
    )
    after = {name: pages(ledger, sql, p=project) for name, sql in OF_PROJECT.items()}
    ledger.run("DELETE FROM stat_delta")
    ledger.run("VACUUM stat_delta")
    assert {name: (before[name], after[name]) for name in before if after[name] > before[name] + 5} == {}


def test_an_answer_and_a_fold_of_it_cost_the_same_at_any_size(sites):
    spent = []
    for people in (SMALL, LARGE):
        _, ledger, project = sites[people]
        maximum = 0
        for actor in ("u:1", "u:2", "u:3"):
            ledger.contribute(project, actor)
            maximum = max(maximum, pages_of_fold(ledger))
        spent.append(maximum)
    assert spent[1] <= spent[0] + SLACK


def pages_of_fold(ledger: Ledger) -> int:
    (plan,) = ledger.value("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT fold_stats()")
    return plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]


def test_a_burst_is_folded_in_bounded_chunks(sites):
    _, ledger, project = sites[SMALL]
    ledger.run(
        "INSERT INTO stat_delta (project_id, hour, actor, runs) SELECT %(p)s, clock(), 'c:' || n %% 700, 1"
        " FROM generate_series(1, 2500) n",
        p=project,
    )
    before = ledger.figures(project)
    chunks = [ledger.value("SELECT fold_stats(clock(), 1000)") for _ in range(4)]
    assert chunks == [1000, 1000, 500, 0]
    assert ledger.figures(project) == before


def test_what_is_folded_is_not_read_again_while_somebody_may_still_see_it(sites):
    dsn, ledger, project = sites[SMALL]
    before = pages(ledger, OF_PROJECT["figures"], p=project), pages(ledger, OF_PEOPLE["top"])
    dump = Ledger(dsn, autocommit=False)
    dump.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    dump.rows("SELECT count(*) FROM stat_delta")
    ledger.run(
        "INSERT INTO stat_delta (project_id, hour, actor, user_id, runs) SELECT %(p)s, clock(), 'u:1', 1, 1"
        " FROM generate_series(1, 4000) n",
        p=project,
    )
    assert ledger.fold() == 4000
    after = pages(ledger, OF_PROJECT["figures"], p=project), pages(ledger, OF_PEOPLE["top"])
    dump.close()
    assert all(late <= early + SLACK for early, late in zip(before, after, strict=True)), (before, after)
