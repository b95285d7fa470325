"""A project is deleted, and the restore to the moment before brings it back: pgBackRest on the embedded PostgreSQL.

    make pitr                   (python -m bench.backups.pitr [--answers 2000])

Follows docs/operating/point-in-time-recovery.md: archive_command, stanza, a full backup of the database, and a backup
of crowdd in a folder for the files. A person answers; then the owner deletes the project, and others go on. The
database goes back to the moment before. Gates: every answer, result and figure of that moment is there and nothing
later, ``crowdctl check`` says nothing, the project's file is back, old API keys work, and the server takes answers.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import attrs
from psycopg2.extensions import make_dsn
from support.person import Person
from support.servers.live import BIN, LiveServer

from bench.support import testbed
from bench.support.figures import table
from crowdd.database.embedded import find_home

WORD = "correct horse battery"
STANZA = "crowdd"
CONFIGURATION = """
[global]
repo1-path={place}/repo
repo1-retention-full=2
lock-path={place}/lock
log-path={place}/log
start-fast=y
compress-type=zst

[crowdd]
pg1-path={cluster}
pg1-socket-path={socket}
pg1-port=5432
pg1-user=postgres
"""
# What a project has, and what the site shows of it.
FIGURES = """
SELECT (SELECT count(*) FROM task WHERE project_id = p.id) AS tasks,
       (SELECT count(*) FROM task_run WHERE project_id = p.id) AS answers,
       (SELECT count(*) FROM result WHERE project_id = p.id) AS results,
       (SELECT md5(string_agg(id || ' ' || info::text, ',' ORDER BY id)) FROM task_run
         WHERE project_id = p.id) AS content
  FROM project p WHERE short_name = %s"""


@attrs.frozen
class Archiver:
    """pgBackRest, as the user who runs PostgreSQL."""

    place: Path
    cluster: Path

    @classmethod
    def begin(cls, place: Path) -> Archiver:
        """Writes its configuration; its repository is empty."""
        home = find_home(place)
        own = place / "pgbackrest"
        own.mkdir()
        for name in ("repo", "lock", "log"):
            home.account.own(own / name)
        own.chmod(0o755)
        text = CONFIGURATION.format(place=own, cluster=home.cluster, socket=home.socket)
        (own / "pgbackrest.conf").write_text(text)
        return cls(own, home.cluster)

    @property
    def command(self) -> str:
        """What is run for each of its commands."""
        return f"pgbackrest --config={self.place}/pgbackrest.conf --stanza={STANZA} --log-level-console=warn"

    def run(self, *words: str) -> float:
        """Runs a command of pgBackRest; how many seconds it took."""
        began = time.monotonic()
        account = find_home(self.place.parent).account
        done = subprocess.run(
            [*self.command.split(), *words], capture_output=True, text=True, check=False, **account.spawning()
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return time.monotonic() - began


def archiving(postgres: testbed.Postgres, archiver: Archiver) -> None:
    """PostgreSQL archives its log from now on."""
    postgres.set("archive_mode", "on")
    postgres.set("archive_command", f"'{archiver.command} archive-push %p'")
    postgres.stop()
    postgres.start()
    archiver.run("stanza-create")
    archiver.run("check")


def crowdctl(server: LiveServer, *words: object) -> Any:
    """What a command prints as JSON."""
    environment = {**server.environment, "CROWDD_BACKUP_PASSPHRASE": WORD}
    done = subprocess.run(
        [BIN / "crowdctl", *map(str, words), "--json"], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def answered(server: LiveServer, project: testbed.Project, number: int) -> None:
    """So many answers, each by somebody new."""
    for n in range(number):
        somebody = Person(server.url)
        address = {"X_Forwarded_For": f"10.{n // 65_025}.{n // 255 % 255}.{n % 255}"}
        task = somebody.ask("GET", f"/api/project/{project.id}/newtask", **address).json
        body = {"project_id": project.id, "task_id": task["id"], "info": {"bird": n % 5}}
        response = somebody.ask("POST", "/api/taskrun", body, **address)
        assert response.status == 200, response.text


def figures(sql: testbed.Sql, project: testbed.Project) -> dict[str, Any]:
    """What FIGURES and the page of the project say."""
    (row,) = sql.rows(FIGURES, (project.short_name,))
    return row


def shown(server: LiveServer, project: testbed.Project) -> dict[str, int]:
    """The counters that the owner sees, with the old API key."""
    owner = Person(server.url)
    owner.key = project.owner.key
    row = owner.api("GET", f"project/{project.id}")
    return {name: value for name, value in row.items() if name.startswith("n_")}


def restored(postgres: testbed.Postgres, archiver: Archiver, moment: str) -> float:
    """The database as it was at a moment; how many seconds it takes until it can be used."""
    began = time.monotonic()
    postgres.stop()
    archiver.run("restore", "--delta", "--type=time", f"--target={moment}", "--target-action=promote")
    postgres.start()
    sql = testbed.Sql(postgres.dsn)
    while sql.one("SELECT pg_is_in_recovery()"):
        time.sleep(0.1)
    return time.monotonic() - began


def main() -> int:
    """Status 1 if a gate is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=2000)
    plan = parser.parse_args()
    if shutil.which("pgbackrest") is None:
        print("pgBackRest is not installed: apt-get install -y --no-install-recommends pgbackrest", file=sys.stderr)
        return 2
    with testbed.folder() as place, testbed.postgres(place) as postgres:
        lines, wrong = played(place, postgres, plan.answers)
    print(table("Point-in-time recovery", lines, wrong))
    return int(bool(wrong))


def played(place: Path, postgres: testbed.Postgres, answers: int) -> tuple[list[tuple[str, object]], list[str]]:
    """The whole story: figures, and what is violated."""
    archiver, sql, backups = Archiver.begin(place), testbed.Sql(postgres.dsn), place / "backups"
    backups.mkdir()
    archiving(postgres, archiver)
    settings = {"CROWDD_BACKUPS_DIR": str(backups), "CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "0"}
    with testbed.crowdd(postgres.dsn, place, **settings) as server:
        lost, other = (testbed.project(server, tasks=answers // 2 + 10, n_answers=2) for _ in range(2))
        path = place / f"data/uploads/project-{lost.id}/bird.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(10_000))
        content = path.read_bytes()
        answered(server, lost, answers // 2)
        taken = archiver.run("backup", "--type=full")
        crowdctl(server, "backup")
        answered(server, lost, answers - answers // 2)  # these are in the archived log only
        testbed.Sql(make_dsn(postgres.dsn)).rows("SELECT fold_stats()")
        wanted, wanted_shown, others = figures(sql, lost), shown(server, lost), figures(sql, other)
        moment = str(sql.one("SELECT clock_timestamp()::text"))
        crowdctl(server, "project", "delete", lost.short_name, "--yes")
        assert not sql.rows(FIGURES, (lost.short_name,)), "the project is still there"
        path.unlink(missing_ok=True)
        answered(server, other, 20)
    back = restored(postgres, archiver, moment)
    with testbed.crowdd(postgres.dsn, place, **settings) as server:
        crowdctl(server, "db", "restored")
        (archive,) = backups.glob("*.tar")
        crowdctl(server, "restore", archive, "--only-files")
        wrong = [
            f"{what}: {actual} instead of {expected}"
            for what, actual, expected in (
                ("the project", figures(sql, lost), wanted),
                ("its counters", shown(server, lost), wanted_shown),
                ("the other project", figures(sql, other), others),
                ("crowdctl check", crowdctl(server, "check"), []),
                ("the file", path.exists() and path.read_bytes() == content, True),
            )
            if actual != expected
        ]
        answered(server, lost, 5)
        if shown(server, lost)["n_task_runs"] != answers + 5:
            wrong.append("the project takes no answers")
    lines: list[tuple[str, object]] = [
        ("before the deletion", ", ".join(f"{wanted[name]:,} {name}" for name in ("tasks", "answers", "results"))),
        ("full backup", f"{taken:.1f} s"),
        ("restore to the moment", f"{back:.1f} s until PostgreSQL took connections"),
    ]
    return lines, wrong


if __name__ == "__main__":
    sys.exit(main())
