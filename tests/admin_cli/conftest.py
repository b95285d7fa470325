"""The command line as a person uses it: the installed program, on a fresh database."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import pytest
from psycopg2.extras import RealDictCursor
from support.servers.live import BIN

TESTS = Path(__file__).parents[1]
SECONDS = 60
USAGE = 2


@attrs.frozen
class Ended:
    """What a command left: its exit status and what it printed."""

    status: int
    output: str
    complaint: str

    @property
    def json(self) -> Any:
        return json.loads(self.output)


class Warm:
    """A process that has imported what crowdctl needs, and forks for each run of the installed script."""

    def __init__(self, folder: Path) -> None:
        self._files = [folder / name for name in ("told", "output", "complaint")]
        command = [sys.executable, "-m", "support.servers.forked_cli"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS, start_new_session=True
        )

    def run(self, argv: Sequence[str], environment: dict[str, str], folder: str, told: str) -> Ended:
        """What the program leaves."""
        for path, text in zip(self._files, (told, "", ""), strict=True):
            path.write_text(text)
        request = [argv, environment, folder, *map(str, self._files)]
        print(json.dumps(request), file=self._process.stdin, flush=True)
        ready, _, _ = select.select([self._process.stdout], [], [], SECONDS)
        assert ready, f"{argv} does not end"
        status = int(self._process.stdout.readline())
        return Ended(status, self._files[1].read_text(), self._files[2].read_text())

    def end(self) -> None:
        """Ends it, and what it has begun."""
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@attrs.frozen
class Crowdctl:
    """``crowdctl("db", "status")`` runs it; ``told`` is added to what it reads, ``more`` to its environment."""

    environment: dict[str, str]
    warm: Warm

    def __call__(self, *words: str | Path, told: str = "", **more: str) -> Ended:
        argv = [str(BIN / "crowdctl"), *map(str, words)]
        return self.warm.run(argv, {**self.environment, **more}, self.environment["HOME"], told)

    def refused(self, *words: str | Path, status: int = 1, **more: str) -> str:
        """The one sentence of a command that must fail."""
        ended = self(*words, **more)
        assert (ended.status, ended.output) == (status, ""), ended
        said = ended.complaint.splitlines()[-1]
        assert said.startswith("Error: ")
        assert status == USAGE or len(ended.complaint.splitlines()) == 1, ended.complaint
        return said

    def json(self, *words: str | Path, **more: str) -> Any:
        """What a command prints with --json."""
        ended = self(*words, "--json", **more)
        assert (ended.status, ended.complaint) == (0, ""), ended
        return ended.json


def environment(home: Path, dsn: str) -> dict[str, str]:
    """What the program knows: nothing of the settings of whoever runs the tests."""
    ours = {name: text for name, text in os.environ.items() if not name.startswith("CROWDD_")}
    return {**ours, "HOME": str(home), "CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(home / "data")}


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """What runs the program."""
    made = Warm(tmp_path_factory.mktemp("crowdctl"))
    yield made
    made.end()


@pytest.fixture
def crowdctl(dsn: str, tmp_path: Path, warm: Warm) -> Crowdctl:
    """The program in an empty folder, with nothing but the database and a data folder in its environment."""
    return Crowdctl(environment(tmp_path, dsn), warm)


@pytest.fixture
def key(crowdctl: Crowdctl) -> None:
    """The database knows the program's key before it is filled behind its back."""
    crowdctl.json("user", "list")


@pytest.fixture
def elsewhere(postgres: Any, tmp_path: Path, warm: Warm) -> Iterator[Crowdctl]:
    """The program on another server's database, with a data folder of its own."""
    home, dsn = tmp_path / "elsewhere", postgres.take()
    home.mkdir()
    yield Crowdctl(environment(home, dsn), warm)
    postgres.give_back(dsn)


def fetched(dsn: str, sql: str, *values: Any) -> list[dict[str, Any]]:
    """The rows of a statement, committed."""
    connection = psycopg2.connect(dsn, cursor_factory=RealDictCursor, options="-c search_path=public,code")
    with connection, connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        found = [dict(row) for row in cursor.fetchall()] if cursor.description else []
    connection.close()
    return found


@pytest.fixture
def rows(dsn: str) -> Callable[..., list[dict[str, Any]]]:
    """The rows of a statement on the database, committed."""

    return partial(fetched, dsn)


@pytest.fixture(scope="session")
def program(warm: Warm) -> Callable[[Path, str], Crowdctl]:
    """The program for another home and database."""
    return lambda home, dsn: Crowdctl(environment(home, dsn), warm)


@attrs.frozen
class Stage:
    """A server with an administrator (ada), bob, his projects birds (ready) and bare, and an announcement."""

    crowdctl: Crowdctl
    dsn: str

    def counts(self) -> list[dict[str, Any]]:
        """How many rows there are of everything that commands could change, and what was written down."""
        tables = ("account", "project", "task", "category", "announcement", "queue_item", "mail", "audit", "delivery")
        columns = ", ".join(f"(SELECT count(*) FROM {table}) AS {table}" for table in tables)
        return fetched(self.dsn, f"SELECT {columns}")


@pytest.fixture(scope="module")
def stage(postgres: Any, warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The same for all tests of a file; none of them changes what another sees."""
    home, dsn = tmp_path_factory.mktemp("stage"), postgres.take()
    crowdctl = Crowdctl(environment(home, dsn), warm)
    folder = home / "birds"
    folder.mkdir()
    (folder / "project.json").write_text('{"name": "Birds", "short_name": "birds", "description": "Who sings?"}')
    (folder / "presenter.html").write_text("<p>Who?</p>")
    (folder / "tasks.ndjson").write_text('{"info": {"n": 1}}\n{"info": {"n": 2}}\n')
    word = ("--password", "a good password")
    crowdctl.json("admin", "create", "--name", "ada", "--email", "ada@example.org", *word)
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *word)
    crowdctl.json("project", "load", folder, "--owner", "bob")
    (folder / "presenter.html").unlink()
    (folder / "project.json").write_text('{"name": "Bare", "short_name": "bare", "description": "Nothing yet."}')
    crowdctl.json("project", "load", folder, "--owner", "bob@example.org")
    crowdctl.json("announcement", "add", "--title", "Welcome", "--body", "There are *birds*.")
    yield Stage(crowdctl, dsn)
    postgres.give_back(dsn)
