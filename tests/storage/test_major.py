"""A database folder of our own moves from one major version of PostgreSQL to a newer one."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess

import psycopg2
import pytest
from support.servers.live import BIN
from support.servers.postgres import scratch_folder

from crowdd.database.embedded import StartError, cluster, find_home
from crowdd.database.embedded.binaries import find_all
from crowdd.database.embedded.cluster import exchange
from crowdd.features.operations import major_upgrade

FOUND = sorted(find_all(), key=lambda one: one.major)
OLD, NEW = FOUND[0], FOUND[-1]
needs_two = pytest.mark.skipif(
    OLD.major == NEW.major,
    reason="One version of PostgreSQL is installed: another one comes with apt-get install postgresql-15, or with pip install 'crowdd[embedded]'.",
)


@pytest.fixture
def home():
    """A folder with a database of the oldest version, with a table of ours."""
    folder = scratch_folder("crowdd-major-")
    made = find_home(folder)
    cluster.initialise(made, OLD)
    with asked(made, OLD) as cursor:
        cursor.execute(
            "CREATE EXTENSION pg_trgm; CREATE SCHEMA code; CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n"
        )
        cursor.execute("CREATE FUNCTION code.half(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 / 2'")
        cursor.execute("CREATE INDEX ON kept (code.half(n)); CREATE SEQUENCE s; SELECT setval('s', 41)")
    yield made
    shutil.rmtree(folder)


@contextlib.contextmanager
def asked(home, binaries):
    server = cluster.start(home, binaries)
    try:
        with contextlib.closing(psycopg2.connect(server.dsn)) as connected, connected, connected.cursor() as cursor:
            yield cursor
    finally:
        server.stop()


def version(home):
    return int((home.cluster / "PG_VERSION").read_text())


def command(home, *words):
    environment = {name: text for name, text in os.environ.items() if not name.startswith("CROWDD_")}
    environment |= {"CROWDD_DATA_DIR": str(home.data)}
    line = [BIN / "crowdctl", "db", "upgrade", "--postgresql", *words]
    return subprocess.run(line, env=environment, cwd=home.data, capture_output=True, text=True, check=False)


@needs_two
def test_rows_sequences_and_functions_come_along_and_the_old_folder_stays(home):
    done = command(home)
    assert done.returncode == 0, done.stderr
    assert f"Moved from PostgreSQL {OLD.version} to {NEW.version}: 1,000 rows compared." in done.stdout
    assert version(home) == NEW.major
    assert (home.folder / f"postgres-{OLD.major}/PG_VERSION").read_text().strip() == str(OLD.major)
    assert not [*home.folder.glob("postgres.*")]
    with asked(home, NEW) as cursor:
        cursor.execute("SELECT sum(n), max(code.half(n)), nextval('s') FROM kept")
        assert cursor.fetchone() == (500_500, 500, 42)
    assert "already uses the newest installed PostgreSQL" in command(home).stdout


@pytest.mark.proof
@needs_two
def test_a_move_that_fails_leaves_the_old_folder_in_use(home, monkeypatch):
    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(major_upgrade.dump_statements, "restore", broken)
    with pytest.raises(KeyboardInterrupt):
        major_upgrade.move(home, None, None, lambda words: None)
    assert version(home) == OLD.major
    assert not [*home.folder.glob("postgres.*")]
    with asked(home, OLD) as cursor:
        cursor.execute("SELECT count(*) FROM kept")
        assert cursor.fetchone() == (1000,)


@pytest.mark.proof
@needs_two
def test_missing_programs_are_named_with_what_to_do(home, monkeypatch):
    monkeypatch.setattr(major_upgrade, "find_all", lambda: [NEW])
    with pytest.raises(
        StartError, match=rf"PostgreSQL {OLD.major}, which was not found\..*pip install --target .*--old-bin"
    ):
        major_upgrade.move(home, None, None, lambda words: None)
    moved = major_upgrade.move(home, OLD.folder, None, lambda words: None)
    assert moved is not None and version(home) == NEW.major


def test_two_folders_change_places(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    exchange(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "one/two").exists() and (tmp_path / "two/one").exists()
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "one", tmp_path / "three")
