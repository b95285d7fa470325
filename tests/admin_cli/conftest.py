"""The command line as a person uses it: the installed program, on a fresh database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import pytest
from psycopg2.extensions import make_dsn
from psycopg2.extras import RealDictCursor
from support.servers.forks import Ended, Warm
from support.servers.live import BIN
from support.servers.postgres import Postgres

USAGE = 2


@attrs.frozen
class Crowdctl:
    """``crowdctl("db", "status")`` runs it; ``told`` is added to what it reads, ``more`` to its environment."""

    environment: dict[str, str]
    warm: Warm

    def __call__(self, *words: str | Path, told: str = "", **more: str) -> Ended:
        argv = [str(BIN / "crowdctl"), *map(str, words)]
        return self.warm.run(argv, {**self.environment, **more}, self.environment["HOME"], told)

    def refused(self, *words: str | Path, status: int = 1, **more: str) -> str:
        """The one sentence of a command that must fail; the line after it names configuration and database."""
        ended = self(*words, **more)
        assert (ended.status, ended.output) == (status, ""), ended
        *before, last = ended.complaint.splitlines()
        if status == USAGE:
            assert last.startswith("Error: ")
            return last
        assert len(before) == 1 and before[0].startswith("Error: "), ended.complaint
        assert last.startswith("Configuration: "), ended.complaint
        return before[0]

    def json(self, *words: str | Path, **more: str) -> Any:
        """What a command prints with --json."""
        ended = self(*words, "--json", **more)
        assert (ended.status, ended.complaint) == (0, ""), ended
        return ended.json


def environment(home: Path, dsn: str) -> dict[str, str]:
    """What the program knows: nothing of the settings of the person who runs the tests."""
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
        records = [dict(row) for row in cursor.fetchall()] if cursor.description else []
    connection.close()
    return records


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


@pytest.fixture
def empty(postgres: Postgres) -> Iterator[str]:
    """A database without tables."""
    postgres.run("CREATE DATABASE bare OWNER crowdd")
    yield make_dsn(postgres.dsn, dbname="bare")
    postgres.run("DROP DATABASE bare WITH (FORCE)")
