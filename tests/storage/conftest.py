"""A PostgreSQL server that tests may stop and start as they like."""

import shutil

import pytest
from support.replication.cluster import Cluster
from support.servers.postgres import scratch_folder


@pytest.fixture(scope="session")
def restartable():
    """The server of these tests; a test that stops it starts it again."""
    directory = scratch_folder("crowdd-")
    cluster = Cluster(directory)
    cluster.create()
    cluster.start()
    yield cluster
    cluster.stop()
    shutil.rmtree(directory)
