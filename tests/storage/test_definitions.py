"""Views and functions are created again around migrations, so that a migration may change any column."""

from __future__ import annotations

import shutil

import pytest_twisted

from crowdd.database import schema


@pytest_twisted.ensureDeferred
async def test_a_migration_may_change_and_drop_columns_that_views_name(pool, tmp_path, monkeypatch):
    later = tmp_path / "storage"
    for folder in ("schema", "migrations", "definitions"):
        shutil.copytree(schema.HERE / folder, later / folder)
    (later / "migrations" / "9000_later.sql").write_text(
        "ALTER TABLE task ALTER COLUMN quorum TYPE numeric; ALTER TABLE task DROP COLUMN calibration"
    )
    for path in (later / "definitions" / "core").glob("*.sql"):  # the views for volunteers list their columns
        path.write_text(path.read_text("utf-8").replace("t.quorum, t.calibration", "t.quorum"))
    monkeypatch.setattr(schema, "HERE", later)
    assert await schema.upgrade(pool) == [9000]
    columns = await pool.fetch(
        "SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute"
        " WHERE attrelid = 'task_record'::regclass AND attnum > 0"
    )
    types = {row["name"]: row["type"] for row in columns}
    assert types["quorum"] == "numeric"
    assert "calibration" not in types
    assert await schema.upgrade(pool) == []


@pytest_twisted.ensureDeferred
async def test_changed_definitions_alone_are_created_again(pool, tmp_path, monkeypatch):
    later = tmp_path / "storage"
    for folder in ("schema", "migrations", "definitions"):
        shutil.copytree(schema.HERE / folder, later / folder)
    (later / "definitions" / "99_more.sql").write_text("CREATE VIEW one AS SELECT 1 AS n;")
    monkeypatch.setattr(schema, "HERE", later)
    assert not (await schema.status(pool)).current
    assert await schema.upgrade(pool) == []
    assert await pool.fetch("SELECT n FROM one") == [{"n": 1}]
    assert (await schema.status(pool)).current
