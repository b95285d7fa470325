"""Migrations and definitions: from nothing, from an earlier version, twice, and at once."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import pytest_twisted
from psycopg2.extensions import make_dsn
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.database import schema
from crowdd.database.access import Database
from crowdd.database.embedded.binaries import find_all
from crowdd.database.pool import Pool

VOLATILE = ("\\restrict", "\\unrestrict", "--")


@pytest.fixture
def empty(postgres):
    """The DSN of a database without anything in it."""
    name = "empty"
    postgres.run(f"CREATE DATABASE {name} OWNER crowdd TEMPLATE template0")
    made = make_dsn(postgres.dsn, dbname=name)
    yield made
    postgres.drop(made)


@pytest.fixture(scope="module")
def fresh(postgres):
    """The DSN of a database with all of ours and nothing else; nobody changes it."""
    postgres.run("CREATE DATABASE schema_fresh OWNER crowdd TEMPLATE template0")
    made = make_dsn(postgres.dsn, dbname="schema_fresh")
    pytest_twisted.blockon(ensureDeferred(_upgraded(made)))
    yield made
    postgres.drop(made)


@pytest.fixture
def dsn(postgres, fresh):
    """The same for one test."""
    postgres.run("CREATE DATABASE schema_copy OWNER crowdd TEMPLATE schema_fresh")
    made = make_dsn(postgres.dsn, dbname="schema_copy")
    yield made
    postgres.drop(made)


async def _upgraded(dsn: str) -> None:
    async with pool_of(dsn) as pool:
        await schema.upgrade(pool)


@asynccontextmanager
async def pool_of(dsn: str) -> AsyncIterator[Pool]:
    """A pool as the commands have it."""
    pool = Pool(reactor, dsn, size=2, setup=[schema.SEARCH_PATH])
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()


NEXT, AFTER = (max(schema.migrations()) + n for n in (1, 2))
LATER = {
    NEXT: "-- expands: a column\nALTER TABLE task ADD COLUMN later int NOT NULL DEFAULT 7;",
    AFTER: f"-- contracts after {NEXT}: a column\nALTER TABLE task DROP COLUMN calibration; ALTER TABLE task ALTER COLUMN later TYPE numeric;",
}


@pytest.fixture
def become(monkeypatch, tmp_path):
    """Makes this code a later version, which knows LATER up to a number and a view of its own for each: ``become(NEXT)``."""
    ours = schema.HERE

    def know(number: int) -> None:
        folder = tmp_path / f"version{number}-{len([*tmp_path.iterdir()])}"
        for kind in ("schema", "migrations", "definitions"):
            shutil.copytree(ours / kind, folder / kind)
        for each in range(NEXT, number + 1):
            (folder / "migrations" / f"{each:04}_later.sql").write_text(LATER[each])
            (folder / "definitions" / f"99_later_{each}.sql").write_text(
                f"CREATE VIEW later_{each} AS SELECT later FROM task;"
            )
        for path in (folder / "definitions" / "core").glob("*.sql") if number > NEXT else ():
            path.write_text(path.read_text("utf-8").replace("t.quorum, t.calibration", "t.quorum"))
        monkeypatch.setattr(schema, "HERE", folder)

    return know


def dump(postgres, dsn: str) -> list[str]:
    """Everything in a database but the rows, as pg_dump writes it."""
    tool = next(binaries for binaries in find_all() if Path(binaries.tool("pg_dump")).exists()).tool("pg_dump")
    done = subprocess.run(
        [tool, "--schema-only", "--dbname", dsn], check=True, capture_output=True, text=True, timeout=60
    )
    lines = done.stdout.replace(psycopg2.extensions.parse_dsn(dsn)["dbname"], "database").splitlines()
    return [line for line in lines if line and not line.startswith(VOLATILE)]


def rows(dsn: str, sql: str) -> list[Any]:
    """What a statement gives, if anything."""
    connection = psycopg2.connect(dsn)
    with connection, connection.cursor() as cursor:
        cursor.execute(sql)
        records = cursor.fetchall() if cursor.description else []
    connection.close()
    return records


def numbers() -> list[int]:
    return sorted(schema.migrations())


def test_migrations_are_numbered_without_gaps():
    files = sorted((schema.HERE / "migrations").glob("*.sql"))
    assert [int(path.name[:4]) for path in files] == list(range(2, len(files) + 2))
    assert numbers() == list(range(1, len(files) + 2))


@pytest_twisted.ensureDeferred
async def test_an_empty_database_has_nothing_applied(empty):
    async with pool_of(empty) as pool:
        status = await schema.status(pool)
        assert (status.applied, status.known, status.definitions_current) == ((), tuple(numbers()), False)
        with pytest.raises(schema.SchemaError, match="crowdctl db upgrade"):
            status.require()
    assert rows(empty, "SELECT 1 FROM pg_namespace WHERE nspname = 'code'") == [], "looking changes nothing"


@pytest_twisted.ensureDeferred
async def test_an_upgrade_applies_everything_and_a_second_one_nothing(empty, postgres):
    async with pool_of(empty) as pool:
        assert await schema.upgrade(pool) == numbers()
        status = await schema.status(pool)
        assert status.current
        status.require()
        first, when = dump(postgres, empty), rows(empty, "SELECT number, at FROM migration")
        function = "SELECT 'code.submit'::regproc::oid"
        laid = rows(empty, function)
        assert await schema.upgrade(pool) == []
    assert dump(postgres, empty) == first
    assert rows(empty, "SELECT number, at FROM migration") == when
    assert rows(empty, function) == laid, "current definitions are not created again"


@pytest_twisted.ensureDeferred
async def test_a_database_that_had_every_version_equals_a_fresh_one(empty, dsn, postgres, become):
    """Each version is the next one's earlier version: its definitions stand in the way of no migration."""
    account = (
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
        " VALUES (now(), 'ada', 'Ada', 'ada@example.org', '', '')"
    )
    async with pool_of(empty) as pool:
        become(AFTER)
        assert await schema.upgrade(pool) == [*range(1, AFTER + 1)]
    async with pool_of(dsn) as pool:
        rows(dsn, account)
        for number in (NEXT, AFTER):
            become(number)
            assert not (await schema.status(pool)).current
            assert await schema.upgrade(pool) == [number]
            assert (await schema.status(pool)).current
    assert dump(postgres, dsn) == dump(postgres, empty)
    assert rows(dsn, "SELECT name FROM account") == rows(dsn, "SELECT name FROM code.user_record") == [("ada",)]


@pytest_twisted.ensureDeferred
async def test_two_upgrades_at_once_are_one(empty):
    async with pool_of(empty) as one, pool_of(empty) as other:
        applied = await gatherResults([ensureDeferred(schema.upgrade(pool)) for pool in (one, other)])
        assert sorted(applied) == [[], numbers()]
        assert (await schema.status(one)).current
    assert rows(empty, "SELECT count(*) FROM definition") == [(1,)]


@pytest_twisted.ensureDeferred
async def test_a_migration_that_fails_leaves_nothing_behind(empty, become, monkeypatch):
    async with pool_of(empty) as pool:
        with monkeypatch.context() as patch:
            patch.setitem(LATER, NEXT, "CREATE TABLE half (); DROP TABLE nowhere;")
            become(NEXT)
        failed = f'Migration {NEXT:04}_later failed: table "nowhere" does not exist. The database is as it was before.'
        with pytest.raises(schema.SchemaError, match=re.escape(failed)):
            await schema.upgrade(pool)
        assert (await schema.status(pool)).applied == ()
        assert rows(empty, "SELECT to_regclass('half'), to_regclass('project')") == [(None, None)]
        become(AFTER)
        assert await schema.upgrade(pool) == [*range(1, AFTER + 1)]


@pytest_twisted.ensureDeferred
async def test_a_database_of_another_line_of_crowdd_is_refused(dsn, become, monkeypatch):
    """Only numbers were compared: a branch with its own second migration ended in a traceback, or passed for ours."""
    async with pool_of(dsn) as pool:
        become(NEXT)
        assert await schema.upgrade(pool) == [NEXT]
        with monkeypatch.context() as patch:
            patch.setitem(LATER, NEXT, "-- expands: something else\nALTER TABLE task ADD COLUMN other int;")
            become(NEXT)
            words = f"Another line of crowdd has made this database: its {NEXT:04}_later differ from those of"
            for refused in (schema.upgrade(pool), _required(pool)):
                with pytest.raises(schema.SchemaError, match=words):
                    await refused
        with monkeypatch.context() as patch:  # comments and line breaks may change
            patch.setitem(LATER, NEXT, f"{LATER[NEXT]}\n\n-- Nothing else.\n")
            become(NEXT)
            await _required(pool)
        rows(dsn, f"UPDATE migration SET name = 'renamed' WHERE number = {NEXT}")
        with pytest.raises(schema.SchemaError, match=f"its {NEXT:04}_renamed differ"):
            await _required(pool)


async def _required(pool: Pool) -> None:
    (await schema.status(pool)).require()


@pytest_twisted.ensureDeferred
async def test_a_database_of_a_newer_crowdd_is_refused(dsn):
    rows(dsn, "UPDATE definition SET version = '9.8.7'")
    rows(dsn, "INSERT INTO migration (number, name) VALUES (9999, 'from the future')")
    before = rows(dsn, "SELECT oid FROM pg_proc WHERE proname = 'submit'")
    async with pool_of(dsn) as pool:
        with pytest.raises(
            schema.SchemaError, match=r"upgraded by a newer crowdd than .* Install crowdd 9\.8\.7 or newer"
        ):
            await schema.upgrade(pool)
        with pytest.raises(
            schema.SchemaError, match=r"upgraded by a newer crowdd than .* Install crowdd 9\.8\.7 or newer"
        ):
            (await schema.status(pool)).require()
    assert rows(dsn, "SELECT oid FROM pg_proc WHERE proname = 'submit'") == before


@pytest_twisted.ensureDeferred
async def test_definitions_that_changed_are_created_again(dsn):
    rows(dsn, "UPDATE definition SET fingerprint = 'that of older text'")
    rows(dsn, "DROP FUNCTION code.submit")
    rows(dsn, "CREATE FUNCTION code.left_over() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    async with pool_of(dsn) as pool:
        status = await schema.status(pool)
        assert not status.definitions_current
        with pytest.raises(schema.SchemaError, match="older than this crowdd"):
            status.require()
        assert await schema.upgrade(pool) == []
        assert (await schema.status(pool)).current
    functions = rows(dsn, "SELECT proname FROM pg_proc WHERE pronamespace = 'code'::regnamespace")
    assert ("submit",) in functions
    assert ("left_over",) not in functions


@pytest_twisted.ensureDeferred
async def test_definitions_are_laid_while_others_use_them(dsn):
    rows(dsn, "UPDATE definition SET fingerprint = ''")
    started = []
    async with pool_of(dsn) as pool:

        async def using(tx: Database) -> None:
            await tx.fetch("SELECT * FROM score")
            started.append(ensureDeferred(schema.upgrade(pool)))
            await tx.fetch("SELECT fold_stats()")

        await pool.transaction(using)
        assert await started[0] == []
        assert (await schema.status(pool)).current
        assert await pool.fetch("SELECT fold_stats() AS n") == [{"n": 0}]


def test_a_trigger_sets_the_columns_of_the_ledger_that_follow_from_others(dsn):
    task = "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, mode, priority_0)"
    figures = "SELECT task_id, open, level, rank FROM task_ledger ORDER BY task_id"
    rows(
        dsn, f"{task} VALUES (1, 1, 1, 2, 'by_level', 0.5), (1, 2, 2, 1, 'limited', 0), (1, 3, 3, 1, 'unlimited', 0.25)"
    )
    assert rows(dsn, figures) == [(1, True, 0, -0.5), (2, True, None, 0), (3, True, None, -0.25)]
    rows(dsn, "UPDATE task_ledger SET leases = 1, answers = 1 WHERE task_id <> 2")
    rows(dsn, "UPDATE task_ledger SET retired = true, priority_0 = 0.75 WHERE task_id = 2")
    assert rows(dsn, figures) == [(1, False, 2, -0.5), (2, False, None, -0.75), (3, True, None, -0.25)]
