"""``crowdctl serve``: what it starts, what it says, and that it leaves nothing behind."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import psycopg2
import pytest
from support.servers.live import BIN, free_port
from support.servers.postgres import scratch_folder
from support.servers.programs import Program, processes_of, spent_by

from crowdd.admin_cli.serve import EXAMPLE_FOLDER, IMPATIENT_SECONDS, Stop, reachable, status
from crowdd.database.embedded.cluster import wait_until
from crowdd.kernel.concurrency.isolated import Restarts

ROOT = Path(__file__).parent.parent
READY = "Press Ctrl-C to stop"
MAX_SECONDS = 10  # of a processor, for a start that finds everything prepared; about twice what it takes


@contextlib.contextmanager
def folder():
    """A data folder that the user who runs PostgreSQL can enter."""
    made = scratch_folder("crowdd-serve-")
    yield made
    end_all(made)
    shutil.rmtree(made)


def end_all(place):
    """Kills what a test that failed has left in a folder."""
    for pid in processes_of(place):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def data():
    """A data folder for one test."""
    with folder() as made:
        yield made


@pytest.fixture(scope="class")
def used():
    """A data folder for several tests: the first start makes a database, those that follow find it."""
    with folder() as made:
        yield made


@pytest.fixture
def crowdctl_serve(data):
    """Starts ``crowdctl serve`` on the folder; other settings by name."""
    with contextlib.ExitStack() as programs:

        def begin(**settings):
            own = {"CROWDD_DATA_DIR": str(data), "CROWDD_HTTP_PORT": str(free_port()), **settings}
            program = Program([str(BIN / "crowdctl"), "serve"], cwd=ROOT, env={**plain_environment(), **own})
            program.url = f"http://127.0.0.1:{own['CROWDD_HTTP_PORT']}"
            programs.callback(program.process.kill)
            return program

        yield begin


def plain_environment():
    return {name: text for name, text in os.environ.items() if not name.startswith("CROWDD_")}


def ask(data, statement):
    """First row of a statement on the server's own database."""
    with (
        contextlib.closing(psycopg2.connect(host=str(data / "postgres-socket"), user="crowdd", dbname="crowdd")) as db,
        db,
        db.cursor() as cursor,
    ):
        cursor.execute(statement)
        return cursor.fetchone() if cursor.description else None


def keep(data):
    """Stores something."""
    ask(data, "DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 42 AS answer")


def get(url):
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.status


class TestOnItsOwnDatabase:
    """One data folder for all of them, and nothing runs in it when a test begins."""

    @pytest.fixture
    def data(self, used):
        yield used
        end_all(used)

    def test_starts_says_where_it_is_and_ends_with_all_it_began(self, crowdctl_serve, data):
        first = crowdctl_serve()
        first.read_until(READY)
        assert first.url in first.output
        link = re.search(r"Become admin +(http://\S+)", first.output)[1]
        assert link.startswith(first.url) and get(link) == 200
        assert f"{first.url}/project/{EXAMPLE_FOLDER.name}/" in first.output
        assert get(f"{first.url}/project/{EXAMPLE_FOLDER.name}/") == 200
        keep(data)
        self.refused_in_the_same_folder(crowdctl_serve, data, first)
        assert first.interrupt() == 0
        assert processes_of(data) == {}

        second = crowdctl_serve()
        second.read_until(READY)
        assert spent_by(data) <= MAX_SECONDS
        assert ask(data, "SELECT answer FROM kept") == (42,)
        second.process.terminate()
        assert second.end() == 0, "SIGTERM ends it, too"
        assert processes_of(data) == {}

    @staticmethod
    def refused_in_the_same_folder(crowdctl_serve, data, first):
        error = sentence(crowdctl_serve())
        assert re.search(rf"{data} is used by another crowdd \(process {first.process.pid}\).*CROWDD_DATA_DIR", error)
        assert get(f"{first.url}/health") == 200

    def test_interrupt_before_it_serves_leaves_nothing(self, crowdctl_serve, data):
        server = crowdctl_serve()
        assert wait_until(lambda: (data / "postgres" / "postmaster.pid").exists(), 60)
        assert server.interrupt() in (0, 130)
        assert "Traceback" not in server.output
        assert processes_of(data) == {}

    @pytest.mark.proof
    def test_killed_outright_its_children_end_and_the_next_start_works(self, crowdctl_serve, data):
        server = crowdctl_serve()
        server.read_until(READY)
        server.process.kill()
        # At once: what still ends is waited for.
        again = crowdctl_serve()
        again.read_until(READY)
        assert str(server.process.pid) not in map(str, processes_of(data))
        again.process.kill()
        assert wait_until(lambda: processes_of(data) == {}, 60)

    @pytest.mark.proof
    def test_killed_daemon_and_killed_postgresql_are_started_again(self, crowdctl_serve, data):
        """Commands find the database beside the server, and when it has ended."""
        server = crowdctl_serve()
        server.read_until(READY)
        keep(data)
        ask(data, "UPDATE account SET admin = false")
        assert admins(data) == []
        ask(data, "UPDATE account SET admin = true")  # whom the example belongs to
        assert admins(data) == ["examples"]
        os.kill(child(data, "twistd"), signal.SIGKILL)
        server.read_until("server process exited: restart_in=0.5s")
        server.read_until("server process restarted")
        assert get(f"{server.url}/ready") == 200
        os.kill(child(data, "postgres -D"), signal.SIGKILL)
        server.read_until("PostgreSQL process restarted")
        assert wait_until(lambda: ready(server.url), 60)
        assert ask(data, "SELECT answer FROM kept") == (42,)
        assert server.interrupt() == 0
        assert admins(data) == ["examples"]
        assert processes_of(data) == {}


class TestRestarts:
    def test_pauses_grow_until_it_is_given_up(self):
        restarts = Restarts(lambda: 0.0, 0.5, 30, 5)
        assert [(restarts.pause(), restarts.exhausted) for _ in range(6)][3:] == [
            (4.0, False),
            (8.0, False),
            (16.0, True),
        ]

    def test_process_that_ran_for_a_minute_starts_over(self):
        now = [0.0]
        restarts = Restarts(lambda: now[0], 0.5, 30, 5)
        for _ in range(5):
            restarts.pause()
        restarts.began()
        now[0] += 60
        assert restarts.pause() == 0.5


def admins(data):
    """The names that crowdctl lists, for which it looks for the database of this folder."""
    own = {**plain_environment(), "CROWDD_DATA_DIR": str(data)}
    command = [BIN / "crowdctl", "admin", "list", "--json"]
    done = subprocess.run(command, env=own, cwd=data, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [row["name"] for row in json.loads(done.stdout)]


def ready(url):
    with contextlib.suppress(OSError):
        return get(f"{url}/ready") == 200
    return False


def sentence(program):
    """What a program says that refuses to begin: one line, one with the configuration, and a bad status."""
    assert program.end() == 1
    line, named = program.output.splitlines()
    assert named.startswith("Configuration: etc/crowdd.conf, CROWDD_DATA_DIR"), program.output
    return line


def child(data, words):
    return next(pid for pid, line in processes_of(data).items() if words in line)


@pytest.mark.proof
def test_on_a_configured_database_none_is_begun(crowdctl_serve, dsn, data):
    server = crowdctl_serve(CROWDD_DB_DSN=dsn)
    server.read_until(READY)
    assert not (data / "postgres").exists()
    with contextlib.closing(psycopg2.connect(dsn)) as db, db.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        assert cursor.fetchone()[0] > 1
    assert server.interrupt() == 0
    assert processes_of(data) == {}


class TestRefusals:
    """Each is one sentence that says what to do, and a bad exit status."""

    def test_busy_port(self, crowdctl_serve, data):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            error = sentence(crowdctl_serve(CROWDD_HTTP_PORT=str(port)))
        assert re.search(rf"127.0.0.1 port {port} .*CROWDD_HTTP_PORT", error)
        assert not (data / "postgres").exists()

    def test_broken_configuration(self, crowdctl_serve):
        assert "CROWDD_HTTP_PORT" in sentence(crowdctl_serve(CROWDD_HTTP_PORT="many"))

    def test_folder_that_cannot_be_written(self, crowdctl_serve, data):
        (data / "file").write_text("")
        assert "Cannot write to the data folder" in sentence(crowdctl_serve(CROWDD_DATA_DIR=str(data / "file/var")))

    def test_configured_database_that_is_not_there(self, crowdctl_serve, data):
        error = sentence(crowdctl_serve(CROWDD_DB_DSN=f"host={data} dbname=none user=nobody"))
        assert re.search(r"Could not connect to the configured database: .*CROWDD_DB_DSN", error)


class TestStop:
    @pytest.fixture
    def daemon(self):
        """A process that does not mind being asked to end, and says when it is deaf."""
        ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
        deaf = f"{ignore}; print('deaf', flush=True); signal.pause()"
        with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"deaf\n"
            yield process
            process.kill()

    def test_before_the_daemon_it_breaks_off_once(self):
        stop = Stop()
        with pytest.raises(KeyboardInterrupt):
            stop(signal.SIGINT, None)
        stop(signal.SIGINT, None)
        assert stop.asked

    def test_impatience_kills_and_a_signal_passed_on_twice_does_not(self, daemon):
        times = iter([100.0, 100.1, 100.0 + 2 * IMPATIENT_SECONDS])
        stop = Stop(lambda: next(times))
        stop.daemon = daemon
        stop(signal.SIGTERM, None)
        stop(signal.SIGTERM, None)
        assert daemon.poll() is None
        stop(signal.SIGTERM, None)
        assert daemon.wait(30) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("code", "asked", "expected"), [(0, False, 0), (3, False, 3), (-9, False, 137), (-15, True, 0), (0, True, 0)]
)
def test_exit_status(code, asked, expected):
    assert status(code, asked=asked) == expected


@pytest.mark.parametrize(("host", "asked"), [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("10.0.0.7", "10.0.0.7")])
def test_a_server_that_listens_everywhere_is_asked_here(host, asked):
    assert reachable(host) == asked
