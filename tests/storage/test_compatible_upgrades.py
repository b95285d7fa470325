"""Upgrades while servers run: those of an earlier version go on, or the upgrade is refused and changes nothing."""

from __future__ import annotations

import re
import shutil
from contextlib import asynccontextmanager

import pytest
import pytest_twisted
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred

from crowdd.database import nodes, schema
from crowdd.database.access import Prepared
from crowdd.database.nodes import Process
from crowdd.database.pool import Pool
from crowdd.database.schema import MigrationKind, kind_of, list_offered_code, select_used_code

EXPANDING = "-- expands: a column\nALTER TABLE task ADD COLUMN later int NOT NULL DEFAULT 7;"
CONTRACTING = "-- contracts: a column\nALTER TABLE task DROP COLUMN calibration CASCADE;"
NOTHING = "-- expands: nothing\nSELECT 1;"
TAKES_AWAY = "takes away what running servers use"


@pytest.fixture
def later(tmp_path, monkeypatch):
    """Makes this code a later version, which has ``sql`` as a further migration; ``later(None)`` ends that.

    ``functions`` are added to the definitions, in which ``change`` replaces a pattern.
    """
    versions = [schema.HERE]

    def become(sql, *, number=9001, version="0.2.0", functions="", change=("", "")):
        if sql is None:
            monkeypatch.setattr(schema, "HERE", versions[0])
            monkeypatch.setattr(schema, "__version__", "0.1.0")
            return
        storage = tmp_path / f"storage{len(versions)}"
        for folder in ("schema", "migrations", "definitions"):
            shutil.copytree(versions[-1] / folder, storage / folder)
        versions.append(storage)
        (storage / "migrations" / f"{number}_later.sql").write_text(sql)
        for path in (storage / "definitions").rglob("*.sql") if change[0] else ():
            path.write_text(re.sub(*change, path.read_text("utf-8")))
        more = functions or f"CREATE VIEW later_{len(versions)} AS SELECT {number} AS n;"
        (storage / "definitions" / f"99_later_{len(versions)}.sql").write_text(more)
        monkeypatch.setattr(schema, "HERE", storage)
        monkeypatch.setattr(schema, "__version__", version)

    return become


@asynccontextmanager
async def running(dsn, name="a", code=None):
    """A server of this version, or of ``code``, as far as an upgrade can see."""
    code = code or schema.Code.read()
    session = Pool(reactor, dsn, size=1, setup=[schema.SEARCH_PATH])
    await session.start()
    process = Process(name, 0, name, "host", code.version, max(code.known), code.fingerprint)
    assert await nodes.hold(session, process)
    await nodes.announce(session, process)
    yield session
    await session.close()


def test_a_migration_says_of_which_kind_it_is():
    assert kind_of("-- expands: a table\n") == MigrationKind(contracts=False)
    assert kind_of("-- contracts after 70: a column\n") == MigrationKind(contracts=True, after=70)
    assert kind_of("-- contracts: a column\n") == MigrationKind(contracts=True)
    for undeclared in ("-- A table.\n", "-- expands:\n", "CREATE TABLE t ();\n-- expands: a table"):
        assert kind_of(undeclared) == schema.UNDECLARED_KIND
    borne = [MigrationKind(True, 70).is_borne_by(newest) for newest in (69, 70, 71)]
    assert borne == [False, True, True]


def test_migrations_after_the_first_release_declare_their_kind():
    newer = {str(each): each.sql for number, each in schema.migrations().items() if number > 1}
    assert [name for name, sql in newer.items() if not schema.declares_kind(sql)] == []
    gone = re.compile(
        r"\b(DROP (TABLE|COLUMN|CONSTRAINT)|RENAME|ALTER COLUMN \w+ (TYPE|SET NOT NULL))\b", re.IGNORECASE
    )
    # A check that is replaced in one statement allows more than before; nothing is gone.
    replaced = re.compile(r"DROP CONSTRAINT (\w+_check), ADD CONSTRAINT \1 CHECK", re.IGNORECASE)
    others = {name: replaced.sub("", sql) for name, sql in newer.items()}
    assert [name for name, sql in others.items() if gone.search(sql) and not kind_of(newer[name]).contracts] == []


@pytest_twisted.ensureDeferred
async def test_a_server_goes_on_after_an_upgrade_that_adds_something(served, dsn, later):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True, n_answers=1)
    ada = served.client()
    assert (await ada.get(f"/api/{project['id']}/newtask")).status == 200
    later(EXPANDING, functions="CREATE FUNCTION later() RETURNS int LANGUAGE sql AS 'SELECT 1';")
    assert await schema.upgrade(served.database) == [9001]
    assert (await served.database.fetch("SELECT later() AS n")) == [{"n": 1}]
    later(None)
    task = (await ada.get(f"/api/{project['id']}/newtask")).json()
    made = await ada.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    assert made.status == 200, made.text
    for path in ("/ready", "/project/birds/", f"/api/task?project_id={project['id']}", "/project/birds/tasks/"):
        assert (await owner.get(path)).status == 200, path


@pytest_twisted.ensureDeferred
async def test_an_earlier_version_starts_on_what_a_later_one_added_to_and_upgrades_nothing(pool, dsn, later, serve):
    later(EXPANDING)
    await schema.upgrade(pool)
    laid = await pool.fetch("SELECT fingerprint FROM definition WHERE current")
    later(None)
    status = await schema.status(pool)
    assert (status.current, status.later, status.served, status.borne) == (False, True, True, {9001})
    status.require()
    assert await schema.upgrade(pool) == [], "nothing is to be done, and nothing goes back"
    assert await pool.fetch("SELECT fingerprint FROM definition WHERE current") == laid
    server = await serve()
    assert (await server.client().get("/ready")).status == 200


@pytest_twisted.ensureDeferred
async def test_what_running_servers_use_is_not_taken_away(pool, dsn, later):
    earlier = schema.Code.read()
    later(CONTRACTING, change=("t.quorum, t.calibration", "t.quorum"))
    async with running(dsn, "east", earlier), running(dsn, "west", earlier):
        with pytest.raises(schema.SchemaError, match=TAKES_AWAY) as refused:
            await schema.upgrade(pool)
        assert "east (0.1.0, migration 00" in str(refused.value) and "west" in str(refused.value)
        assert "Stop them" in refused.value.hint
        assert await pool.fetch("SELECT calibration FROM task") == [], "nothing was changed"
        assert (await schema.status(pool, earlier)).current
    assert await schema.upgrade(pool) == [9001], "both have ended"
    assert not (await schema.status(pool, earlier)).served
    with pytest.raises(schema.SchemaError, match="newer crowdd"):
        (await schema.status(pool, earlier)).require()


@pytest_twisted.ensureDeferred
async def test_what_only_older_servers_use_goes_when_they_have_been_upgraded(pool, dsn, later):
    first = schema.Code.read()
    later(EXPANDING)
    second = schema.Code.read()
    await schema.upgrade(pool)
    after = CONTRACTING.replace("contracts:", "contracts after 9001:")
    later(after, number=9002, version="0.3.0", change=("t.quorum, t.calibration", "t.quorum"))
    await pool.execute("UPDATE definition SET relies_on = '{}' WHERE current")  # it does not use the column any more
    async with running(dsn, "new", second):
        async with running(dsn, "old", first):
            with pytest.raises(schema.SchemaError, match=TAKES_AWAY) as refused:
                await schema.upgrade(pool)
            assert "old (0.1.0" in str(refused.value) and "new" not in str(refused.value)
            assert "knows migration 9001 first" in refused.value.hint
        assert await schema.upgrade(pool) == [9002]


@pytest_twisted.ensureDeferred
async def test_functions_that_statements_call_stay_while_servers_run_and_others_may_go(pool, dsn, later):
    earlier = schema.Code.read()
    relied = (await pool.fetch("SELECT relies_on FROM definition"))[0]["relies_on"]
    internal = {way.partition("(")[0] for way in await list_offered_code(pool) if way not in relied}
    assert "accuracy_cap" in internal and "end_job" not in internal
    later(NOTHING, change=(r"\bend_job\b", "finish_job"))
    async with running(dsn, "old", earlier):
        with pytest.raises(schema.SchemaError, match=TAKES_AWAY):
            await schema.upgrade(pool)
        later(NOTHING, number=9002, change=(r"\bfinish_job\b", "end_job"))
        later(NOTHING, number=9003, change=(r"\baccuracy_cap\b", "accuracy_limit"))
        assert await schema.upgrade(pool) == [9001, 9002, 9003]


@pytest_twisted.ensureDeferred
async def test_a_further_argument_with_a_default_leaves_the_ways_to_call(pool):
    await pool.execute("CREATE FUNCTION code.told(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'")
    before = {way for way in await list_offered_code(pool) if way.startswith("told(")}
    await pool.execute("DROP FUNCTION code.told")
    await pool.execute("CREATE FUNCTION code.told(a int, b text DEFAULT '') RETURNS int LANGUAGE sql AS 'SELECT 1'")
    after = {way for way in await list_offered_code(pool) if way.startswith("told(")}
    await pool.execute("DROP FUNCTION code.told")
    await pool.execute("CREATE FUNCTION code.told(a int, OUT b int, OUT c int) LANGUAGE sql AS 'SELECT 1, 2'")
    other = {way for way in await list_offered_code(pool) if way.startswith("told(")}
    await pool.execute("DROP FUNCTION code.told")
    assert before == {"told(integer) -> integer"}
    assert before < after == before | {"told(integer, text) -> integer"}
    assert other == {"told(integer) -> record (b integer, c integer)"}
    assert select_used_code([*before, "a_view.id bigint"], {"another"}) == ["a_view.id bigint"]


@pytest_twisted.ensureDeferred
async def test_a_server_that_starts_during_an_upgrade_waits_for_its_end(pool, dsn):
    held = Pool(reactor, dsn, size=1, setup=[schema.SEARCH_PATH])
    await held.start()
    code = schema.Code.read()
    process = Process("late", 0, "late", "host", code.version, max(code.known), code.fingerprint)
    waiting = []

    async def upgrading(tx):
        await tx.fetch("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": nodes.UPGRADE_LOCK})
        waiting.append(ensureDeferred(nodes.announce(held, process)))
        assert await nodes.running(tx) == []
        blocked = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
        while not await tx.fetch(blocked):
            pass
        assert not waiting[0].called

    assert await nodes.hold(held, process)
    await pool.transaction(upgrading)
    await waiting[0]
    assert [row.name for row in await nodes.running(pool)] == ["late"]
    await held.close()


@pytest_twisted.ensureDeferred
async def test_a_statement_whose_columns_an_upgrade_changed_is_planned_again(pool):
    everything = Prepared("SELECT * FROM later_table")
    await pool.execute("CREATE TABLE later_table AS SELECT 1 AS a")
    single = await pool.transaction(lambda tx: tx.fetch(everything))
    assert single == [{"a": 1}]
    await pool.execute("ALTER TABLE later_table ADD COLUMN b int NOT NULL DEFAULT 2")
    for _ in range(2 * 4):  # on each connection of the pool
        assert await pool.transaction(lambda tx: tx.fetch(everything)) == [{"a": 1, "b": 2}]
    await pool.execute("DROP TABLE later_table")
