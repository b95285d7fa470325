"""``twistd crowdd`` as an operator meets it: processes, signals, logs, workers, and starts that must fail.

One process serves several tests, in the order in which they stand here.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg2
import pytest
from psycopg2.extensions import make_dsn
from support.person import Person
from support.servers.live import BIN, free_port
from support.servers.programs import processes_of

from crowdd.database.embedded.cluster import alive, wait_until

PATIENCE = 60.0


class Twistd:
    """``twistd crowdd`` in a folder of its own; ``conf`` is its configuration by section and option."""

    def __init__(self, dsn: str, *, workers: int = 1) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="crowdd-daemon-", dir="/tmp"))
        self.port, self.dsn = free_port(), dsn
        self.url = f"http://127.0.0.1:{self.port}"
        self.conf = {
            ("http", "port"): str(self.port),
            ("http", "base_url"): "http://birds.example.org",
            ("db", "dsn"): f"{dsn} password=hidden-password",
            ("db", "pool_size"): "3",
            ("daemon", "workers"): str(workers),
            ("data", "dir"): str(self.folder / "data"),
            ("volunteers", "cookies_per_hour"): "100000",
            ("ratelimit", "window"): "86400",
            ("metrics", "token"): "hidden-token",
            ("log", "format"): "json",
            ("log", "requests"): "on",
        }
        self.told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.told.bind(str(self.folder / "notify"))
        self.told.settimeout(PATIENCE)

    def write(self, **changed: str) -> None:
        """The configuration, with ``section_option`` changed."""
        self.conf |= {tuple(name.split("_", 1)): text for name, text in changed.items()}
        lines = [f"[{section}]\n{option} = {text}" for (section, option), text in self.conf.items()]
        sections: dict[str, list[str]] = {}
        for line in lines:
            section, _, option = line.partition("\n")
            sections.setdefault(section, []).append(option)
        text = "\n".join("\n".join([section, *options]) for section, options in sections.items())
        (self.folder / "crowdd.conf").write_text(text)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Begins it; ``words`` are twistd's own options."""
        self.write()
        environment = {name: text for name, text in os.environ.items() if not name.startswith("CROWDD_")}
        environment["NOTIFY_SOCKET"] = str(self.folder / "notify")
        command = [str(BIN / "twistd"), *words, "crowdd", "--config", str(self.folder / "crowdd.conf")]
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def until_told(self, words: str) -> str:
        """What the service manager was told up to the message with these words."""
        heard = ""
        while words not in heard:
            heard += self.told.recv(4096).decode() + "\n"
        return heard

    @property
    def pid(self) -> int:
        """The first process."""
        return int((self.folder / "twistd.pid").read_text())

    @property
    def log(self) -> str:
        """What it has written."""
        return (self.folder / "data/crowdd.log").read_text()

    def await_log(self, words: str, times: int = 1) -> None:
        """Returns when the log has them."""
        assert wait_until(lambda: self.log.count(words) >= times, PATIENCE), f"{words!r} never came:\n{self.log}"

    def ask(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """An answer, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        response = answer.status, {name.lower(): text for name, text in answer.getheaders()}, answer.read()
        connection.close()
        return response

    def figures(self) -> str:
        return self.ask("/metrics", Authorization="Bearer hidden-token")[2].decode()

    def end(self) -> None:
        """Nothing of it is left."""
        for pid in processes_of(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not processes_of(self.folder), PATIENCE)
        self.told.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Listener:
    """A stream of events, read in a thread."""

    def __init__(self, port: int, path: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.connection.request("GET", path)
        self.answer = self.connection.getresponse()
        self.got, self.over = "", False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            while line := self.answer.readline():
                self.got += line.decode()
        self.over = True


def project(server: Twistd, name: str) -> tuple[Person, int]:
    """A published project with an owner."""
    owner = Person(server.url).register(f"owner-{name}")
    made = owner.api(
        "POST", "project",
        {"name": name, "short_name": name, "description": "?", "info": {"task_presenter": "<p>?</p>"}},
    )  # fmt: skip
    owner.api("POST", "task", [{"project_id": made["id"], "info": {}, "n_answers": 1} for _ in range(50)])
    owner.publish(name)
    return owner, made["id"]


def rows(dsn: str, statement: str) -> list[tuple]:
    with contextlib.closing(psycopg2.connect(dsn, options="-c search_path=public,code")) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def held(dsn: str) -> Iterator[None]:
    """Nobody can read categories meanwhile."""
    with contextlib.closing(psycopg2.connect(dsn)) as connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLE category IN ACCESS EXCLUSIVE MODE")
        yield


@pytest.fixture(scope="module")
def dsn_of_all(postgres):
    made = postgres.make()
    yield made
    postgres.drop(made)


def begun(dsn: str, workers: int) -> Twistd:
    """In the background, where a crash has left its pid file."""
    made = Twistd(dsn, workers=workers)
    (made.folder / "data").mkdir()
    (made.folder / "data/secret.key").write_text(f"{'5a' * 32}\n")  # as machines have that share a database
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    (made.folder / "twistd.pid").write_text(str(gone.pid))
    starting = made.start()
    printed, _ = starting.communicate(timeout=PATIENCE)
    assert starting.returncode == 0, printed
    made.told_first = made.until_told("READY=1")
    return made


@pytest.fixture(scope="module")
def single(dsn_of_all):
    made = begun(dsn_of_all, 1)
    yield made
    made.end()


@pytest.fixture(scope="module")
def pair(dsn_of_all):
    made = begun(dsn_of_all, 2)
    yield made
    made.end()


class TestOneProcess:
    def test_tells_when_it_is_ready_and_writes_its_log(self, single):
        assert "The database is waited for" in single.told_first
        assert single.ask("/ready")[0] == 200
        assert single.pid in processes_of(single.folder)
        assert all(json.loads(line)["message"] for line in single.log.splitlines())

    def test_writes_neither_addresses_nor_secrets(self, single):
        _, headers, _ = single.ask("/project/nowhere/?api_key=hidden-key", Cookie="a=hidden-cookie")
        single.await_log(headers["x-request-id"])
        (line,) = [json.loads(one) for one in single.log.splitlines() if headers["x-request-id"] in one]
        assert (line["status"], line["route"], line["method"]) == (404, "/project/<short_name>/", "GET")
        assert "hidden" not in single.log and "127.0.0.1" not in single.log

    def test_reads_its_settings_again(self, single):
        assert single.ask("/api/category")[1]["x-ratelimit-limit"] == "300"
        single.write(ratelimit_limit="7", db_pool_size="4")
        os.kill(single.pid, signal.SIGHUP)
        single.await_log("configuration reloaded")
        assert "setting changed but needs a restart: [db] pool_size" in single.log
        assert single.ask("/api/category")[1]["x-ratelimit-limit"] == "7"
        single.until_told("RELOADING=1")
        single.until_told("READY=1")
        self.broken_ones_change_nothing(single)

    @staticmethod
    def broken_ones_change_nothing(single):
        single.write(ratelimit_limit="many")
        os.kill(single.pid, signal.SIGHUP)
        single.await_log("configuration not reloaded")
        assert "[ratelimit] limit: must be" in single.log
        assert single.ask("/api/category")[1]["x-ratelimit-limit"] == "7"
        single.write(ratelimit_limit="300")

    def test_opens_a_log_that_was_removed(self, single):
        path = single.folder / "data/crowdd.log"
        path.rename(path.with_name("old.log"))
        os.kill(single.pid, signal.SIGHUP)
        assert wait_until(path.exists, PATIENCE)
        single.await_log("configuration reloaded")

    def test_drains_at_the_end(self, single):
        _, project_id = project(single, "drained")
        cookie = single.ask("/")[1]["set-cookie"].partition(";")[0]
        task = json.loads(single.ask(f"/api/project/{project_id}/newtask", Cookie=cookie)[2])
        stream = Listener(single.port, "/project/drained/live")
        assert wait_until(lambda: "event: state" in stream.got, PATIENCE)
        answers = []
        under_way = threading.Thread(target=lambda: answers.append(single.ask("/api/category")))
        with held(single.dsn):
            under_way.start()
            self.end_while_one_waits(single, stream)
        under_way.join(PATIENCE)
        assert answers[0][0] == 200, "a request under way ends"
        assert wait_until(lambda: processes_of(single.folder) == {}, PATIENCE)
        assert "STOPPING=1" in single.until_told("STOPPING=1")
        assert not (single.folder / "twistd.pid").exists()
        assert rows(single.dsn, f"SELECT 1 FROM lease WHERE task_id = {task['id']}") == [(1,)], "a lease is kept"

    @staticmethod
    def end_while_one_waits(single, stream):
        blocked = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        assert wait_until(lambda: rows(single.dsn, blocked) != [], PATIENCE)
        os.kill(single.pid, signal.SIGTERM)
        assert wait_until(lambda: stream.over, PATIENCE) and "event: restart" in stream.got
        with pytest.raises(OSError):
            single.ask("/health")


class TestTwoWorkers:
    @staticmethod
    def workers(pair):
        """The processes that answer."""
        return sorted(pid for pid, line in processes_of(pair.folder).items() if "--worker" in line)

    def test_both_answer_on_one_port(self, pair):
        assert len(self.workers(pair)) == 2 and pair.pid not in self.workers(pair)
        for _ in range(60):
            assert pair.ask("/health")[0] == 200
        pair.await_log('"worker":"1"')
        pair.await_log('"worker":"2"')
        answered = [json.loads(line) for line in pair.log.splitlines() if '"/health"' in line]
        assert {line["worker"] for line in answered} == {"1", "2"}

    def test_figures_are_those_of_both(self, pair):
        for _ in range(40):
            pair.ask("/api/nothing")
        text = pair.figures()
        assert 'crowdd_requests_total{method="GET",route="(unknown)",status="404"} 40.0' in text
        assert text.count("\ncrowdd_resident_memory_bytes{") == 2

    def test_requests_are_counted_together(self, pair):
        admitted = [pair.ask("/api/category")[0] for _ in range(400)].count(200)
        assert 300 <= admitted <= 300 + 2 * 9

    def test_what_one_knows_the_other_tells(self, pair):
        _, project_id = project(pair, "told")
        streams = [Listener(pair.port, "/project/told/live") for _ in range(12)]
        assert wait_until(lambda: all("event: state" in one.got for one in streams), PATIENCE)
        volunteer = Person(pair.url)
        task = volunteer.api("GET", f"project/{project_id}/newtask")
        volunteer.api("POST", "taskrun", {"project_id": project_id, "task_id": task["id"], "info": 1})
        assert wait_until(lambda: all('"n_completed_tasks":1' in one.got for one in streams), PATIENCE)
        for one in streams:
            one.connection.sock and one.connection.sock.close()

    def test_one_that_dies_is_replaced_and_no_connection_is_refused(self, pair):
        victim, other = self.workers(pair)
        os.kill(victim, signal.SIGKILL)
        for _ in range(20):
            assert pair.ask("/health")[0] == 200
        pair.await_log("worker exited")
        assert wait_until(lambda: len(set(self.workers(pair)) - {victim}) == 2, PATIENCE)
        assert other in self.workers(pair)
        assert pair.figures().count("\ncrowdd_resident_memory_bytes{") >= 1

    def test_signals_reach_all(self, pair):
        assert wait_until(lambda: pair.log.count("crowdd answers on") == 2 + pair.log.count("worker exited"), PATIENCE)
        pair.write(ratelimit_limit="9")
        os.kill(pair.pid, signal.SIGHUP)
        pair.await_log("configuration reloaded", 3)
        assert {pair.ask("/api/announcement")[1]["x-ratelimit-limit"] for _ in range(20)} == {"9"}

    @pytest.mark.proof  # two minutes
    def test_each_job_is_run_by_one_of_them(self, pair):
        seldom = (
            "SELECT name, runs FROM job WHERE name IN ('sweep_keys', 'sweep_queue', 'sweep_sessions', 'sweep_job_runs')"
        )
        assert wait_until(lambda: len(rows(pair.dsn, seldom)) == 4, PATIENCE), "both have looked at them"
        before = dict(rows(pair.dsn, seldom))

        def run_again(times: int) -> bool:
            return all(runs >= before[name] + times for name, runs in rows(pair.dsn, seldom))

        for times in (1, 2):  # had both run a job the first time, it would be seen the second time at the latest
            rows(pair.dsn, "UPDATE clock_shift SET ahead = ahead + interval '2 days'")
            assert wait_until(partial(run_again, times), 150)
        assert dict(rows(pair.dsn, seldom)) == {name: runs + 2 for name, runs in before.items()}

    def test_all_end_in_order(self, pair):
        project(pair, "ending")
        stream = Listener(pair.port, "/project/ending/live")
        assert wait_until(lambda: "event: state" in stream.got, PATIENCE)
        pid = pair.pid
        os.kill(pid, signal.SIGTERM)
        assert wait_until(lambda: stream.over, PATIENCE) and "event: restart" in stream.got
        assert wait_until(lambda: not alive(pid), PATIENCE)
        assert processes_of(pair.folder) == {}


@pytest.mark.proof
def test_workers_end_with_the_first_process(dsn_of_all):
    made = begun(dsn_of_all, 2)
    try:
        os.kill(made.pid, signal.SIGKILL)
        assert wait_until(lambda: processes_of(made.folder) == {}, PATIENCE)
    finally:
        made.end()


def test_what_a_server_imports_is_hardly_searched_for_garbage():
    """All of it stays. The collector took a fifth of the time that importing takes."""
    program = "import gc, sys, crowdd.tap; print(gc.get_threshold()[0] >= 100_000, 'crowdd.app' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.proof
def test_starts_that_cannot_work_end_with_a_sentence(postgres):
    """All at once, for each takes a second or two."""
    newer = postgres.make()
    rows(newer, "INSERT INTO migration (number, name) VALUES (9999, 'from the future')")
    servers = {name: Twistd(newer) for name in ("newer", "port", "port of many", "broken", "data")}
    servers["broken"].conf["http", "shutdown_timeout"] = "soon"
    servers["data"].conf["data", "dir"] = "/dev/null/data"
    servers["port of many"].conf["daemon", "workers"] = "2"
    wanted = {
        "newer": "upgraded by a newer crowdd", "port": "is used by another program",
        "port of many": "is used by another program", "broken": "[http] shutdown_timeout: must be a whole number",
        "data": "Choose another folder: [data] dir",
    }  # fmt: skip
    with contextlib.ExitStack() as ends:
        for name, server in servers.items():
            ends.callback(server.end)
            if name.startswith("port"):
                ends.enter_context(socket.create_server(("127.0.0.1", server.port)))
        begun = {name: server.start("--nodaemon", "--pidfile=") for name, server in servers.items()}
        for name, process in begun.items():
            printed = process.communicate(timeout=2 * PATIENCE)[0].decode()
            assert process.returncode == 1 and wanted[name] in printed, (name, printed)
    postgres.drop(newer)


@pytest.mark.proof
def test_an_upgrade_that_is_killed_leaves_the_database_as_it_was(postgres):
    postgres.run("CREATE DATABASE half OWNER crowdd")
    dsn = make_dsn(postgres.dsn, dbname="half")
    environment = {**os.environ, "CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": tempfile.mkdtemp(prefix="crowdd-half-")}
    command = [str(BIN / "crowdctl"), "db", "upgrade"]
    holding = psycopg2.connect(dsn)
    with holding.cursor() as cursor:
        cursor.execute("CREATE SCHEMA code")  # what the upgrade makes after all tables
    begun = subprocess.Popen(command, env=environment)
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    assert wait_until(lambda: rows(dsn, waits) != [], PATIENCE)
    begun.kill()
    begun.wait()
    holding.rollback()
    sessions = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    holding.close()
    assert wait_until(lambda: rows(dsn, sessions) == [], PATIENCE)
    assert rows(dsn, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'") == []
    at_once = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    sentences = sorted(process.communicate(timeout=PATIENCE)[0].decode().partition(".")[0] for process in at_once)
    assert [process.returncode for process in at_once] == [0, 0] and "The database is up to date" in sentences
    shutil.rmtree(environment["CROWDD_DATA_DIR"])
    postgres.run("DROP DATABASE half WITH (FORCE)")
