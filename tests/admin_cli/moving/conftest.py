"""A database as a PyBossa server leaves it, with rows of all kinds; and a new site that they move into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import pytest
from psycopg2.extensions import make_dsn
from psycopg2.extras import Json, execute_values
from support.clients.pbs import pbs, warm_pbs
from werkzeug.security import generate_password_hash

__all__ = ["pbs", "warm_pbs"]
SCHEMA = (Path(__file__).parent / "pybossa.sql").read_text("utf-8")
PASSWORD = "the old password"
AT = "2016-03-01T10:00:00.123456"


@attrs.frozen
class Source:
    """A database of PyBossa."""

    dsn: str

    def run(self, sql: str, values: Any = None) -> None:
        """A statement, committed."""
        with psycopg2.connect(self.dsn) as connection, connection.cursor() as cursor:
            cursor.execute(sql, values)
        connection.close()

    def add(self, table: str, *rows: dict[str, Any]) -> None:
        """Rows with the same columns."""
        names = ", ".join(rows[0])
        values = [[Json(v) if isinstance(v, dict) else v for v in row.values()] for row in rows]
        with psycopg2.connect(self.dsn) as connection, connection.cursor() as cursor:
            execute_values(cursor, f'INSERT INTO "{table}" ({names}) VALUES %s', values)
        connection.close()


@pytest.fixture
def pybossa(postgres: Any, request: pytest.FixtureRequest) -> Iterator[Source]:
    """An empty database of PyBossa."""
    name = f"pybossa_{abs(hash(request.node.nodeid))}"
    postgres.run(f"CREATE DATABASE {name} OWNER crowdd")
    source = Source(make_dsn(postgres.dsn, dbname=name))
    source.run(SCHEMA)
    yield source
    postgres.run(f"DROP DATABASE {name} WITH (FORCE)")


def users(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Users with all that a user has; each row has at least ``id`` and ``name``."""
    return [
        {
            "created": AT,
            "email_addr": f"{row['name']}@example.org",
            "fullname": f"User {row['id']}",
            "api_key": f"key-{row['id']}",
            "passwd_hash": None,
            "admin": False,
            "restrict": False,
            "valid_email": True,
            "info": {},
            **row,
        }
        for row in rows
    ]


def projects(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Published projects of user 1; each row has at least ``id`` and ``short_name``."""
    return [
        {
            "created": AT,
            "updated": AT,
            "name": row["short_name"].title(),
            "description": "A project",
            "published": True,
            "contacted": False,
            "secret_key": f"secret-{row['id']}",
            "owner_id": 1,
            "owners_ids": [1],
            "category_id": 1,
            "webhook": None,
            "info": {"task_presenter": "<p>?</p>", "sched": "default"},
            **row,
        }
        for row in rows
    ]


def fill(pybossa: Source) -> None:
    """Two users, a project with three tasks (one complete, one begun, one untouched), answers, a result and texts."""
    fits = generate_password_hash(PASSWORD, "pbkdf2:sha256:1000")
    pybossa.add(
        "category", {"id": 1, "name": "Nature", "short_name": "nature", "description": "Outside", "created": AT}
    )
    pybossa.add(
        "user",
        *users(
            {"id": 1, "name": "owner", "passwd_hash": fits, "admin": True},
            {"id": 7, "name": "ann", "info": {"container": "user_7", "avatar": "1_avatar.png"}},
        ),
    )
    pybossa.add("project", *projects({"id": 3, "short_name": "birds"}))
    task = {"created": AT, "project_id": 3, "n_answers": 2, "priority_0": 0.5, "info": {"n": 1}}
    pybossa.add(
        "task",
        {"id": 11, **task, "state": "completed", "fav_user_ids": [7]},
        {"id": 12, **task, "state": "ongoing", "fav_user_ids": None},
        {"id": 13, **task, "state": "ongoing", "fav_user_ids": [999]},
    )
    run = {"created": AT, "project_id": 3, "finish_time": "2016-03-01T10:01:00", "info": {"answer": "tit"}}
    nobody = {"user_id": None, "user_ip": None, "external_uid": None}
    pybossa.add(
        "task_run",
        {"id": 21, **run, "task_id": 11, **nobody, "user_id": 7},
        {"id": 22, **run, "task_id": 11, **nobody, "user_ip": "127.3.4.5"},
        {"id": 23, **run, "task_id": 11, **nobody, "external_uid": "visitor"},
        {"id": 24, **run, "task_id": 12, **nobody, "user_id": 7},
    )
    result = {"created": AT, "project_id": 3, "task_id": 11}
    pybossa.add(
        "result",
        {"id": 31, **result, "task_run_ids": [21, 22], "last_version": False, "info": None},
        {"id": 32, **result, "task_run_ids": [21, 22, 23], "last_version": True, "info": {"bird": "tit"}},
    )
    pybossa.add(
        "blogpost",
        {
            "id": 41,
            "created": AT,
            "updated": AT,
            "project_id": 3,
            "user_id": 1,
            "title": "News",
            "body": "*We* began.",
            "published": True,
        },
    )
    material = {"container": "user_1", "file_name": "tit.png"}
    pybossa.add(
        "helpingmaterial",
        {
            "id": 51,
            "created": AT,
            "project_id": 3,
            "info": material,
            "media_url": "/uploads/user_1/tit.png",
            "priority": 1,
        },
    )
    pybossa.add(
        "announcement",
        {"id": 61, "created": AT, "updated": AT, "user_id": 1, "title": "Hello", "body": "All", "published": True},
    )
    pybossa.run("INSERT INTO auditlog (project_id, action) VALUES (3, 'create')")


@pytest.fixture
def filled(pybossa: Source) -> Source:
    """The same with the rows of ``fill``."""
    fill(pybossa)
    return pybossa


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    """PyBossa's folder of uploads."""
    folder = tmp_path / "pybossa-uploads"
    for name in (
        "user_1/tit.png",
        "user_7/1_avatar.png",
        "user_7/12_sec_user.zip",
        "user_7/deep/x.png",
        "site/x.png",
        "top.png",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    (folder / "user_7/link.png").symlink_to(folder / "top.png")
    return folder


@pytest.fixture
def moved(crowdctl: Any, filled: Source, uploads: Path) -> Any:
    """The report of moving ``filled`` in."""
    return crowdctl.json("import-pybossa", "--dsn", filled.dsn, "--uploads", uploads)


def sums(report: Any) -> dict[str, tuple[int, int, int, int]]:
    """read, added, present and refused by table."""
    return {t["table"]: (t["read"], t["added"], t["present"], t["refused"]) for t in report["tables"]}


def remarks(report: Any, table: str) -> dict[str, list[Any]]:
    """The first rows of each sentence about a table."""
    (entry,) = (t for t in report["tables"] if t["table"] == table)
    return {remark["sentence"]: remark["first"] for remark in entry["remarks"]}
