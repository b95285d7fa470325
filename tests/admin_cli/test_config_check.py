"""``crowdctl config check``: what cannot work is named with its remedy, and what real sites have passes in silence."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from support.servers.mailbox import certificate

from crowdd.features.operations import settings_rules
from crowdd.features.operations.settings_files import check_settings
from crowdd.features.operations.settings_rules import of_environment
from crowdd.kernel.config import load
from crowdd.kernel.errors import ConfigError

Config = dict[str, dict[str, str]]
# A site behind a proxy, with a PostgreSQL of the system.
BASE: Config = {
    "http": {"base_url": "https://crowd.example.org", "trusted_proxies": "127.0.0.1"},
    "db": {"dsn": "host=/var/run/postgresql dbname=crowdd"},
    "data": {"dir": "{place}/data"},
    "mail": {"host": "mail.example.org", "sender": "crowd@example.org"},
}
# What is added to it, the setting that has to be named, and a word of the remedy.
WRONG: list[tuple[Config, str, str]] = [
    # Those that were found by operators.
    ({"db": {"dsn": "hst=foo"}}, '[db] dsn is not a connection string: invalid connection option "hst"', "host="),
    ({"db": {"dsn": "host=a,b dbname=x"}}, "[db] dsn names several hosts", "target_session_attrs=read-write"),
    ({"http": {"tls_certificate": "/nonexistent.pem"}}, "/nonexistent.pem", "[http] tls_certificate"),
    ({"log": {"file": "/missing/folder/x.log"}}, "[log] file is /missing/folder/x.log", "Create the folder"),
    ({"media": {"store": "s3"}}, "[media] s3_endpoint is missing", "s3_bucket"),
    (
        {"backups": {"dir": "/nonexistent", "passphrase_file": "{place}/word"}},
        "[backups] dir does not exist",
        "Backup and restore",
    ),
    ({"backups": {"dir": "{place}/backups"}}, "[backups] passphrase_file is not set", "name a file"),
    ({"http": {"trusted_proxies": "0.0.0.0/0"}}, "[http] trusted_proxies has 0.0.0.0/0", "Name the addresses"),
    ({"http": {"allowed_hosts": "https://x.example"}}, "'https://x.example'", "as in x.example."),
    ({"mail": {"host": "smtp://mail"}}, "[mail] host is 'smtp://mail'", "the name of the server alone"),
    ({"mail": {"port": "465"}}, "[mail] port is 465, but tls is starttls", "Set [mail] tls to implicit"),
    ({"mail": {"user": "crowd", "password": "x", "host": ""}}, "host is empty", "Set [mail] host"),
    ({"mail": {"user": "crowd"}}, "[mail] user is set without password", "Set both"),
    ({"site": {"texts": "/nonexistent"}}, "[site] texts is /nonexistent", "Create the folder"),
    ({"site": {"name": '"Crowd"'}}, '[site] name begins and ends with "', "without quotes"),
    (
        {"accounts": {"session_days": "100", "session_max_days": "10"}},
        "[accounts] session_days (100) is larger than session_max_days (10)",
        "Lower session_days",
    ),
    ({"db": {"pool_size": "1000"}}, "1009 connections to PostgreSQL", "Lower [db] pool_size"),
    ({"daemon": {"workers": "500"}}, "[daemon] workers is 500", "at most"),
    # Others like them.
    ({"http": {"port": "many"}}, "[http] port: must be a port number", "0 to 65535"),
    ({"http": {"prot": "80"}}, "[http] prot: unknown setting", "base_url"),
    ({"http": {"base_url": "crowd.example"}}, "[http] base_url is 'crowd.example'", "scheme and host"),
    ({"http": {"base_url": "https://crowd.example/site"}}, "/site'", "scheme and host"),
    ({"http": {"base_url": "http://crowd.example"}}, "without encryption", "https address"),
    ({"http": {"base_url": "", "host": "0.0.0.0"}}, "every address", "Set [http] base_url"),
    ({"http": {"host": "crowd.example.org:8000"}}, "[http] host is 'crowd.example.org:8000'", "[http] port"),
    ({"http": {"trusted_proxies": "10.0.0.1 2000::/3"}}, "has 2000::/3", "proxies alone"),
    ({"http": {"tls_key": "/etc/hostname"}}, "tls_key is set without tls_certificate", "Set both"),
    ({"http": {"tls_certificate": "{place}/word"}}, "[http] tls_certificate and tls_key do not match", "Correct"),
    ({"http": {"allowed_origins": "app.example.org"}}, "allowed_origins has 'app.example.org'", "https://app"),
    ({"http": {"spa_base_url": "app.example.org"}}, "[http] spa_base_url is 'app.example.org'", "scheme and host"),
    ({"http": {"cross_site_cookies": "on"}}, "no origin may use the cookies", "[http] allowed_origins"),
    (
        {"http": {"cross_site_cookies": "on", "base_url": "http://localhost", "allowed_origins": "https://a.example"}},
        "cross_site_cookies needs https",
        "with https",
    ),
    (
        {"db": {"migrate_dsn": "host=/var/run/postgresql dbname=other"}},
        "migrate_dsn names the database other",
        "the same database",
    ),
    ({"db": {"replica_dsn": "host=/var/run/postgresql dbname=crowdd"}}, "[db] replica_dsn is the same", "replica"),
    ({"db": {"dsn": "host=10.0.0.5 sslrootcert=/nonexistent.pem"}}, "sslrootcert=/nonexistent.pem", "Copy"),
    ({"mail": {"port": "587", "tls": "implicit"}}, "[mail] port is 587, but tls is implicit", "starttls"),
    ({"mail": {"sender": "nobody"}}, "[mail] sender is not a valid address", "Set the address"),
    ({"mail": {"user": "u", "password": "p", "tls": "off"}}, "the password is sent unencrypted", "starttls"),
    ({"mail": {"host": "", "sender": ""}, "accounts": {"confirm_email": "on"}}, "nobody can sign up", "[mail] host"),
    ({"mail": {"host": ""}}, "[mail] sender or user is set, but host is empty", "Set [mail] host"),
    ({"signin": {"orcid_client_id": "x"}}, "[signin] orcid has a client id or a secret, not both", "Set both"),
    ({"signin": {"github_url": "http://github.internal"}}, "[signin] github_url", "https address"),
    ({"commenting": {"public_key": "x"}}, "[commenting] has a public key", "Set both"),
    ({"accounts": {"min_password_length": "4"}}, "min_password_length is 4", "8 or more"),
    ({"metrics": {"token": "secret"}}, "[metrics] token has 6 characters", "openssl rand"),
    (
        {"backups": {"dir": "{place}/data/backups", "passphrase_file": "{place}/word"}},
        "is inside the data folder",
        "another disk",
    ),
    (
        {"backups": {"dir": "{place}/backups", "passphrase_file": "{place}/short"}},
        "must have at least 10 characters",
        "Backup and restore",
    ),
    (
        {"backups": {"dir": "{place}/backups", "passphrase_file": "{place}/open"}},
        "Every user of this machine can read the passphrase",
        "chmod 640",
    ),
    (
        {"backups": {"dir": "{place}/backups", "passphrase_file": "{place}/word", "every_hours": "240"}},
        "[backups] every_hours is 240",
        "raise backup_days",
    ),
    (
        {"media": {"store": "s3", "s3_endpoint": "https://s3.example.org", "s3_bucket": "crowd", "s3_access_key": "a"}},
        "s3_secret_key",
        "Set",
    ),
    ({"media": {"s3_secret_key": "a", "s3_secret_key_file": "{place}/word"}}, "are both set", "Set one"),
    ({"data": {"dir": "var"}}, "[data] dir is 'var'", "absolute path"),
    ({"data": {"dir": "~/crowdd"}}, "[data] dir is '~/crowdd'", "A ~ is not replaced"),
    ({"data": {"dir": "{place}/word"}}, "is not a folder", "such as /var/lib/crowdd"),
    ({"data": {"postgres_user": "nobody-knows-me"}}, "there is no such user", "Create the user"),
    ({"live": {"heartbeat_seconds": "20", "stalled_timeout": "10"}}, "heartbeat_seconds (20)", "Lower"),
    ({"uploads": {"max_file_bytes": "30000000000"}}, "such a file can never be uploaded", "max_open_bytes"),
    ({"accounts": {"admin_idle_minutes": "900"}}, "admin_idle_minutes (900)", "admin_proof_hours"),
    ({"site": {"security_contact": "somebody"}}, "[site] security_contact: must be", "https address"),
]
TLS = {"tls_certificate": "{place}/certificate.pem", "trusted_proxies": ""}
RIGHT: list[Config] = [
    {},
    {"http": {"base_url": "http://localhost:8000"}, "mail": {"host": "", "sender": ""}, "db": {"dsn": ""}},
    {"http": {"trusted_proxies": "127.0.0.1 ::1", "allowed_hosts": "www.crowd.example.org 10.0.0.5 ::1"}},
    {"http": {"host": "0.0.0.0", "trusted_proxies": "10.0.0.0/8 172.18.0.1"}},
    {"http": {"host": "::", "trusted_proxies": "2a01:4f8:1:2::/64"}},
    {"http": {"host": "0.0.0.0", "port": "443", **TLS}},
    {"db": {"dsn": "postgresql://crowdd:secret@10.0.0.5:5432/crowdd?sslmode=require"}},
    {"db": {"dsn": "host=10.0.0.21,10.0.0.22 dbname=crowdd target_session_attrs=read-write"}},
    {"db": {"dsn": "host=10.0.0.5 dbname=c user=server", "migrate_dsn": "host=10.0.0.5 dbname=c user=owner"}},
    {"db": {"dsn": "host=10.0.0.5 dbname=c", "replica_dsn": "host=10.0.0.6 dbname=c"}},
    {"mail": {"port": "465", "tls": "implicit", "user": "crowd", "password": "a good one"}},
    {"mail": {"host": "127.0.0.1", "port": "25", "tls": "off"}},
    {"mail": {"host": "::1", "port": "2525", "tls": "off"}, "accounts": {"confirm_email": "off"}},
    {"backups": {"dir": "{place}/backups", "passphrase_file": "{place}/word", "every_hours": "6", "keep_weeks": "0"}},
    {
        "media": {
            "store": "s3",
            "s3_endpoint": "http://minio.internal:9000",
            "s3_bucket": "crowd",
            "s3_access_key": "a",
            "s3_secret_key_file": "{place}/word",
        }
    },
    {"log": {"file": "{place}/data/crowdd.log", "format": "json", "max_bytes": "0"}},
    {"signin": {"orcid_client_id": "APP-1", "orcid_client_secret": "s", "orcid_issuer": "https://sandbox.orcid.org"}},
    {
        "http": {
            "spa_base_url": "https://app.example.org",
            "allowed_origins": "https://app.example.org http://localhost:5173",
            "cross_site_cookies": "on",
        }
    },
    {"daemon": {"workers": "2", "node": "crowdd-1"}, "ratelimit": {"shared": "on"}, "http": {"drain_delay": "5"}},
    {"site": {"name": 'The "Birds"', "texts": "{place}/texts", "security_contact": "security@example.org"}},
    {"accounts": {"require_second_factor": "admins", "min_password_length": "14"}, "metrics": {"token": "a" * 32}},
    {"outgoing": {"allowed_hosts": "hooks.internal:8080 [fd00::7]:8080"}, "retention": {"address_days": "0"}},
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files and folders that the settings name; the current folder is no checkout."""
    for name in ("data", "backups", "texts"):
        (tmp_path / name).mkdir()
    for name, mode, word in (
        ("word", 0o600, "correct horse"),
        ("short", 0o600, "abc"),
        ("open", 0o644, "correct horse"),
    ):
        (tmp_path / name).write_text(f"{word}\n")
        (tmp_path / name).chmod(mode)
    (tmp_path / "certificate.pem").write_bytes(certificate(tmp_path)[0].dumpPEM())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(place: Path, more: Config) -> Path:
    """A configuration: the base with more."""
    sections = {name: {**BASE.get(name, {}), **more.get(name, {})} for name in {**BASE, **more}}
    lines = [
        line
        for name, options in sections.items()
        for line in (
            f"[{name}]",
            *(f"{option} = {value.replace('{place}', str(place))}" for option, value in options.items()),
        )
    ]
    path = place / "crowdd.conf"
    path.write_text("\n".join(lines) + "\n")
    return path


def sentences(path: Path) -> list[str]:
    """What the check says."""
    try:
        return [finding.sentence() for finding in check_settings(load(path, {}), {})]
    except ConfigError as error:
        return [f"Problem: {error} {error.hint}"]


@pytest.mark.parametrize(("more", "what", "remedy"), WRONG, ids=lambda value: str(value)[:60])
def test_what_cannot_work_is_named_with_its_remedy(place: Path, more: Config, what: str, remedy: str) -> None:
    problems = sentences(written(place, more))
    (sentence,) = (each for each in problems if what in each)
    assert sentence.startswith("Problem: ") and remedy in sentence
    assert len(problems) <= 2, "nothing else is wrong, but what follows from it"


@pytest.mark.parametrize("more", RIGHT, ids=lambda value: str(value)[:60])
def test_what_real_sites_have_passes_in_silence(place: Path, more: Config) -> None:
    problems = [sentence for sentence in sentences(written(place, more)) if "Mail is off" not in sentence]
    assert problems == []


def test_there_are_enough_of_both() -> None:
    assert len(WRONG) >= 40 and len(RIGHT) >= 20


def test_a_variable_that_sets_nothing_is_named() -> None:
    variables = {"CROWDD_HTPP_PORT": "1", "CROWDD_HTTP_PORT": "1", "CROWDD_CONFIG": "x", "PATH": ""}
    (finding,) = of_environment(variables)
    assert "CROWDD_HTPP_PORT" in finding.what and "CROWDD_<SECTION>_<OPTION>" in finding.todo and not finding.wrong


def test_sign_in_elsewhere_needs_its_libraries(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_rules, "find_spec", lambda name: None)
    google = {"google_client_id": "crowd", "google_client_secret": "x"}
    (sentence,) = sentences(written(place, {"signin": google}))
    assert sentence.startswith("Problem: [signin] google_client_id") and "crowdd[signin]" in sentence


def test_advice_for_what_may_be_meant(place: Path) -> None:
    for more, word in (
        ({"http": {"trusted_proxies": ""}}, "no proxy is trusted"),
        ({"outgoing": {"allowed_hosts": "hooks.internal:*"}}, "every service of that host"),
        ({"http": {"base_url": "http://localhost:8000"}}, "links to http://localhost:8000"),
        ({"backups": {"passphrase_file": str(place / "word")}}, "the server makes no backups"),
    ):
        (sentence,) = sentences(written(place, more))
        assert sentence.startswith("Advice: ") and word in sentence


@pytest.mark.skipif(os.geteuid() != 0, reason="Needs root (sudo pytest …), which alone can be another user.")
def test_a_folder_of_another_user_is_named() -> None:
    """Read as the user who runs the command, who is told to be the user of the server."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        settings = load(None, {"CROWDD_DATA_DIR": folder})
        os.setresuid(65534, 65534, 0)
        try:
            findings = check_settings(settings, {})
        finally:
            os.setresuid(0, 0, 0)
    (finding,) = (each for each in findings if each.code == "data_dir")
    assert f"cannot write to {folder}" in finding.what and "runuser -u crowdd" in finding.todo


def test_command_and_doctor_say_the_same(crowdctl, dsn: str) -> None:
    wrong = {"CROWDD_HTTP_TRUSTED_PROXIES": "0.0.0.0/0", "CROWDD_SITE_TEXTS": "/nonexistent"}
    crowdctl.json("db", "upgrade")
    checked = crowdctl("config", "check", "--json", **wrong)
    assert checked.status == 1
    codes = {finding["code"] for finding in checked.json}
    assert codes >= {"trusted_proxies", "site_texts"}
    assert codes <= {finding["code"] for finding in crowdctl("doctor", "--json", **wrong).json}
    assert all({*finding} == {"code", "what", "todo", "wrong"} for finding in checked.json)
