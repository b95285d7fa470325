"""A page of a table is damaged: what needs it fails, all else works, and crowdctl says which table it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import psycopg2
import pytest
from psycopg2.extensions import make_dsn
from support.person import Person
from support.servers.live import BIN, LiveServer
from support.servers.postgres import scratch_folder

from crowdd.database.embedded import find_home, start


@pytest.fixture
def damaged():
    """A server on a database in which the first page of the table of tasks was damaged, and the project of its owner."""
    folder = scratch_folder("crowdd-damaged-")
    home = find_home(folder)
    postgres = start(home)
    (folder / "data").mkdir()
    server = LiveServer(postgres.dsn, folder / "data")
    subprocess.run([BIN / "crowdctl", "db", "upgrade"], env=server.environment, cwd=folder, check=True)
    server.start()
    owner = Person(server.url).register("owner")
    body = {"name": "Birds", "short_name": "birds", "description": "?", "info": {"task_presenter": "<p>?</p>"}}
    project = owner.api("POST", "project", body)
    owner.api("POST", "task", [{"project_id": project["id"], "info": {"n": n}} for n in range(50)])
    server.stop()
    with psycopg2.connect(make_dsn(postgres.dsn, user="postgres")) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW data_checksums")
        assert cursor.fetchone() == ("on",), "the embedded PostgreSQL notices such pages"
        cursor.execute("SELECT pg_relation_filepath('public.task')")
        (path,) = cursor.fetchone()
    connection.close()
    postgres.stop()
    with (home.cluster / path).open("r+b") as file:
        file.seek(4000)
        file.write(os.urandom(200))
    postgres = start(home)
    server.start()
    yield server, owner, project
    server.stop()
    postgres.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.proof
def test_requests_without_it_work_and_doctor_names_the_table(damaged):
    server, owner, project = damaged
    broken = owner.ask("GET", f"/api/task?project_id={project['id']}&api_key={owner.key}")
    assert (broken.status, broken.json["error_code"]) == (500, "internal")
    assert "invalid page in block 0" in (server.data / "log").read_text()
    for path in ("/api/project", "/project/birds/", "/", "/api/category", "/ready"):
        assert owner.ask("GET", path).status == 200, path
    command = [BIN / "crowdctl", "doctor", "--json"]
    reports = [_findings(server, [*command, *more]) for more in ([], ["--deep"])]
    assert not any("damaged" in finding["what"] for finding in reports[0]), "only on request: it reads everything"
    (damage,) = [finding for finding in reports[1] if "damaged" in finding["what"]]
    assert damage["what"].startswith("The table task is damaged: invalid page in block 0")
    assert damage["wrong"] and "backup" in damage["todo"]


def _findings(server, command):
    done = subprocess.run(command, env=server.environment, cwd=server.data, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)
