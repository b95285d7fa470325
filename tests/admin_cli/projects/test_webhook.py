"""``crowdctl webhook``: the state of webhooks, their log, and what is sent once more by the server that runs."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from support.ledger import Ledger

from crowdd.admin_cli.main import main

URL = "https://hooks.example/x"


@pytest.fixture
def project(dsn: str, key: None) -> Any:
    """A project with three completed tasks, whose address is set afterwards."""
    ledger = Ledger(dsn)
    made = ledger.project(3, n=1)
    for _ in range(3):
        ledger.answer(made, "c:a", ledger.ask(made, "c:a").tasks[0])
    ledger.value("SELECT number_events(%(p)s, clock())", p=made)
    ledger.run("UPDATE project SET webhook = %(url)s, short_name = 'birds' WHERE id = %(p)s", url=URL, p=made)
    ledger.close()
    return made


def test_a_test_and_what_is_seen_of_it(crowdctl, rows, project):
    sent = crowdctl.json("webhook", "test", "birds")["delivery"]
    shown = crowdctl.json("webhook", "show", "birds")
    assert [(row["id"], row["event"]) for row in shown["deliveries"]] == [(sent, "ping")]
    assert (shown["url"], shown["state"], shown["n_waiting"], shown["n_missed"]) == (URL, "on", 1, 4)
    rows("UPDATE webhook SET active = false, why_off = 'It answered 503.'")
    assert f"{URL} is switched off (It answered 503.); 1 waiting" in crowdctl("webhook", "show", "birds").output
    one = crowdctl.json("webhook", "show", "birds", str(sent))
    assert (one["id"], one["attempts_made"]) == (sent, [])
    (listed,) = crowdctl.json("webhook", "list")
    assert (listed["short_name"], listed["state"], listed["url"]) == ("birds", "off", URL)


def test_backfill_and_a_range(crowdctl, rows, project):
    assert crowdctl.json("webhook", "backfill", "birds") == {"events": 4}
    refused = crowdctl.refused("webhook", "redeliver", "birds", "--from", "2")
    assert "Another range" in refused
    rows("UPDATE webhook SET replay_from = NULL, replay_to = NULL")
    assert crowdctl.json("webhook", "redeliver", "birds", "--from", "2", "--to", "3") == {"deliveries": 2}
    (asked,) = rows("SELECT replay_from, replay_to, replay_missing FROM webhook")
    assert asked == {"replay_from": 1, "replay_to": 3, "replay_missing": False}


def test_failed_ones_one_and_switching_on(crowdctl, rows, project):
    sent = crowdctl.json("webhook", "test", "birds")["delivery"]
    rows("UPDATE webhook SET active = false, why_off = 'It answered 503.'")
    rows("UPDATE delivery SET state = 'failed', kind = 'task_completed', seq = 1, finished = clock()")
    assert crowdctl.json("webhook", "redeliver", "birds", "--failed") == {"deliveries": 1}
    assert crowdctl.json("webhook", "redeliver", "birds", "--delivery", str(sent)) == {"deliveries": 1}
    assert rows("SELECT state, again FROM delivery") == [{"state": "waiting", "again": True}]
    crowdctl.json("webhook", "on", "birds")
    assert rows("SELECT active, why_off FROM webhook") == [{"active": True, "why_off": ""}]


@pytest.mark.parametrize("options", [[], ["--failed", "--from", "1"], ["--to", "3"]], ids=str)
def test_which_has_to_be_said(options):
    ended = CliRunner().invoke(main, ["webhook", "redeliver", "birds", *options])
    assert (ended.exit_code, "Choose deliveries" in ended.output) == (2, True)


def test_a_project_without_a_webhook_and_none_at_all(crowdctl, rows, project):
    rows("UPDATE project SET webhook = NULL")
    assert "has no webhook" in crowdctl("webhook", "show", "birds").output
    assert "no webhook" in crowdctl.refused("webhook", "test", "birds")
