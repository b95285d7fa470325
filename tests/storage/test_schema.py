"""Migrations and definitions: from nothing, from an earlier version, twice, and at once."""

from __future__ import annotations

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

from crowdd.embedded.binaries import find_all
from crowdd.storage import schedulers, schema
from crowdd.storage.connections.pool import Pool
from crowdd.storage.database import Database

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


@pytest.fixture
def earlier(monkeypatch, tmp_path):
    """Makes this code one that knows the first migrations only: ``earlier(1)``; ``earlier(None)`` ends that."""
    ours, dispatch = schema.HERE, schedulers.dispatch

    def know(number: int | None) -> None:
        monkeypatch.setattr(schema, "HERE", ours if number is None else older(number))
        # Its functions return a type that the first migrations do not have.
        monkeypatch.setattr(schedulers, "dispatch", dispatch if number is None else lambda known: "")

    def older(number: int) -> Path:
        folder = tmp_path / f"version{number}"
        for kind in ("migrations", "definitions"):
            (folder / kind).mkdir(parents=True)
        for path in sorted((ours / "migrations").rglob("*.sql"))[:number]:
            shutil.copy(path, folder / "migrations")
        for path in (ours / "definitions").rglob("[1-4]*.sql"):
            shutil.copy(path, folder / "definitions")
        return folder

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


def test_each_migration_has_a_number_of_its_own():
    names = [path.name for path in (schema.HERE / "migrations").rglob("*.sql")]
    assert sorted(int(name[:4]) for name in names) == numbers()


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


@pytest.fixture(scope="module")
def fresh_dump(postgres, fresh):
    """Everything in a fresh database but the rows."""
    return dump(postgres, fresh)


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_database_that_had_every_version_equals_a_fresh_one(empty, fresh_dump, postgres, earlier):
    """Each version is the next one's earlier version: its definitions stand in the way of no migration."""
    *before, newest = numbers()
    async with pool_of(empty) as pool:
        for count, number in enumerate(before, 1):
            earlier(count)
            assert await schema.upgrade(pool) == [number]
            assert (await schema.status(pool)).current
        earlier(None)
        assert not (await schema.status(pool)).current
        assert await schema.upgrade(pool) == [newest]
        assert (await schema.status(pool)).current
    assert dump(postgres, empty) == fresh_dump


@pytest.mark.parametrize("number", [1, len(schema.migrations()) // 2])
@pytest_twisted.ensureDeferred
async def test_a_database_of_an_early_version_is_upgraded_at_once(empty, fresh_dump, postgres, earlier, number):
    async with pool_of(empty) as pool:
        earlier(number)
        assert await schema.upgrade(pool) == [*range(1, number + 1)]
        earlier(None)
        assert await schema.upgrade(pool) == numbers()[number:]
    assert dump(postgres, empty) == fresh_dump


@pytest_twisted.ensureDeferred
async def test_rows_of_an_earlier_version_live_on(empty, earlier):
    async with pool_of(empty) as pool:
        earlier(1)
        await schema.upgrade(pool)
        rows(
            empty,
            "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_sealed)"
            " VALUES (now(), 'ada', 'Ada', 'ada@example.org', '', '')",
        )
        earlier(None)
        await schema.upgrade(pool)
    assert rows(empty, "SELECT name FROM account") == [("ada",)]
    assert rows(empty, "SELECT name FROM code.user_record") == [("ada",)]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_work_with_a_former_name_goes_on_and_links_work(empty, earlier):
    async with pool_of(empty) as pool:
        earlier(33)
        await schema.upgrade(pool)
        rows(
            empty,
            "INSERT INTO job (name, due, failures) VALUES ('finish_farewells', now(), 2);"
            "INSERT INTO queue_item (name, arguments, admin, via, created, due) VALUES ('reset_letter', '{}', false, '', now(), now());"
            "INSERT INTO farewell VALUES (7, 'p', now());"
            "INSERT INTO one_time_link (token_hash, purpose, data, created, expires) SELECT n::bytea, n, d::jsonb, now(), now()"
            """ FROM (VALUES ('a', '{"sealed": "x"}'), ('b', '{}')) v(n, d)""",
        )
        earlier(None)
        await schema.upgrade(pool)
    assert rows(empty, "SELECT name, failures FROM job") == [("finish_account_deletions", 2)]
    assert rows(empty, "SELECT name FROM queue_item") == [("password_reset_mail",)]
    assert rows(empty, "SELECT user_id FROM account_deletion") == [(7,)]
    assert rows(empty, "SELECT data FROM one_time_link ORDER BY purpose") == [({"encrypted": "x"},), ({},)]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_tasks_keep_their_mode_and_what_follows_from_it(empty, earlier):
    modes = {"n": "limited", "b": "by_level", "i": "one_at_a_time", "a": "unlimited"}
    query = "SELECT mode::text, answers, open, level FROM task_ledger ORDER BY task_id"
    async with pool_of(empty) as pool:
        earlier(34)
        await schema.upgrade(pool)
        rows(
            empty,
            "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, answers, leases, mode)"
            ' SELECT 1, row_number() OVER (), row_number() OVER (), 3, answers, leases, mode::"char"'
            f" FROM unnest(ARRAY{[*modes]}) mode, generate_series(0, 3) answers, generate_series(0, 1) leases",
        )
        before = rows(empty, query)
        earlier(None)
        await schema.upgrade(pool)
    assert rows(empty, query) == [(modes[mode], *rest) for mode, *rest in before] and len(before) == 32


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_imports_of_an_earlier_version_go_on_and_forget_known_answers(empty, earlier):
    async with pool_of(empty) as pool:
        earlier(26)
        await schema.upgrade(pool)
        rows(empty, _PROJECTS)
        rows(
            empty,
            "INSERT INTO task_import (project_id, user_id, created, name, format, file, bytes, rows, columns, sample, uses, queue_item, ended)"
            " SELECT 1, 1, now(), n, 'csv', n, 1, 1, '[]', '[]', '{\"a\": \"info\", \"b\": \"calibration\"}', q, e FROM (VALUES"
            " ('waits', NULL::bigint, NULL::timestamptz), ('runs', 7, NULL), ('done', 6, now())) v(n, q, e)",
        )
        earlier(None)
        await schema.upgrade(pool)
    stored = rows(empty, "SELECT name, uses->>'b', on_error FROM task_import ORDER BY id")
    assert stored == [("waits", "info", None), ("runs", "info", "skip"), ("done", "calibration", None)]


_PROJECTS = """
INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_sealed)
SELECT now(), n, n, n, n::bytea, '' FROM unnest(ARRAY['ada', 'bob']) n;
INSERT INTO project (created, updated, name, short_name, secret_key_sealed, owner_id, owners_ids, category_id, published, first_published, info)
SELECT now(), now(), n, n, '', 1, ARRAY[1], 1, n <> 'draft', CASE WHEN n <> 'draft' THEN now() END, '{"task_presenter": "<p>"}'
  FROM unnest(ARRAY['open', 'draft']) n;
INSERT INTO project_ledger (project_id, trial) SELECT id, NOT published FROM project;
INSERT INTO task_run (project_id, task_id, actor, user_id, created, finish_time, counted, timeout, info)
SELECT 1, task, 'u:' || who, who, '2026-01-01', '2026-01-02', true, late, '1'
  FROM (VALUES (1, 1, NULL), (1, 2, 82800), (2, 2, NULL)) r(task, who, late);
INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, seconds)
SELECT 1, '2026-01-02', actor, user_id, 1, 86400 FROM task_run;
"""


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_drafts_get_a_key_answers_a_word_and_figures_are_put_right(empty, earlier):
    files = sorted(path.name for path in (schema.HERE / "migrations").rglob("*.sql"))
    async with pool_of(empty) as pool:
        earlier(files.index("0020_closed.sql"))
        await schema.upgrade(pool)
        rows(empty, _PROJECTS)
        earlier(None)
        await schema.upgrade(pool)
    keys = rows(
        empty,
        "SELECT p.draft_key, l.draft_key FROM project p JOIN project_ledger l ON l.project_id = p.id ORDER BY p.id",
    )
    assert keys[0] == (None, None) and keys[1][0] == keys[1][1] and len(keys[1][0]) == len("try-") + 32
    words = dict(rows(empty, "SELECT actor, word FROM volunteer_word WHERE project_id = 1"))
    assert words.keys() == {"u:1", "u:2"} and len(set(words.values())) == 2
    assert rows(empty, "SELECT user_id, sum(runs) FROM stat_delta GROUP BY 1 HAVING sum(runs) <> 0") == [(2, 2)]
    assert rows(empty, "SELECT actor, sum(seconds) FROM stat_delta WHERE actor <> '' GROUP BY 1 ORDER BY 1") == [
        ("u:1", 86400), ("u:2", 90000),
    ]  # fmt: skip


_WORDS = """
INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, info)
SELECT 1, 1, actor, '2026-01-01', '2026-01-02', true, '1' FROM unnest(ARRAY['c:a', 'c:b', 'u:1', 'i:fd00::1', 'x:p']) actor;
INSERT INTO volunteer_word VALUES (1, 'c:a', 'one'), (1, 'u:1', 'one'), (1, 'i:fd00::1', 'one'), (1, 'x:p', 'two'), (2, 'u:1', 'one');
"""


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_every_answer_gets_a_code_and_no_code_names_two(empty, earlier):
    files = sorted(path.name for path in (schema.HERE / "migrations").rglob("*.sql"))
    async with pool_of(empty) as pool:
        earlier(files.index("0030_volunteers.sql"))
        await schema.upgrade(pool)
        rows(empty, _WORDS)
        earlier(None)
        await schema.upgrade(pool)
    words = dict(rows(empty, "SELECT actor, word FROM volunteer_word WHERE project_id = 1"))
    assert words.keys() == {"c:a", "c:b", "u:1", "i:fd00::1", "x:p"} and len(set(words.values())) == 5
    assert (words["i:fd00::1"], words["x:p"]) == ("one", "two"), "it stays with those to whom the answers went"
    assert rows(empty, "SELECT word FROM volunteer_word WHERE project_id = 2") == [("one",)]


@pytest_twisted.ensureDeferred
async def test_two_upgrades_at_once_are_one(empty):
    async with pool_of(empty) as one, pool_of(empty) as other:
        applied = await gatherResults([ensureDeferred(schema.upgrade(pool)) for pool in (one, other)])
        assert sorted(applied) == [[], numbers()]
        assert (await schema.status(one)).current
    assert rows(empty, "SELECT count(*) FROM definition") == [(1,)]


@pytest_twisted.ensureDeferred
async def test_a_migration_that_fails_leaves_nothing_behind(empty, earlier):
    async with pool_of(empty) as pool:
        earlier(1)
        (schema.HERE / "migrations/0002_broken.sql").write_text("CREATE TABLE half (); DROP TABLE nowhere;")
        with pytest.raises(psycopg2.errors.UndefinedTable):
            await schema.upgrade(pool)
        assert (await schema.status(pool)).applied == ()
        assert rows(empty, "SELECT to_regclass('half'), to_regclass('project')") == [(None, None)]
        earlier(None)
        assert await schema.upgrade(pool) == numbers()


@pytest_twisted.ensureDeferred
async def test_a_database_of_a_newer_crowdd_is_refused(dsn):
    rows(dsn, "INSERT INTO migration (number, name) VALUES (9999, 'from the future')")
    before = rows(dsn, "SELECT oid FROM pg_proc WHERE proname = 'submit'")
    async with pool_of(dsn) as pool:
        with pytest.raises(schema.SchemaError, match="newer crowdd"):
            await schema.upgrade(pool)
        with pytest.raises(schema.SchemaError, match="newer crowdd"):
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


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_stored_addresses_of_pictures_that_are_neither_uploads_nor_https_are_removed(empty, earlier):
    good = ("/uploads/project-1/a.png", "http://127.0.0.1:8000/uploads/site/b.webp", "https://other.example/c.jpg?x=1")
    bad = (
        "/admin/users/add/7",
        "//evil.example/x",
        "http://other.example/a.png",
        "/uploads/a/../../admin",
        "javascript:1",
    )
    async with pool_of(empty) as pool:
        earlier(16)
        await schema.upgrade(pool)
        rows(
            empty,
            "SET search_path TO public; INSERT INTO announcement (created, updated, title, body, media_url, published)"
            f" SELECT now(), now(), u, 'b', u, true FROM unnest(ARRAY{[*good, *bad]}) u;"
            "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_sealed, info)"
            " SELECT now(), 'n' || i, 'f', 'e' || i, i::text::bytea, '', jsonb_build_object('avatar_url', u, 'kept', i)"
            f" FROM unnest(ARRAY{[*good, *bad]}) WITH ORDINALITY x(u, i)",
        )
        earlier(None)
        await schema.upgrade(pool)
    assert {row[0] for row in rows(empty, "SELECT media_url FROM announcement WHERE media_url IS NOT NULL")} == {*good}
    assert {row[0] for row in rows(empty, "SELECT info->>'avatar_url' FROM account WHERE info ? 'avatar_url'")} == {
        *good
    }
    assert len(rows(empty, "SELECT 1 FROM account WHERE info ? 'kept'")) == len(good + bad)


_PEOPLE = """
INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_sealed, google_user_id, orcid_user_id)
SELECT '2026-01-01', n, n, n, n::bytea, '', g, o FROM (VALUES ('ada', 'g1', 'o1'), ('bob', NULL, NULL), ('eve', NULL, 'o2')) v(n, g, o);
INSERT INTO session (token_hash, user_id, created, last_seen, expires) VALUES ('t', 1, '2026-01-02', '2026-01-03', '2027-01-01');
"""


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_sessions_and_accounts_of_an_earlier_version_are_kept_as_they_were(empty, earlier):
    files = sorted(path.name for path in (schema.HERE / "migrations").rglob("*.sql"))
    async with pool_of(empty) as pool:
        earlier(files.index("0022_guessing.sql"))
        await schema.upgrade(pool)
        rows(empty, _PEOPLE)
        earlier(None)
        await schema.upgrade(pool)
    connections = rows(
        empty,
        "SELECT name, provider, address_proved FROM provider_connection JOIN account a ON a.id = user_id ORDER BY 1, 2",
    )
    expected = [("ada", "google", False), ("ada", "orcid", False), ("eve", "orcid", False)]
    assert connections == expected, "nobody knows what was proved"
    assert rows(empty, "SELECT proved = created, admin_seen FROM session") == [(True, None)]
    signed_in = "SELECT count(*) FROM account WHERE last_signed_in = created AND NOT second_factor"
    assert rows(empty, signed_in) == [(3,)], "the next sign-in is not from a first device"


_LEDGER = """
INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, answers, extra, entered) VALUES (1, 1, 1, 3, 2, 5, 77);
INSERT INTO position (project_id, actor, lane, k1, k2) VALUES (1, 'u:1', 'priority/0', 1.5, 9);
INSERT INTO past_lease (project_id, actor, task_id, granted, expires, skipped) VALUES (1, 'u:1', 1, '2026-01-01', '2026-01-02', true);
"""


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_columns_that_got_another_name_hold_what_they_held(empty, earlier):
    files = sorted(path.name for path in (schema.HERE / "migrations").rglob("*.sql"))
    async with pool_of(empty) as pool:
        earlier(files.index("0033_names.sql"))
        await schema.upgrade(pool)
        rows(empty, _PROJECTS + _LEDGER)
        earlier(None)
        await schema.upgrade(pool)
    assert rows(empty, "SELECT uncounted, requeued_xid FROM task_ledger") == [(5, 77)]
    assert rows(empty, "SELECT scan, k1, k2 FROM position WHERE actor = 'u:1'") == [("priority/0", 1.5, 9)]
    assert rows(empty, "SELECT actor, skipped FROM expired_lease") == [("u:1", True)]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_columns_that_a_trigger_sets_go_on_from_what_they_were(empty, earlier):
    files = sorted(path.name for path in (schema.HERE / "migrations").rglob("*.sql"))
    task = "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, mode, priority_0)"
    figures = "SELECT task_id, open, level, rank FROM task_ledger ORDER BY task_id"
    async with pool_of(empty) as pool:
        earlier(files.index("0036_ledger_columns.sql"))
        await schema.upgrade(pool)
        rows(empty, f"{task} VALUES (1, 1, 1, 2, 'by_level', 0.5), (1, 2, 2, 1, 'limited', 0)")
        earlier(None)
        await schema.upgrade(pool)
    assert rows(empty, figures) == [(1, True, 0, -0.5), (2, True, None, 0)]
    rows(empty, f"{task} VALUES (1, 3, 3, 1, 'unlimited', 0.25)")
    rows(empty, "UPDATE task_ledger SET leases = 1, answers = 1 WHERE task_id = 1")
    rows(empty, "UPDATE task_ledger SET retired = true, priority_0 = 0.75 WHERE task_id = 2")
    assert rows(empty, figures) == [(1, False, 2, -0.5), (2, False, None, -0.75), (3, True, None, -0.25)]
