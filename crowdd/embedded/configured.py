"""A PostgreSQL that the operator runs: checked once before it is used."""

from __future__ import annotations

import contextlib

import psycopg2

from crowdd.embedded.binaries import OLDEST
from crowdd.embedded.errors import StartError

CONNECT_SECONDS = 10


def check(dsn: str) -> None:
    """Raises StartError unless the database takes connections and is of a version that crowdd works with."""
    try:
        connection = psycopg2.connect(dsn, connect_timeout=CONNECT_SECONDS)
    except psycopg2.Error as error:
        raise StartError(
            f"Could not connect to the configured database: {' '.join(str(error).split())} "
            "Correct [db] dsn (CROWDD_DB_DSN), or leave it empty to use an embedded PostgreSQL."
        ) from None
    with contextlib.closing(connection):
        major = connection.server_version // 10000
    if major < OLDEST:
        raise StartError(f"The configured database is PostgreSQL {major}, but crowdd needs {OLDEST} or newer.")
