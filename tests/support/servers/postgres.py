"""The PostgreSQL of a test session: migrated databases, each used by one test at a time."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg2
from psycopg2.extensions import connection, make_dsn, parse_dsn

from support.servers.kept_connections import KeptConnections

TEMPLATE = "crowdd_template"
# Databases lie in memory where there is plenty: ext4 takes long to find places for the files of a new database soon
# after those of another were removed, which is an eighth of what a test of the server costs.
_MEMORY, _MIN_FREE = "/dev/shm", 6 << 30
LARGE = 2_000_000  # bytes; a database with more rows is emptied by TRUNCATE, and its statistics are forgotten
BETWEEN_VACUUMS = 40  # times that a database is emptied: each VACUUM makes every session plan all statements again

# Rows that migrations made are kept aside; a change of the shape of tables or functions is noticed.
_PREPARE = """
CREATE SCHEMA between_tests;
CREATE TABLE between_tests.shape (changed boolean NOT NULL);
INSERT INTO between_tests.shape VALUES (false);
CREATE TABLE between_tests.seed (name text PRIMARY KEY, rows jsonb NOT NULL, sequence regclass);
DO $$ DECLARE t text; kept jsonb; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('migration', 'definition') LOOP
        EXECUTE format('SELECT jsonb_agg(to_jsonb(r)) FROM public.%I r', t) INTO kept;
        IF kept IS NOT NULL THEN
            INSERT INTO between_tests.seed SELECT t, kept, max(pg_get_serial_sequence('public.' || t, attname)) FROM pg_attribute
             WHERE attrelid = format('public.%I', t)::regclass AND attidentity <> '';
        END IF;
    END LOOP;
END $$;
CREATE FUNCTION between_tests.truncate() RETURNS void LANGUAGE plpgsql AS $$
DECLARE names text := (SELECT string_agg(format('public.%I', tablename), ', ') FROM pg_tables
                        WHERE schemaname = 'public' AND tablename NOT IN ('migration', 'definition'));
BEGIN
    EXECUTE 'TRUNCATE ' || names;
    SET LOCAL allow_system_table_mods = on;
    DELETE FROM pg_statistic WHERE starelid = ANY (string_to_array(names, ', ')::regclass[]);
END $$;
-- Whether the database is empty again, with the names of the tables that had rows; false once its shape has changed. In a
-- session without foreign keys and triggers: to switch them off here would have all that is below planned again each time.
CREATE FUNCTION between_tests.clean(p_large bigint, OUT cleaned boolean, OUT used text) LANGUAGE plpgsql AS $$
DECLARE s record; bytes bigint;
BEGIN
    SELECT NOT changed INTO cleaned FROM between_tests.shape;
    IF NOT cleaned THEN RETURN; END IF;
    SELECT string_agg(format('public.%I', relname), ', '), sum(pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0)) INTO used, bytes FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname NOT IN ('migration', 'definition') AND pg_relation_size(oid) > 0;
    IF bytes > p_large THEN
        PERFORM between_tests.truncate();
        used := NULL;
    ELSE
        FOR s IN SELECT unnest(string_to_array(used, ', ')) AS name LOOP
            EXECUTE 'DELETE FROM ' || s.name;
        END LOOP;
    END IF;
    PERFORM setval(seqrelid, 1, false) FROM pg_sequence WHERE pg_sequence_last_value(seqrelid) IS NOT NULL;
    FOR s IN SELECT name, rows, sequence FROM between_tests.seed LOOP
        EXECUTE format('INSERT INTO public.%1$I OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::public.%1$I, $1)', s.name) USING s.rows;
        IF s.sequence IS NOT NULL THEN PERFORM setval(s.sequence, jsonb_array_length(s.rows)); END IF;
    END LOOP;
END $$;
-- Ends the sessions of the others and waits until they have gone: one that is still at work could take a number of a
-- sequence after that has been set back.
CREATE PROCEDURE between_tests.end_others(kept int[]) LANGUAGE plpgsql AS $$
DECLARE until timestamptz := clock_timestamp() + interval '5 seconds';
BEGIN
    LOOP
        PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL (kept);
        EXIT WHEN NOT FOUND;
        IF clock_timestamp() > until THEN RAISE query_canceled USING MESSAGE = 'a session does not end'; END IF;
        PERFORM pg_sleep(0.002);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
END $$;
CREATE FUNCTION between_tests.notice() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    UPDATE between_tests.shape SET changed = true;
END $$;
CREATE FUNCTION between_tests.notice_version() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    UPDATE between_tests.shape SET changed = true;
    RETURN NULL;
END $$;
CREATE TRIGGER version_changed AFTER INSERT OR UPDATE OR DELETE ON public.migration EXECUTE FUNCTION between_tests.notice_version();
CREATE TRIGGER version_changed AFTER INSERT OR UPDATE OR DELETE ON public.definition EXECUTE FUNCTION between_tests.notice_version();
CREATE EVENT TRIGGER shape_changed ON ddl_command_end EXECUTE FUNCTION between_tests.notice();
"""


def scratch_folder(prefix: str) -> Path:
    """A new folder for a database, which every user can enter: in memory if there is room, else below /tmp."""
    roomy = os.path.ismount(_MEMORY) and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _MIN_FREE
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=_MEMORY if roomy else "/tmp"))
    folder.chmod(0o755)
    return folder


class Postgres:
    """The server of this session; its databases are copies of one that was migrated."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._made = 0
        self._clean: list[str] = []
        self._purposes: dict[str, str] = {}
        self._emptyings: Counter[str] = Counter()
        self.resting: dict[str, Any] = {}  # by database: the checked session of the ledger's tests
        self._superusers: dict[str, connection] = {}  # by database: those that empty it
        self.kept = KeptConnections()

    def prepare(self) -> None:
        """Makes the template ready to be copied; it is migrated by now."""
        with self._open(TEMPLATE) as connected, connected.cursor() as cursor:
            cursor.execute(_PREPARE)
        connected.close()

    def run(self, statement: str, database: str = "postgres") -> None:
        """One statement outside a transaction, as the superuser."""
        connected = self._open(database)
        connected.autocommit = True
        with connected.cursor() as cursor:
            cursor.execute(statement)
        connected.close()

    def fetch(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """The rows of a statement, as the superuser."""
        with self._open("postgres") as connected, connected.cursor() as cursor:
            cursor.execute(statement, values or None)
            rows = cursor.fetchall()
        connected.close()
        return rows

    def make(self) -> str:
        """The DSN of a new database."""
        self._made += 1
        name = f"test_{os.getpid()}_{self._made}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} OWNER crowdd STRATEGY file_copy")
        return make_dsn(self.dsn, dbname=name)

    def drop(self, dsn: str) -> None:
        """Removes a database, also when somebody is still connected."""
        self._disconnect(dsn)
        self.run(f"DROP DATABASE {_name(dsn)} WITH (FORCE)")

    def take(self, purpose: str = "") -> str:
        """The DSN of a database as after the migrations.

        For the purpose "server" a server's sessions with it outlive the server and serve the next one; for "ledger" the
        checked session does. Otherwise nobody is connected to it, so that a test may count sessions or end them all.
        """
        fitting = [dsn for dsn in self._clean if self._purposes[dsn] == purpose]
        dsn = fitting[-1] if fitting else self.make()
        if dsn in self._clean:
            self._clean.remove(dsn)
        self._purposes[dsn] = purpose
        if purpose == "server":
            self.kept.allow(dsn)
        return dsn

    def rest(self, dsn: str, session: Any) -> None:
        """Keeps a checked session for the next test on its database, or closes it."""
        if self._purposes[dsn] == "ledger":
            self.resting[dsn] = session
        else:
            session.close()

    def give_back(self, dsn: str) -> None:
        """Empties a database for the next test; removes it when it cannot be as it was."""
        if self._emptied(dsn):
            self._clean.append(dsn)
            if not self._purposes[dsn]:
                self._disconnect(dsn)
        else:
            self.drop(dsn)

    def _emptied(self, dsn: str) -> bool:
        try:
            with self._superuser(_name(dsn)).cursor() as cursor:
                resting = [self.resting[dsn].pid] if dsn in self.resting else []
                cursor.execute("CALL between_tests.end_others(%s)", [self.kept.pids(dsn) + resting])
                cursor.execute("SELECT cleaned, used FROM between_tests.clean(%s)", [LARGE])
                cleaned, used = cursor.fetchone()
                self._emptyings[dsn] += 1
                if used and self._emptyings[dsn] % BETWEEN_VACUUMS == 0:
                    cursor.execute(f"VACUUM {used}")
                return bool(cleaned)
        except (psycopg2.OperationalError, psycopg2.InterfaceError):  # somebody holds on to it, or ended our session
            return False

    def _superuser(self, name: str) -> connection:
        if name not in self._superusers:
            made = self._superusers[name] = self._open(name)
            made.autocommit = True
            with made.cursor() as cursor:
                cursor.execute("SET lock_timeout = '5s'; SET session_replication_role = replica")
        return self._superusers[name]

    def _disconnect(self, dsn: str) -> None:
        self.kept.forget(dsn)
        if dsn in self.resting:
            self.resting.pop(dsn).close()
        if _name(dsn) in self._superusers:
            self._superusers.pop(_name(dsn)).close()

    def _open(self, database: str) -> connection:
        return psycopg2.connect(make_dsn(self.dsn, dbname=database, user="postgres"))


def _name(dsn: str) -> str:
    return str(parse_dsn(dsn)["dbname"])
