"""The embedded PostgreSQL, used when none is configured: found, initialised, started, stopped."""

from __future__ import annotations

from subprocess import SubprocessError

from crowdd.database.embedded import cluster
from crowdd.database.embedded.binaries import check_configured_server, find_all, pick, within_reach
from crowdd.database.embedded.cluster import PostgresServer, answering, hold_folder
from crowdd.database.embedded.home import Home, StartError, find_home

__all__ = [
    "Home",
    "PostgresServer",
    "StartError",
    "answering",
    "check_configured_server",
    "find_home",
    "hold_folder",
    "start",
]


def start(home: Home, oldest: int = 0) -> PostgresServer:
    """Start PostgreSQL on this home, and create it if it does not exist. The caller holds the lock of the data folder.

    ``oldest``: the major version that it has to have at least. The server is our child and ends with us. Raises StartError with a sentence that says what to do.
    """
    try:
        fitting = [candidate for candidate in find_all() if candidate.major >= oldest]
        binaries = within_reach(pick(fitting, home.cluster, oldest), home.account, home.folder)
        cluster.initialise(home, binaries)
        return cluster.start(home, binaries)
    except (OSError, SubprocessError) as error:
        raise StartError(f"PostgreSQL could not start on {home.cluster}: {error}") from error
