"""One role owns the tables and upgrades, another serves: the procedure of docs/operations.md, word by word."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg2
import pytest
import pytest_twisted
from psycopg2.errors import InsufficientPrivilege
from psycopg2.extensions import make_dsn
from support.browsers import newcomer
from twisted.internet.threads import deferToThread

from crowdd.kernel.config import load
from crowdd.sched.job_runner import scheduled

TEXT = (Path(__file__).parents[2] / "docs/operations.md").read_text("utf-8")


def procedure():
    """The statements of the section, as they stand there."""
    section = TEXT.partition("### Separate database roles\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
    return [line.strip() for line in block.strip().splitlines()]


@pytest.fixture
def roles(dsn):
    """A migrated database after the procedure: the owner's dsn, and the one of the role that serves."""
    superuser = make_dsn(dsn, user="postgres")
    _as(superuser, *procedure())
    yield dsn, make_dsn(dsn, user="crowdd_server")
    _as(superuser, "DROP OWNED BY crowdd_server", "DROP ROLE crowdd_server")


@pytest_twisted.ensureDeferred
async def test_the_serving_role_can_do_all_that_a_server_does(roles, serve, crowdctl):
    owner, server = roles
    both = {"CROWDD_DB_DSN": server, "CROWDD_DB_MIGRATE_DSN": owner}
    served = await serve(**both)
    await newcomer(served, "ada")
    key = await served.person("bob")
    project = await served.project(key, tasks=2, published=True, n_answers=1)
    task = (await served.client().get(f"/api/{project['id']}/newtask")).json()
    answer = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await served.client().post("/api/taskrun", json=answer)).status == 200
    assert (await served.client().get("/ready")).status == 200
    house = served.house.with_database(served.server._pools.background)
    for job in scheduled(house.base.settings):
        await job.work(house)
    assert (await key.delete(f"/api/project/{project['id']}")).status == 204
    # An upgrade creates functions and views again; the role reads those, too.
    await deferToThread(_as, owner, "UPDATE definition SET fingerprint = 'of an older version'")
    assert (await deferToThread(crowdctl.json, "db", "upgrade", **both)) == {"applied": []}
    again = await served.project(key, "owls", tasks=1, published=True)
    assert (await served.client().get(f"/api/{again['id']}/newtask")).json()["id"]
    await deferToThread(_as, owner, "CREATE TABLE added (id int GENERATED ALWAYS AS IDENTITY)")
    await deferToThread(_as, server, "INSERT INTO added DEFAULT VALUES")
    await deferToThread(_as, owner, "DROP TABLE added")


def _as(dsn, *statements):
    connection = psycopg2.connect(dsn)
    try:
        with connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
    finally:
        connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE account",
        "ALTER TABLE account ADD COLUMN x int",
        "CREATE TABLE mine (id int)",
        "TRUNCATE audit",
        "DROP SCHEMA code CASCADE",
        "CREATE FUNCTION code.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DELETE FROM migration",
        "UPDATE definition SET fingerprint = ''",
    ],
)
def test_the_serving_role_cannot_change_the_shape_of_anything(roles, statement):
    with pytest.raises(InsufficientPrivilege):
        _as(roles[1], statement)


def test_doctor_says_when_the_serving_role_owns_the_tables(roles, crowdctl):
    owner, server = roles

    def said(dsn):
        ended = crowdctl("doctor", "--json", CROWDD_DB_DSN=dsn)
        return [finding["what"] for finding in ended.json if "owns the tables" in finding["what"]]

    assert said(owner) == ["The database role of the server owns the tables, so it could drop or change them."]
    assert said(server) == []


def test_an_upgrade_by_the_serving_role_is_refused_in_a_sentence(roles, crowdctl):
    owner, server = roles
    _as(owner, "UPDATE definition SET fingerprint = 'of an older version'")
    assert "owner of the database" in crowdctl.refused("db", "upgrade", CROWDD_DB_DSN=server)
    assert crowdctl.json("db", "upgrade", CROWDD_DB_DSN=server, CROWDD_DB_MIGRATE_DSN=owner) == {"applied": []}


def test_a_password_of_the_owner_is_kept_out_of_the_log():
    settings = load(None, {"CROWDD_DB_MIGRATE_DSN": "host=h password=hidden-one"})
    assert "hidden-one" in settings.secrets()
