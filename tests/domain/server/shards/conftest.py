"""Home and two shards, each on a PostgreSQL of its own, and a server over them."""

import pytest
import pytest_twisted
from support.replication.shards import prepare, running
from support.servers.served import Served
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred

from crowdd import config
from crowdd.domain.server.shards.moving import Mover, sides_of
from crowdd.storage.server.shards.moving import Session


@pytest.fixture(scope="session")
def clusters():
    """The databases."""
    with running() as databases:
        pytest_twisted.blockon(ensureDeferred(prepare(databases)))
        yield databases


@pytest.fixture
def sharded(clusters, tmp_path):
    """Settings of a server over them."""
    environment = {
        "CROWDD_DB_DSN": clusters.dsn("home"),
        "CROWDD_DB_SHARDS": clusters.setting,
        "CROWDD_DATA_DIR": str(clusters.folder),
        "CROWDD_DB_POOL_SIZE": "3",
        "CROWDD_RATELIMIT_LIMIT": "0",
        "CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "0",
        "CROWDD_HTTP_MAX_REQUESTS_PER_NETWORK": "0",
        "CROWDD_OUTGOING_ALLOWED_HOSTS": "127.0.0.1:*",
        "CROWDD_WEBHOOKS_FIRST_DELAY": "0.05",
    }
    return config.load(None, environment)


@pytest.fixture
def mover(sharded):
    """Moves at once: a server that is asked later knows nothing of before."""
    home = Session(sharded.db.dsn)
    sides = sides_of(sharded, home)
    home.close()
    return Mover(sides, wait=lambda seconds: None)


@pytest_twisted.async_yield_fixture
async def node(sharded):
    """A server in this process, once it serves all shards."""
    made = Served(reactor, sharded)
    await made.start()
    await until(lambda: all(shard.gateway() for shard in made.server._shards))
    yield made
    await made.stop()
