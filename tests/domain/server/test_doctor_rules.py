"""What is wrong with a server is said in a sentence with what to do; of one that is well nothing is said."""

from __future__ import annotations

import attrs
import pytest

from crowdd.features.operations.doctor import Facts, of_server, of_settings
from crowdd.kernel.config import load

WELL = Facts(
    free_bytes=50_000_000_000,
    key_mode=0o600,
    complaints=[],
    base_url="https://crowd.example",
    now=1_000_000.0,
    database={
        "version": 170_002, "max_connections": 100, "connections": 20, "read_only": False, "fsync": True, "synchronous": False,
        "oldest_transaction": 3.0, "now": 1_000_001.0, "admins": 1, "queue_dead": 0, "queue_waits": 0.5,
        "mail_dead": 0, "mail_held": 0, "last_backup": None, "first_project": None,
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
        ("mail_dead", 3, "3 e-mails could not be delivered."),
    ],
)
def test_the_database_says_so(column, value, said):
    (finding,) = of_server(attrs.evolve(WELL, database={**WELL.database, column: value}))
    assert (finding.what, finding.wrong) == (said, True)


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


MAIL = {"CROWDD_MAIL_HOST": "mail.example", "CROWDD_MAIL_SENDER": "crowd@crowd.example"}
HTTPS = {"CROWDD_HTTP_BASE_URL": "https://crowd.example", "CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1"}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"CROWDD_HTTP_BASE_URL": "https://crowd.example/site"}, "base_url"),
        ({"CROWDD_HTTP_CROSS_SITE_COOKIES": "on"}, "cross_site_cookies needs https"),
        ({"CROWDD_HTTP_BASE_URL": "http://crowd.example"}, "without encryption"),
        ({"CROWDD_HTTP_BASE_URL": "http://192.168.1.5:8000"}, "without encryption"),
        ({"CROWDD_HTTP_HOST": "192.168.1.5"}, "without encryption"),
        ({"CROWDD_HTTP_HOST": "0.0.0.0"}, "every address"),
        ({"CROWDD_MAIL_SENDER": "nobody"}, "sender is not a valid address"),
        ({"CROWDD_MAIL_USER": "crowd", "CROWDD_MAIL_TLS": "off"}, "the password is sent"),
        ({"CROWDD_MAIL_HOST": "", "CROWDD_ACCOUNTS_CONFIRM_EMAIL": "on"}, "nobody can sign up"),
        ({"CROWDD_SIGNIN_ORCID_CLIENT_ID": "x"}, "[signin] orcid has a client id or a secret, not both."),
        ({"CROWDD_COMMENTING_PUBLIC_KEY": "x"}, "[commenting] has a public key"),
    ],
)
def test_settings_that_cannot_work(environment, said):
    findings = [finding for finding in of_settings(load(None, {**MAIL, **environment})) if finding.wrong]
    assert len(findings) == 1 and said in findings[0].what


@pytest.mark.parametrize(
    "url", ["http://localhost:8000", "http://127.0.0.1", "http://[::1]:9", "https://crowd.example"]
)
def test_this_machine_may_be_reached_without_encryption(url):
    findings = of_settings(load(None, {**MAIL, **HTTPS, "CROWDD_HTTP_BASE_URL": url}))
    assert not [finding for finding in findings if finding.wrong]


def test_settings_that_can():
    assert of_settings(load(None, {**MAIL, **HTTPS})) == []
    (advice,) = of_settings(load(None, {**MAIL, **HTTPS, "CROWDD_HTTP_TRUSTED_PROXIES": ""}))
    assert not advice.wrong and "no proxy is trusted" in advice.what


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
