"""``crowdctl config``: settings without secrets, and what cannot work."""

from __future__ import annotations

import pytest

from crowdd.features.operations.config_commands import public_value
from crowdd.kernel.config import options
from crowdd.kernel.config.settings import HIDDEN


def test_only_what_was_changed_and_where_it_stands(crowdctl, tmp_path):
    (tmp_path / "own.conf").write_text("[site]\nname = Birds\n[mail]\npassword = wonderful\n")
    variables = {"CROWDD_HTTP_PORT": "9000"}
    shown = crowdctl.json("-c", "own.conf", "config", "show", **variables)
    settings = {row["setting"]: (row["value"], row["from"]) for row in shown}
    assert settings["[site] name"] == ("Birds", "own.conf: [site] name")
    assert settings["[http] port"] == (9000, "CROWDD_HTTP_PORT")
    assert settings["[mail] password"] == (HIDDEN, "own.conf: [mail] password")
    assert {*settings} == {"[site] name", "[mail] password", "[http] port", "[db] dsn", "[data] dir"}
    everything = crowdctl("-c", "own.conf", "config", "show", "--all", **variables).output
    assert "wonderful" not in everything
    assert all(f"[{section}] {option} " in everything for section, option, _, _ in options())


@pytest.mark.parametrize(
    "dsn",
    [
        "host=x password=wonderful user=crowdd",
        "password = 'won der\\'ful' user=crowdd",
        "postgresql://crowdd:wonderful@x/crowdd",
        "host=x sslpassword=wonderful",
    ],
)
def test_the_password_of_the_database_is_not_shown(dsn):
    assert "ful" not in public_value("dsn", dsn)
    assert HIDDEN in public_value("dsn", dsn)


def test_every_setting_that_is_a_secret_is_hidden():
    texts = [option for _, option, _, default in options() if isinstance(default, str)]
    secrets = {option for option in texts if public_value(option, "wonderful") == HIDDEN}
    assert secrets >= {"password", "secret_key", "google_client_secret", "github_client_secret", "orcid_client_secret"}
    assert not secrets & {"public_key", "google_client_id", "host", "base_url"}


def test_settings_that_can_work_and_some_that_cannot(crowdctl):
    mail = {"CROWDD_MAIL_HOST": "mail.example.org", "CROWDD_MAIL_SENDER": "crowd@example.org"}
    site = {"CROWDD_HTTP_BASE_URL": "https://crowd.example.org", "CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1"}
    ended = crowdctl("config", "check", **mail, **site)
    assert (ended.status, ended.output) == (0, "The settings are valid.\n")
    ended = crowdctl("config", "check", CROWDD_HTTP_BASE_URL="crowd.example", CROWDD_ACCOUNTS_CONFIRM_EMAIL="on")
    assert ended.status == 1
    lines = ended.output.splitlines()
    assert lines[0].startswith("Problem: [http] base_url is 'crowd.example'.")
    assert any("confirm_email" in line for line in lines)
    findings = crowdctl("config", "check", "--json", CROWDD_HTTP_BASE_URL="crowd.example").json
    assert [finding["wrong"] for finding in findings] == [True, False]


def test_an_example_to_begin_with(crowdctl, tmp_path):
    (tmp_path / "own.conf").write_text(crowdctl("config", "example").output)
    assert crowdctl("-c", "own.conf", "config", "show").output.count("\n") == 3
