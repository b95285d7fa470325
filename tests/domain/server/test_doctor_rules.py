"""What is wrong with a server is said in a sentence with what to do; of one that is well nothing is said."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from crowdd.database.embedded.binaries import StartError, choose_tools
from crowdd.features.operations.doctor import Facts, of_server

WELL = Facts(
    free_bytes=50_000_000_000,
    key_mode=0o600,
    complaints=[],
    base_url="https://crowd.example",
    now=1_000_000.0,
    database={
        "version": 170_002, "max_connections": 100, "connections": 20, "read_only": False, "fsync": True, "synchronous": False,
        "oldest_transaction": 3.0, "now": 1_000_001.0, "admins": 1, "queue_dead": 0, "queue_waits": 0.5,
        "mail_refused": 0, "mail_delayed": 0, "mail_error": "", "mail_held": 0, "comparisons_failed": 0, "comparison_failure": None,
        "last_backup": None, "first_project": None,
        "owns_tables": False, "elsewhere": False, "encrypted": False,
    },
    jobs=[{"name": "sweep", "period": 600.0, "overdue": 2.0, "failures": 0, "words": ""}],
    webhooks=[{"short_name": "birds", "state": "on", "why_off": ""}],
)  # fmt: skip


def test_nothing_is_said_of_a_server_that_is_well():
    assert of_server(WELL) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"free_bytes": 999_000_000}, "Only 999 MB are free in the data folder."),
        ({"key_mode": 0o640}, "Other users can read secret.key in the data folder."),
        ({"complaints": None}, "No server answers at https://crowd.example."),
        ({"complaints": ["It takes no changes."]}, "The running server is not ready: It takes no changes."),
        ({"missing_map": Path("var/world.pmtiles")}, "The map of the site is missing: var/world.pmtiles."),
        ({"now": 999_900.0}, "The clocks of this machine and of the database differ by 101 seconds."),
    ],
)
def test_one_thing_is_wrong(changes, said):
    (finding,) = of_server(attrs.evolve(WELL, **changes))
    assert (finding.what, finding.wrong) == (said, True)
    assert finding.todo.endswith((".", "crowdctl serve."))


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("version", 140_010, "PostgreSQL is version 14."),
        ("connections", 96, "PostgreSQL has 4 connections left of 100."),
        ("read_only", True, "The database is read-only: it is a standby, or is configured as read-only."),
        ("fsync", False, "PostgreSQL runs with fsync off: a power cut loses the database."),
        ("oldest_transaction", 7200.0, "A transaction has been open for 2 hours, so tables cannot be vacuumed."),
        ("admins", 0, "The site has no administrator."),
        ("queue_dead", 2, "2 background tasks have failed."),
        ("queue_waits", 900.0, "A background task has been due for 15 minutes, but no worker runs it."),
        ("mail_refused", 5, "Addresses to which e-mails could not be delivered in the last day: 5."),
    ],
)
def test_the_database_says_so(column, value, said):
    (finding,) = of_server(attrs.evolve(WELL, database={**WELL.database, column: value}))
    assert (finding.what, finding.wrong) == (said, True)


def test_comparisons_that_failed_are_named():
    failed = {"comparisons_failed": 3, "comparison_failure": "project owls, task 7: took too much memory"}
    (finding,) = of_server(attrs.evolve(WELL, database={**WELL.database, **failed}))
    assert (
        finding.what == "3 comparisons of answers failed. The first: project owls, task 7: took too much memory."
        and finding.wrong
    )
    assert "crowdctl check --repair" in finding.todo


def test_one_of_several_database_servers_must_not_confirm_alone():
    alone = attrs.evolve(WELL, several_hosts=True)
    (finding,) = of_server(alone)
    assert (
        finding.what == "The database waits for no other server: if the primary fails, confirmed answers may be lost."
    )
    assert of_server(attrs.evolve(alone, database={**WELL.database, "synchronous": True})) == []


def test_jobs_that_are_late_or_fail_and_webhooks_that_are_off():
    job = WELL.jobs[0]
    late = [{**job, "overdue": 3600.0}, {**job, "name": "old", "period": None, "overdue": 9e9}]
    assert [f.what for f in of_server(attrs.evolve(WELL, jobs=late))] == [
        "1 jobs are overdue, the longest by 60 minutes."
    ]
    failing = [{**job, "failures": 3, "words": "No disk."}]
    (finding,) = of_server(attrs.evolve(WELL, jobs=failing))
    assert (finding.what, finding.todo) == (
        "The job sweep has failed 3 times in a row: No disk.",
        "crowdctl jobs show sweep",
    )
    hooks = [{"short_name": "birds", "state": "off", "why_off": "It answered 503."}]
    (finding,) = of_server(attrs.evolve(WELL, webhooks=hooks))
    assert finding.what == "The webhook of birds is switched off. It answered 503."


def test_a_role_that_serves_and_owns_the_tables_is_advised_against():
    owning = {**WELL.database, "owns_tables": True}
    (finding,) = of_server(attrs.evolve(WELL, database=owning))
    assert not finding.wrong and "owns the tables" in finding.what and "migrate_dsn" in finding.todo
    assert of_server(attrs.evolve(WELL, database=owning, configured=False)) == [], (
        "crowdd's own PostgreSQL has one role"
    )


def test_a_system_without_filters_is_advised_against():
    (finding,) = of_server(attrs.evolve(WELL, bars_network=False))
    assert not finding.wrong and "no seccomp filters" in finding.what and "docs/operations.md" in finding.todo


def test_a_database_elsewhere_has_to_be_reached_by_tls():
    elsewhere = {**WELL.database, "elsewhere": True}
    (finding,) = of_server(attrs.evolve(WELL, database=elsewhere))
    assert finding.wrong and "is not encrypted" in finding.what and "verify-full" in finding.todo
    assert of_server(attrs.evolve(WELL, database={**elsewhere, "encrypted": True})) == []


def test_advice_is_no_error():
    held = of_server(attrs.evolve(WELL, database={**WELL.database, "mail_held": 4}, key_mode=None))
    assert [finding.wrong for finding in held] == [False, False]
    assert all(finding.sentence().startswith("Advice: ") for finding in held)


def test_programs_that_cannot_back_up_the_database_are_named():
    """In the container there was no pg_dump, and doctor said nothing."""
    with pytest.raises(StartError) as lacking:
        choose_tools(17, [])
    facts = attrs.evolve(WELL, backup_tools=str(lacking.value))
    (advice,) = of_server(facts)
    assert not advice.wrong and "pg_restore of PostgreSQL 17 or newer are required (found: none)" in advice.what
    (problem,) = of_server(attrs.evolve(facts, backups_scheduled=True))
    assert problem.wrong and problem.code == "backup_programs"


def test_a_backup_that_is_too_old_is_wrong_and_none_at_all_is_advice():
    day = 86_400.0
    limited = attrs.evolve(WELL, backup_days=8)
    young = attrs.evolve(limited, database={**WELL.database, "last_backup": 7 * day, "first_project": 90 * day})
    assert of_server(young) == []
    old = attrs.evolve(limited, database={**WELL.database, "last_backup": 9 * day, "first_project": 90 * day})
    assert [(finding.what, finding.wrong) for finding in of_server(old)] == [("The last backup is 9 days old.", True)]
    assert of_server(attrs.evolve(old, backup_days=0)) == []
    never = attrs.evolve(limited, database={**WELL.database, "last_backup": None, "first_project": 9 * day})
    assert [finding.wrong for finding in of_server(never)] == [False]


def test_several_servers_share_limits_and_drain():
    """Nothing is said of one server, nor of those that are gone."""
    one = {
        "name": "a", "host": "h", "version": "0.1.0", "migration": 68, "started": None, "seen": None, "processes": 1, "state": "ready",
    }  # fmt: skip
    two = [one, {**one, "name": "b", "version": "0.2.0"}]
    alone = {"shares_limits": False, "drains": False}
    assert of_server(attrs.evolve(WELL, nodes=[one, {**two[1], "state": "gone"}], **alone)) == []
    assert of_server(attrs.evolve(WELL, nodes=[one, one])) == []
    findings = of_server(attrs.evolve(WELL, nodes=two, **alone))
    assert [(finding.what.split(",")[0], finding.wrong) for finding in findings] == [
        ("2 servers run on this database", True),
        ("Servers run different versions: a 0.1.0", False),
        ("[http] drain_delay is 0", False),
    ]


REPLICA = {"follows": True, "last_transaction": 120.0, "keeps_rows": True}


@pytest.mark.parametrize(
    "replica, said",
    [
        (None, []),
        ({**REPLICA, "last_transaction": 29.0}, []),
        (REPLICA, ["The replica is 2 minutes behind, so the primary serves exports and long lists."]),
        ({**REPLICA, "follows": False}, ["[db] replica_dsn names a server that is no replica."]),
        (
            {**REPLICA, "last_transaction": 0.0, "keeps_rows": False},
            ["hot_standby_feedback is off on the replica: long exports may break off."],
        ),
        (
            "There is no connection.",
            [
                "The replica does not answer, so the primary serves exports and long lists. There is no connection.",
            ],
        ),
    ],
)
def test_a_replica_has_to_follow(replica, said):
    facts = attrs.evolve(WELL, replica=replica, replica_current=False)
    assert [finding.what for finding in of_server(facts)] == said


def test_a_replica_is_not_behind_where_nothing_was_committed_for_long():
    assert of_server(attrs.evolve(WELL, replica=REPLICA)) == []
