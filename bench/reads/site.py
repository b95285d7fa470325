"""A site of some years: projects, people and answers, straight into the tables; counters are made by the repairs."""

from __future__ import annotations

import attrs
from support.person import Person
from support.servers.live import LiveServer

from bench.support.testbed import Sql

N_ANSWERS = 10
PER_OWNER = 10
BASE = 1_000_000  # ids of tasks begin behind it
_STORY = "## What you see\n\nA picture of a bird at a *feeder*. See [the list](https://example.org/birds).\n\n"
_PRESENTER = "<div id='question'>Is there a bird?</div><script>pybossa.run('{}')</script>"


@attrs.frozen
class Size:
    """How much there is."""

    projects: int = 200
    people: int = 10_000
    answers: int = 1_000_000


SMALL = Size(20, 1_000, 20_000)


@attrs.frozen
class Filled:
    """What the addresses of a table name: a project in the middle, one of its tasks, an owner, and a person."""

    project: int
    short_name: str
    task: int
    owner: Person
    person: str


_PEOPLE = (
    "ALTER TABLE account DISABLE TRIGGER USER",
    "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
    " SELECT now(), 'p' || n, 'Person ' || n, 'p' || n, ('p' || n)::bytea, '' FROM generate_series(1, %(people)s) n",
    "ALTER TABLE account ENABLE TRIGGER USER",
)
# The first project has half of all answers, the others the same each. A third of the tasks is open.
_ROWS = (
    """
    CREATE TABLE share AS SELECT id AS p, row_number() OVER (ORDER BY id) AS nth,
           CASE row_number() OVER (ORDER BY id) WHEN 1 THEN %(answers)s / 2 / %(wanted)s
                ELSE greatest(1, %(answers)s / 2 / (count(*) OVER () - 1) / %(wanted)s) END AS tasks
      FROM project""",
    "ALTER TABLE share ADD first bigint",
    """
    UPDATE share s
       SET first = %(base)s + (SELECT coalesce(sum(tasks), 0) FROM share o WHERE o.nth < s.nth)""",
    """
    INSERT INTO task (id, project_id, created, info)
    SELECT first + n, p, now() - interval '200 days',
           jsonb_build_object('question', 'Is there a bird?', 'url', 'https://example.org/images/' || n || '.jpg')
      FROM share, generate_series(1, tasks) n""",
    """
    INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, answers, done)
    SELECT p, first + n, first + n, %(wanted)s + (n %% 3 = 0)::int, %(wanted)s, n %% 3 > 0
      FROM share, generate_series(1, tasks) n""",
    # Each of the answers of a task comes from its own tenth of the people; some people answer far more than others.
    """
    INSERT INTO task_run (project_id, task_id, actor, user_id, created, finish_time, counted, info)
    SELECT p, first + 1 + n / %(wanted)s, 'u:' || u, u, at - interval '7 seconds', at, true,
           '{"answer": "yes", "seconds": 7}'
      FROM (SELECT p, first, n, now() - random() ^ 2 * interval '140 days' AS at,
                   %(person)s + n %% 10 + 10 * floor(random() ^ 3 * (%(people)s / 10))::bigint AS u
              FROM share, generate_series(0, tasks * %(wanted)s - 1) n) r""",
    """
    INSERT INTO result (project_id, task_id, created, version, last_version, task_run_ids,
                        n_compared, agreement, consensus, consensus_hash, confidence, further)
    SELECT l.project_id, l.task_id, now(), 1, true,
           ARRAY(SELECT id FROM task_run r WHERE r.project_id = l.project_id AND r.task_id = l.task_id ORDER BY id),
           c.n_compared, c.agreement, c.consensus, c.consensus_hash, c.confidence, c.further
      FROM task_ledger l JOIN share ON p = l.project_id
           CROSS JOIN LATERAL consensus_with_compared(l.project_id, l.task_id) c
     WHERE l.done AND l.task_id > first""",
    "UPDATE project_ledger SET n_ordinals = %(base)s + %(answers)s, max_rank = 0",
    "SELECT setval(pg_get_serial_sequence('task', 'id'), (SELECT max(id) FROM task))",
    "DROP TABLE share",
)
_REPAIRS = (
    "repair_outcomes",
    "repair_bytes",
    "repair_volunteers",
    "repair_recent",
    "repair_hours",
    "repair_figures",
    "repair_people",
)


def fill(server: LiveServer, sql: Sql, size: Size) -> Filled:
    """Makes the site of a server that has nothing yet."""
    owners = [_owner(server, number, size) for number in range((size.projects + PER_OWNER - 1) // PER_OWNER)]
    for statement in _PEOPLE:
        sql.rows(statement, {"people": size.people})
    person = sql.one("SELECT min(id) FROM account WHERE name LIKE 'p%%' AND email_addr = name", {})
    values = {"answers": size.answers, "wanted": N_ANSWERS, "base": BASE, "people": size.people, "person": person}
    for statement in _ROWS:
        sql.rows(statement, values)
    sql.rows("VACUUM ANALYZE")
    for project in sql.rows("SELECT id FROM project"):
        for repair in _REPAIRS:
            sql.rows(f"SELECT {repair}(%(p)s, clock())", {"p": project["id"]})
    sql.rows("VACUUM ANALYZE")
    number = size.projects // 2
    project = sql.one("SELECT id FROM project WHERE short_name = %s", [f"project{number}"])
    task = sql.one(
        "SELECT task_id FROM task_ledger WHERE project_id = %s AND done ORDER BY 1 OFFSET 5 LIMIT 1", [project]
    )
    return Filled(project, f"project{number}", task, owners[number // PER_OWNER], "p1")


def _owner(server: LiveServer, number: int, size: Size) -> Person:
    """Somebody with projects, each with a task, published."""
    owner = Person(server.url).register(f"owner{number}")
    for nth in range(number * PER_OWNER, min((number + 1) * PER_OWNER, size.projects)):
        name = f"project{nth}"
        made = owner.api(
            "POST",
            "project",
            {
                "name": f"Birds of garden {nth}",
                "short_name": name,
                "description": "Is there a bird in the picture?",
                "long_description": _STORY * 4,
                "category_id": None,
                "info": {"task_presenter": _PRESENTER.format(name) * 20},
            },
        )
        owner.api("POST", "task", {"project_id": made["id"], "info": {"n": 0}, "n_answers": N_ANSWERS})
        owner.publish(name)
    return owner
