"""PostgreSQL servers of their own for a home database and its shards."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import psycopg2
from twisted.internet import reactor

from crowdd.domain.server.shards import preparing
from crowdd.storage import schema
from crowdd.storage.connections.connection_settings import session
from crowdd.storage.connections.pool import Pool
from support.replication.cluster import Cluster
from support.servers.postgres import scratch_folder

_ROLE = "CREATE ROLE crowdd LOGIN REPLICATION"
_MAY_COPY = "GRANT SET ON PARAMETER session_replication_role TO crowdd"
HOME, SHARDS = "home", ("one", "two")


@attrs.frozen
class Clusters:
    """Home on a PostgreSQL, and its two shards on another one."""

    home: Cluster
    others: Cluster
    folder: Path  # for data of servers

    def dsn(self, name: str, user: str = "crowdd") -> str:
        """The database of home or of a shard."""
        return (self.home if name == HOME else self.others).dsn(dbname=name, user=user)

    @property
    def setting(self) -> str:
        """[db] shards."""
        return "; ".join(f"{name} = {self.dsn(name)}" for name in SHARDS)

    def fetch(self, name: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a statement on home or a shard, as the superuser."""
        with contextlib.closing(psycopg2.connect(self.dsn(name, "postgres"))) as connected:
            connected.autocommit = True
            with connected.cursor() as cursor:
                cursor.execute(statement, values or None)
                return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def running() -> Iterator[Clusters]:
    """Empty databases; gone at the end."""
    folders = [scratch_folder(f"crowdd-{name}-") for name in (HOME, "shards")]
    home, others = map(Cluster, folders)
    made = Clusters(home, others, folders[0] / "served")
    try:
        for cluster, folder in zip((home, others), folders, strict=True):
            cluster.create()
            with (folder / "data/postgresql.conf").open("a") as settings:
                settings.write("wal_level = logical\nautovacuum = off\nwal_receiver_status_interval = 1s\n")
            cluster.start()
            with contextlib.closing(psycopg2.connect(cluster.dsn())) as connected:
                connected.autocommit = True
                for statement in (_ROLE, _MAY_COPY):
                    connected.cursor().execute(statement)
        _create(home, HOME)
        _create(others, SHARDS[0])
        yield made
    finally:
        for cluster, folder in zip((others, home), reversed(folders), strict=True):
            cluster.stop()
            shutil.rmtree(folder, ignore_errors=True)


def _create(cluster: Cluster, name: str, template: str = "template1") -> None:
    with contextlib.closing(psycopg2.connect(cluster.dsn())) as connected:
        connected.autocommit = True
        connected.cursor().execute(f"CREATE DATABASE {name} OWNER crowdd TEMPLATE {template}")


@contextlib.asynccontextmanager
async def connected(dsn: str) -> Any:
    """A pool of one connection."""
    pool = Pool(reactor, dsn, size=1, setup=session(60))
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()


async def prepare(clusters: Clusters) -> None:
    """Tables at home, and each shard added."""
    for name in (HOME, SHARDS[0]):
        async with connected(clusters.dsn(name)) as pool:
            await schema.upgrade(pool)
    _create(clusters.others, SHARDS[1], SHARDS[0])
    for name in SHARDS:
        await add(clusters, name)


async def add(clusters: Clusters, name: str) -> Any:
    """Makes a database a shard, as ``crowdctl shards add`` does."""
    home_dsn = clusters.dsn(HOME)
    async with (
        connected(home_dsn) as home,
        connected(clusters.dsn(name)) as shard,
        connected(clusters.dsn(name, "postgres")) as superuser,
    ):
        return await preparing.add(reactor, preparing.Databases(home, shard, superuser, home_dsn), name)
