"""``crowdctl shards``: listing, adding and moving, and what happens when a move is killed."""

import json
import os
import signal
import subprocess

import pytest
import pytest_twisted
from support.replication.shard_projects import finished_project, rows_of
from support.servers.live import BIN
from twisted.internet.threads import deferToThread

from crowdd.embedded.process import wait_until


def environment(clusters):
    return {
        **os.environ,
        "CROWDD_DB_DSN": clusters.dsn("home"),
        "CROWDD_DB_SHARDS": clusters.setting,
        "CROWDD_DATA_DIR": str(clusters.folder),
    }


def crowdctl(clusters, *words):
    """What a command prints as JSON."""
    argv = [str(BIN / "crowdctl"), "shards", *words, "--json"]
    ran = subprocess.run(argv, env=environment(clusters), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_added_shards_are_listed_and_adding_one_again_changes_nothing(clusters):
    again = crowdctl(clusters, "add", "two", "--superuser", clusters.dsn("two", "postgres"))
    assert (again["number"], again["name"]) == (2, "two")
    assert [row["name"] for row in crowdctl(clusters, "list")] == ["one", "two"]


@pytest.mark.proof
def test_a_shard_that_cannot_be_used_is_said_with_what_to_do(clusters):
    def said():
        argv = [str(BIN / "crowdctl"), "shards", "check", "--json"]
        ran = subprocess.run(argv, env=environment(clusters), capture_output=True, text=True, timeout=120)
        return [finding["what"] for finding in json.loads(ran.stdout)], ran.returncode

    receives = "SELECT count(*) FROM pg_stat_subscription WHERE subname = 'crowdd_shared_2' AND pid IS NOT NULL"
    assert said() == ([], 0)
    clusters.fetch("two", "ALTER SUBSCRIPTION crowdd_shared_2 DISABLE")
    clusters.fetch("two", "ALTER TABLE account DISABLE TRIGGER account_exposed")
    try:
        assert wait_until(lambda: clusters.fetch("two", receives) == [(0,)], 60)
        problems, status = said()
        assert status == 1 and "Shard two receives no changes of accounts." in problems
        assert any(what.startswith("Shard two does not notice changes") for what in problems)
    finally:
        clusters.fetch("two", "ALTER SUBSCRIPTION crowdd_shared_2 ENABLE")
    crowdctl(clusters, "add", "two", "--superuser", clusters.dsn("two", "postgres"))
    assert wait_until(lambda: clusters.fetch("two", receives) == [(1,)], 60)
    assert said() == ([], 0)


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_move_that_is_killed_is_finished_by_the_same_command(node, clusters):
    project = await finished_project(node)
    before = rows_of(clusters, "home", project["id"])
    argv = [str(BIN / "crowdctl"), "shards", "move", project["short_name"], "one"]

    def killed_behind_the_switch():
        running = subprocess.Popen(argv, env=environment(clusters), stdout=subprocess.DEVNULL)
        where = "SELECT shard FROM project_place WHERE project_id = %s"
        assert wait_until(lambda: bool(clusters.fetch("home", where, project["id"])), 60)
        running.send_signal(signal.SIGKILL)
        running.wait()

    await deferToThread(killed_behind_the_switch)
    assert rows_of(clusters, "home", project["id"])["task_run"] == before["task_run"]  # nothing was deleted yet
    moved = await deferToThread(crowdctl, clusters, "move", project["short_name"], "one", "--grace", "0")
    assert moved["moved"] is True
    assert rows_of(clusters, "one", project["id"]) == before
    assert await deferToThread(crowdctl, clusters, "move", project["short_name"], "one", "--grace", "0") == {
        "moved": False
    }
