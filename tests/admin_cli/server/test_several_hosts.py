"""Commands with a DSN that names several hosts: one that is down, a standby, and the primary."""

from __future__ import annotations

import pytest
from psycopg2.extensions import make_dsn, parse_dsn
from test_backup import PASSPHRASE, databases, dsn, lasting_databases, original, place, used
from test_scheduled_backups import standby

__all__ = ["databases", "lasting_databases", "original", "place", "standby", "used"]

ALONE = "The database waits for no other server: if the primary fails, confirmed answers may be lost."


def hosts_of(server, standby, attributes: str) -> str:
    """A host without a server, the standby and the primary of a server's database, in this order."""
    words, other = parse_dsn(dsn(server)), parse_dsn(standby.of(dsn(server)))
    hosts = ("/nowhere/at/all", other["host"], words["host"])
    ports = ("5432", other.get("port", "5432"), words.get("port", "5432"))
    return make_dsn(dsn(server), host=",".join(hosts), port=",".join(ports), target_session_attrs=attributes)


@pytest.fixture
def following(postgres, used, standby):
    """The standby, once it has the database."""
    standby.catch_up(postgres)
    return standby


@pytest.mark.proof
def test_backup_restore_and_doctor_find_the_primary(used, place, following, tmp_path):
    several = {"CROWDD_DB_DSN": hosts_of(used, following, "read-write")}
    made = used.json("backup", tmp_path / "b.tar", **PASSPHRASE, **several)
    assert made["rows"]["task"] == 20
    into = {"CROWDD_DB_DSN": hosts_of(place, following, "primary")}
    assert place.json("restore", "--yes", tmp_path / "b.tar", **PASSPHRASE, **into)["differences"] == []
    assert ALONE in [finding["what"] for finding in used("doctor", "--json", **several).json]
    assert ALONE not in [finding["what"] for finding in used("doctor", "--json").json]


@pytest.mark.proof
def test_a_standby_is_preferred_and_its_snapshot_is_read_there(used, following, tmp_path):
    preferred = hosts_of(used, following, "prefer-standby")
    assert used.json("backup", tmp_path / "b.tar", "--dsn", preferred, **PASSPHRASE)["rows"]["task"] == 20


def test_a_server_does_not_start_where_any_host_would_do(used):
    several = make_dsn(dsn(used), host=f"/nowhere/at/all,{parse_dsn(dsn(used))['host']}")
    assert "Add target_session_attrs=read-write to it" in used.refused("nodes", CROWDD_DB_DSN=several)
