"""``crowdctl import-pybossa``: what PyBossa has is here afterwards, with the same ids, and works."""

from __future__ import annotations

from pathlib import Path

from moving.conftest import sums


def test_everything_comes_over(moved, crowdctl, rows) -> None:
    assert sums(moved) == {
        "category": (1, 1, 0, 0),
        "user": (2, 2, 0, 0),
        "project": (1, 1, 0, 0),
        "task": (3, 3, 0, 0),
        "task_run": (4, 4, 0, 0),
        "result": (2, 2, 0, 0),
        "blogpost": (1, 1, 0, 0),
        "helpingmaterial": (1, 1, 0, 0),
        "announcement": (1, 1, 0, 0),
        "files": (7, 2, 0, 5),
        "states": (0, 0, 0, 0),
        "completions": (0, 0, 0, 0),
    }
    assert moved["not_read"]["tables"] == {"auditlog": 1} and "ldap" in moved["not_read"]["columns"]["user"]
    assert moved["compared"]["projects_differ"] == moved["compared"]["users_differ"] == 0
    assert crowdctl.json("check") == []
    assert rows("SELECT id, name, admin FROM account ORDER BY 1") == [
        {"id": 1, "name": "owner", "admin": True},
        {"id": 7, "name": "ann", "admin": False},
    ]
    assert rows("SELECT id, state FROM task_record ORDER BY 1") == [
        {"id": 11, "state": "completed"},
        {"id": 12, "state": "ongoing"},
        {"id": 13, "state": "ongoing"},
    ]
    assert rows("SELECT id, version, last_version, task_run_ids, info FROM result ORDER BY 1") == [
        {"id": 31, "version": 1, "last_version": False, "task_run_ids": [21, 22], "info": None},
        {"id": 32, "version": 2, "last_version": True, "task_run_ids": [21, 22], "info": {"bird": "tit"}},
    ]


def test_answers_count_as_long_as_there_are_places(moved, rows) -> None:
    runs = rows(
        "SELECT id, actor, user_id, counted, user_ip IS NOT NULL AS network, finish_time::text FROM task_run ORDER BY 1"
    )
    assert [(r["id"], r["counted"], r["user_id"], r["network"]) for r in runs] == [
        (21, True, 7, False),
        (22, True, None, True),
        (23, False, None, False),
        (24, True, 7, False),
    ]
    assert (runs[0]["actor"], runs[2]["actor"]) == ("u:7", "x:visitor") and runs[1]["actor"].startswith("i:")
    assert "127.3.4.5" not in runs[1]["actor"]
    assert runs[0]["finish_time"].startswith("2016-03-01 10:01:00")
    assert rows("SELECT user_id, runs FROM score WHERE runs <> 0") == [{"user_id": 7, "runs": 2}]
    assert rows("SELECT task_id, user_id FROM favourite") == [{"task_id": 11, "user_id": 7}]


def test_files_keep_their_addresses_and_go_with_their_rows(moved, crowdctl, rows) -> None:
    here = Path(crowdctl.environment["CROWDD_DATA_DIR"]) / "uploads"
    names = sorted(str(path.relative_to(here)) for path in here.rglob("*") if path.is_file())
    assert names == ["user_1/tit.png", "user_7/1_avatar.png"]
    assert (here / "user_7/1_avatar.png").read_bytes() == b"user_7/1_avatar.png"
    assert rows("SELECT avatar_file FROM account WHERE id = 7") == [{"avatar_file": "user_7/1_avatar.png"}]
    assert rows("SELECT media_file FROM helpingmaterial") == [{"media_file": "user_1/tit.png"}]


def test_new_rows_get_ids_that_follow(moved, crowdctl, rows) -> None:
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", "--password", "a good password")
    assert rows("SELECT max(id) AS id FROM account")[0]["id"] > 7


def test_a_second_time_compares_and_adds_nothing(moved, crowdctl, filled, rows) -> None:
    before = rows("SELECT count(*) AS n, max(id) AS id FROM task_run")
    again = crowdctl.json("import-pybossa", "--dsn", filled.dsn)
    assert again["before"] and sums(again)["task_run"] == (4, 0, 4, 0) and sums(again)["user"] == (2, 0, 2, 0)
    assert rows("SELECT count(*) AS n, max(id) AS id FROM task_run") == before


def test_a_dry_run_says_the_same_and_changes_nothing(crowdctl, filled, uploads, rows) -> None:
    preview = crowdctl.json("import-pybossa", "--dsn", filled.dsn, "--uploads", uploads, "--dry-run")
    counts = "SELECT (SELECT count(*) FROM account) AS a, (SELECT count(*) FROM move_in) AS m, (SELECT max(id) FROM category) AS c"
    assert rows(counts) == [{"a": 0, "m": 0, "c": 2}]
    assert not (Path(crowdctl.environment["CROWDD_DATA_DIR"]) / "uploads").exists()
    done = crowdctl.json("import-pybossa", "--dsn", filled.dsn, "--uploads", uploads)
    assert preview["dry_run"] and {**preview, "dry_run": False} == done


def test_a_site_that_is_not_new_is_refused(crowdctl, filled, rows) -> None:
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", "--password", "a good password")
    for more in ([], ["--dry-run"]):
        error = crowdctl.refused("import-pybossa", "--dsn", filled.dsn, *more)
        assert "The site is not empty: it has 1 accounts and 0 projects." in error
    assert rows("SELECT count(*) AS n FROM account") == [{"n": 1}]


def test_another_database_is_refused(moved, crowdctl, filled, postgres) -> None:
    postgres.run(f"CREATE DATABASE pybossa_other OWNER crowdd TEMPLATE {filled.dsn.split('dbname=')[1].split()[0]}")
    try:
        other = filled.dsn.replace(filled.dsn.split("dbname=")[1].split()[0], "pybossa_other")
        assert "Another PyBossa database was moved" in crowdctl.refused("import-pybossa", "--dsn", other)
    finally:
        postgres.run("DROP DATABASE pybossa_other WITH (FORCE)")


def test_what_is_no_database_of_pybossa_is_refused(crowdctl, dsn) -> None:
    assert "This is not a database of PyBossa: it has no table user" in crowdctl.refused("import-pybossa", "--dsn", dsn)
    assert "--dsn is not valid" in crowdctl.refused("import-pybossa", "--dsn", "no dsn")
