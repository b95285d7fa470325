"""``crowdctl doctor``: a sentence for each thing that is wrong, none for a server that is well."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support.servers.live import LiveServer
from support.servers.mailbox import certificate

from crowdd.admin_cli.serve import complaints, healthy
from crowdd.database.embedded.cluster import wait_until
from crowdd.kernel.config import load

MAIL = {
    "CROWDD_MAIL_HOST": "mail.example.org",
    "CROWDD_MAIL_SENDER": "crowd@example.org",
    "CROWDD_HTTP_BASE_URL": "https://crowd.example.org",
    "CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1",
}
TESTS_ARE_NOT_DURABLE = "PostgreSQL runs with fsync off: a power cut loses the database."


def wrong(crowdctl, *words, **more):
    ended = crowdctl("doctor", *words, "--json", **MAIL, **more)
    problems = [finding for finding in ended.json if finding["wrong"]]
    assert ended.status == int(bool(problems)), ended
    assert all(finding["todo"] for finding in problems)
    return [finding["what"] for finding in problems]


def test_it_says_nothing_of_a_server_that_is_well(crowdctl, dsn, tmp_path):
    folder = Path(crowdctl.environment["CROWDD_DATA_DIR"])
    folder.mkdir()
    server = LiveServer(dsn, folder)
    server.start()
    word = ("--password", "a good password")
    crowdctl.json("admin", "create", "--name", "ada", "--email", "ada@example.org", *word)
    try:
        assert wait_until(lambda: healthy(load(None, server.environment)), 60)
        assert wrong(crowdctl, "--thorough", CROWDD_HTTP_PORT=str(server.port)) == [TESTS_ARE_NOT_DURABLE]
    finally:
        server.stop()
    lines = crowdctl("doctor", **MAIL, CROWDD_HTTP_PORT=str(server.port)).output.splitlines()
    none = "Problem: No server answers at https://crowd.example.org. Start it: twistd crowdd, or crowdctl serve."
    assert none in lines


class OverTls(LiveServer):
    """The same where nobody speaks plain HTTP."""

    def _answers(self) -> bool:
        return complaints(load(None, self.environment)) is not None


@pytest.mark.proof
def test_it_asks_a_server_that_speaks_tls_what_it_lacks(crowdctl, dsn, tmp_path):
    (tmp_path / "server.pem").write_bytes(certificate(tmp_path)[0].dumpPEM())
    settings = {
        "CROWDD_HTTP_TLS_CERTIFICATE": str(tmp_path / "server.pem"),
        "CROWDD_DATA_MIN_FREE_BYTES": str(10**18),
    }
    folder = Path(crowdctl.environment["CROWDD_DATA_DIR"])
    folder.mkdir()
    server = OverTls(dsn, folder, **settings)
    server.start()
    try:
        few = "The running server is not ready: There is too little free space in the data folder."
        assert wait_until(lambda: len(complaints(load(None, server.environment)) or ()) == 1, 60)
        assert few in wrong(crowdctl, CROWDD_HTTP_PORT=str(server.port), **settings)
    finally:
        server.stop()


def test_it_sees_what_has_gone_wrong_in_the_database(crowdctl, rows):
    rows(
        "INSERT INTO queue_item (name, arguments, admin, via, state, created, due)"
        " SELECT 'count', '{}', true, 'cli', state, clock(), clock() - interval '1 hour'"
        " FROM unnest(ARRAY['dead', 'waiting']) state"
    )
    rows(
        "INSERT INTO job (name, due, failures, words) VALUES ('sweep_keys', clock() - interval '2 days', 3, 'No disk.')"
    )
    rows("UPDATE project_stat SET completed = 0")
    problems = wrong(crowdctl)
    assert "The site has no administrator." in problems
    assert "1 background tasks have failed." in problems
    assert any(
        re.fullmatch(r"A background task has been due for 6\d minutes, but no worker runs it\.", sentence)
        for sentence in problems
    )
    assert "1 jobs are overdue, the longest by 2 days." in problems
    assert "The job sweep_keys has failed 3 times in a row: No disk." in problems


ADD_MAIL = (
    "INSERT INTO mail (created, recipient, template, locale, subject, text, html, state, due, ended, error)"
    " SELECT clock() - interval '2 hours', n || '@example.org', 'test', 'en', 'x', 'x', 'x', %s, clock(), clock(), %s"
    " FROM generate_series(1, %s) n"
)


def test_a_mistyped_address_is_advice_and_a_mail_server_that_takes_nothing_a_problem(crowdctl, rows):
    """One address that somebody mistyped kept doctor, as an alarm, red for two weeks."""
    crowdctl.json("db", "upgrade")
    rows(ADD_MAIL, "dead", "550 no such user", 1)
    one = next(each for each in crowdctl("doctor", "--json").json if each["code"] == "mail_refused")
    assert not one["wrong"] and "crowdctl mail discard" in one["todo"]
    rows(ADD_MAIL, "dead", "550 relay access denied", 5)
    assert "Addresses to which e-mails could not be delivered in the last day: 5." in wrong(crowdctl)
    rows("UPDATE mail SET ended = ended - interval '2 days'")
    assert not [what for what in wrong(crowdctl) if "delivered" in what]
    rows(ADD_MAIL, "waiting", "554 your address is on a list", 2)
    delayed = "E-mails that have waited for over an hour: 2. The mail server says: 554 your address is on a list"
    assert delayed in wrong(crowdctl)


def test_what_was_seen_can_be_put_aside(crowdctl, rows):
    """doctor can be an alarm only if it stops when its cause was looked at."""
    crowdctl.json("db", "upgrade")
    rows(ADD_MAIL, "dead", "550 no", 6)
    add = "INSERT INTO queue_item (name, arguments, admin, via, state, created, due, error)"
    rows(f"{add} SELECT 'count', '{{}}', true, 'cli', 'dead', clock(), clock(), 'No disk.' FROM generate_series(1, 2)")
    codes = {finding["code"] for finding in crowdctl("doctor", "--json").json}
    assert codes >= {"mail_refused", "tasks_dead"}
    mails = [str(row["id"]) for row in rows("SELECT id FROM mail")]
    tasks = [str(row["id"]) for row in rows("SELECT id FROM queue_item WHERE state = 'dead'")]
    assert crowdctl("mail", "discard", *mails).output == "6 e-mails are deleted.\n"
    assert crowdctl("queue", "discard", *tasks).output == "2 background tasks are discarded.\n"
    left = {finding["code"] for finding in crowdctl("doctor", "--json").json}
    assert not left & {"mail_refused", "tasks_dead"}
    states = [(row["state"], row["error"]) for row in crowdctl.json("queue", "list")]
    assert ("cancelled", "No disk.") in states and "dead" not in dict(states)
    acts = rows("SELECT action, count(*) AS n FROM audit WHERE kind IN ('queue', 'mail') GROUP BY 1")
    assert [tuple(act.values()) for act in acts] == [("discard", 8)]
    assert "Only failed background tasks" in crowdctl.refused("queue", "discard", tasks[0])


def test_a_database_that_is_away_is_a_finding_too(crowdctl, tmp_path):
    away = {"CROWDD_DB_DSN": f"host={tmp_path} dbname=crowdd", "CROWDD_DB_POOL_TIMEOUT": "1"}
    assert any("has not answered for 1 seconds" in sentence for sentence in wrong(crowdctl, **away))
    assert "CROWDD_HTTP_PORT: must be a port number from 0 to 65535 (got 'many')." in wrong(
        crowdctl, CROWDD_HTTP_PORT="many"
    )


def test_a_key_that_others_may_read(crowdctl):
    crowdctl.json("admin", "list")
    os.chmod(Path(crowdctl.environment["CROWDD_DATA_DIR"]) / "secret.key", 0o644)
    assert "Other users can read secret.key in the data folder." in wrong(crowdctl)


def test_a_replica_that_is_away_or_none(crowdctl, tmp_path):
    away = wrong(crowdctl, CROWDD_DB_REPLICA_DSN=f"host={tmp_path} dbname=crowdd")
    assert sum(what.startswith("The replica does not answer, so the primary serves") for what in away) == 1
    itself = wrong(crowdctl, CROWDD_DB_REPLICA_DSN=crowdctl.environment["CROWDD_DB_DSN"])
    assert "[db] replica_dsn names a server that is no replica." in itself
