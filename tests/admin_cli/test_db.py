"""``crowdctl db``: from an empty database to this version."""

import contextlib

import psycopg2
from psycopg2.extensions import make_dsn

from crowdd.database import schema

KNOWN = list(schema.migrations())


def test_upgrade_from_nothing_and_again(crowdctl, empty):
    assert crowdctl.json("db", "upgrade", CROWDD_DB_DSN=empty) == {"applied": KNOWN}
    assert crowdctl.json("db", "upgrade", CROWDD_DB_DSN=empty) == {"applied": []}
    assert crowdctl("db", "upgrade", CROWDD_DB_DSN=empty).output == "The database is up to date.\n"


def test_status_before_and_after(crowdctl, empty, dsn):
    before = crowdctl.json("db", "status", CROWDD_DB_DSN=empty)
    assert (before["current"], before["functions_current"]) == (False, False)
    assert [row["applied"] for row in before["migrations"]] == [False] * len(KNOWN)
    assert "crowdctl db upgrade" in crowdctl("db", "status", CROWDD_DB_DSN=empty).output
    after = crowdctl.json("db", "status")
    assert (after["current"], after["functions_current"]) == (True, True)
    assert [row["applied"] for row in after["migrations"]] == [True] * len(KNOWN)


def test_status_for_people(crowdctl):
    lines = crowdctl("db", "status").output.splitlines()
    assert lines[0].split() == ["migration", "applied"]
    assert lines[1].split() == ["0001_0.1.0", "yes"]
    assert lines[-1] == "The database is up to date."


def test_restored_makes_followers_begin_again(crowdctl, rows):
    crowdctl.json("user", "list")
    (before,) = rows("SELECT change_base FROM cluster")
    assert crowdctl.json("db", "restored") == {"restored": True}
    (after,) = rows("SELECT change_base FROM cluster")
    assert after["change_base"] > before["change_base"]
    assert crowdctl.json("check") == []


def test_database_of_a_newer_version(crowdctl, rows):
    rows("INSERT INTO migration (number, name) VALUES (9999, 'from the future')")
    assert "upgraded by a newer crowdd" in crowdctl.refused("db", "upgrade")
    assert "upgraded by a newer crowdd" in crowdctl.refused("admin", "list")
    assert "9999 (of a newer version)" in crowdctl("db", "status").output


def test_a_migration_that_fails_ends_in_a_sentence(crowdctl, empty):
    """serve printed the traceback of the failed upgrade."""
    with contextlib.closing(psycopg2.connect(empty)) as db, db, db.cursor() as cursor:
        cursor.execute("CREATE TABLE job (other int)")
    error = crowdctl.refused("db", "upgrade", CROWDD_DB_DSN=empty)
    assert error == (
        'Error: Migration 0001_0.1.0 failed: relation "job" already exists. The database is as it was before.'
    )


def test_other_commands_want_the_upgrade_first(crowdctl, empty):
    assert crowdctl.refused("admin", "list", CROWDD_DB_DSN=empty).endswith("Run: crowdctl db upgrade")


def test_upgrade_without_the_right_to_make_tables(crowdctl, postgres, empty):
    postgres.run("CREATE ROLE guest LOGIN")
    try:
        error = crowdctl.refused("db", "upgrade", CROWDD_DB_DSN=make_dsn(empty, user="guest"))
        assert "permission denied" in error
        assert "owner of the database" in error
    finally:
        postgres.run("DROP ROLE guest")


# A session that runs holds the lock of a process; the row of another process has no lock.
_HELD = "SELECT pg_advisory_lock(hashtextextended('node east/0', 0))"
_ROW = (
    "INSERT INTO node (id, worker, name, host, version, newest_migration, fingerprint, started, seen, draining)"
    " SELECT id, 0, id, 'h', '0.0.9', %s, 'of another version', clock(), clock(), false FROM unnest(%s::text[]) id"
)


def test_servers_are_listed_and_an_upgrade_that_they_cannot_bear_is_refused(crowdctl, rows, dsn):
    assert crowdctl.json("nodes") == []
    rows(_ROW, 3, ["east", "west"])
    with contextlib.closing(psycopg2.connect(dsn)) as held:
        with held.cursor() as cursor:
            cursor.execute(_HELD)
        held.commit()
        listed = crowdctl.json("nodes")
        assert [(row["name"], row["version"], row["migration"], row["processes"], row["state"]) for row in listed] == [
            ("east", "0.0.9", 3, 1, "ready"), ("west", "0.0.9", 3, 0, "gone"),
        ]  # fmt: skip
        lines = crowdctl("nodes").output.splitlines()
        assert lines[0].split() == ["name", "host", "version", "migration", "started", "seen", "processes", "state"]
        assert lines[2].split()[0] == "west"
        rows("UPDATE definition SET fingerprint = 'of an earlier version', version = '0.0.9'")
        error = crowdctl.refused("db", "upgrade")
        assert "takes away what running servers use: east (0.0.9, migration 0003)." in error
        assert "Nothing was changed." in error and "crowdctl nodes" in error
        assert not crowdctl.json("db", "status")["functions_current"]
    assert crowdctl.json("db", "upgrade") == {"applied": []}
    assert crowdctl.json("db", "status")["functions_current"]
