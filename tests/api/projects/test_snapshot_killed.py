"""A server that is killed while a snapshot is written."""

from __future__ import annotations

import time
from typing import Any

import psycopg2
import pytest
from support.person import Person

ROWS = 10_000


@pytest.mark.proof
def test_a_kill_leaves_nothing_half_made_and_the_snapshot_is_made_after_it(own_server):
    owner = Person(own_server.url).register("owner")
    project = owner.api("POST", "project", {"name": "birds", "short_name": "birds", "description": "x"})
    with psycopg2.connect(own_server.dsn, options="-c search_path=public,code") as connection:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO task (project_id, created, info) SELECT %s, now(), jsonb_build_object('n', i) FROM generate_series(1, %s) i RETURNING id",
                (project["id"], ROWS),
            )
            cursor.execute(
                "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers)"
                " SELECT project_id, id, row_number() OVER (ORDER BY id), 1 FROM task WHERE project_id = %s",
                (project["id"],),
            )
        connection.commit()
    folder, uploads = own_server.data / "snapshots", own_server.data / "uploads"
    begun = owner.api("POST", f"project/{project['id']}/snapshots", None)
    _until(lambda: any(folder.glob("*/files/tasks.ndjson")))
    own_server.kill()
    assert any(folder.glob("*/raw")), "it was killed in the middle"
    own_server.start()
    done = _until(lambda: _done(owner, project, begun["id"]))
    assert done["counts"]["tasks"] == ROWS and done["id"] == begun["id"]
    assert list(folder.iterdir()) == []
    with (
        psycopg2.connect(own_server.dsn, options="-c search_path=public,code") as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT DISTINCT key FROM snapshot_file")
        keys = {key for (key,) in cursor.fetchall()}
    assert {str(path.relative_to(uploads)) for path in uploads.rglob("*.snap")} == keys


def _done(owner: Person, project: dict[str, Any], snapshot_id: int) -> Any:
    snapshot = owner.api("GET", f"project/{project['id']}/snapshots/{snapshot_id}")
    assert snapshot["state"] != "failed", snapshot
    return snapshot if snapshot["state"] == "done" else None


def _until(condition: Any, seconds: float = 240) -> Any:
    end = time.monotonic() + seconds
    while not (outcome := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return outcome
