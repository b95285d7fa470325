"""The command line as a person uses it: the installed program, on a fresh database."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import pytest
from psycopg2.extras import RealDictCursor
from support.live import BIN


@attrs.frozen
class Ended:
    """What a command left: its exit status and what it printed."""

    status: int
    output: str
    complaint: str

    @property
    def json(self) -> Any:
        return json.loads(self.output)


@attrs.frozen
class Crowdctl:
    """``crowdctl("db", "status")`` runs it; ``told`` is added to what it reads, ``more`` to its environment."""

    environment: dict[str, str]

    def __call__(self, *words: str | Path, told: str = "", **more: str) -> Ended:
        done = subprocess.run(
            [BIN / "crowdctl", *words],
            input=told,
            env={**self.environment, **more},
            cwd=self.environment["HOME"],
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def refused(self, *words: str | Path, status: int = 1, **more: str) -> str:
        """The one sentence of a command that must fail."""
        ended = self(*words, **more)
        assert (ended.status, ended.output) == (status, ""), ended
        said = ended.complaint.splitlines()[-1]
        assert said.startswith("Error: ")
        assert status == 2 or len(ended.complaint.splitlines()) == 1, ended.complaint
        return said

    def json(self, *words: str | Path, **more: str) -> Any:
        """What a command prints with --json."""
        ended = self(*words, "--json", **more)
        assert (ended.status, ended.complaint) == (0, ""), ended
        return ended.json


@pytest.fixture
def crowdctl(dsn: str, tmp_path: Path) -> Crowdctl:
    """The program in an empty folder, with nothing but the database and a data folder in its environment."""
    ours = {name: text for name, text in os.environ.items() if not name.startswith("CROWDD_")}
    own = {"HOME": str(tmp_path), "CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(tmp_path / "data")}
    return Crowdctl({**ours, **own})


@pytest.fixture
def rows(dsn: str) -> Callable[..., list[dict[str, Any]]]:
    """The rows of a statement on the database, committed."""

    def fetch(sql: str, *values: Any) -> list[dict[str, Any]]:
        connection = psycopg2.connect(dsn, cursor_factory=RealDictCursor, options="-c search_path=public,code")
        with connection, connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            found = [dict(row) for row in cursor.fetchall()] if cursor.description else []
        connection.close()
        return found

    return fetch
