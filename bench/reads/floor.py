"""The floor: what Twisted, our pool and PostgreSQL give without anything of crowdd above them.

    CROWDD_DB_DSN=… CROWDD_DATA_DIR=… python -m bench.reads.floor PORT

A plain ``Site`` that runs one SELECT of one row by its primary key and writes it with orjson.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import orjson
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Site

from crowdd.core import base
from crowdd.database.pool import Pool
from crowdd.kernel import config

ROW = "SELECT id, name, short_name, description FROM category WHERE id = %(id)s"


class Floor(Resource):
    """One row for each request, whatever its address."""

    isLeaf = True

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self._pool = pool

    def render_GET(self, request: Any) -> int:
        """The row as JSON."""
        ensureDeferred(self._answer(request))
        return NOT_DONE_YET

    async def _answer(self, request: Any) -> None:
        rows = await self._pool.fetch(ROW, {"id": 1})
        body = orjson.dumps(rows)
        request.setHeader(b"content-type", b"application/json")
        request.setHeader(b"content-length", b"%d" % len(body))
        request.write(body)
        request.finish()


def main(port: int, running: Any) -> None:
    """Serves until it is ended."""
    pool = base.make_pool(running, config.load(None, os.environ))

    async def serve() -> None:
        await pool.start()
        # As long as a bench: readers rest while others have their turns.
        running.listenTCP(port, Site(Floor(pool), timeout=3600), interface="127.0.0.1")

    ensureDeferred(serve())
    running.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), reactor)
