"""``crowdctl nodes``: the servers on one database."""

from __future__ import annotations

from pathlib import Path

import click

from crowdd.admin_cli.output import json_option, listing
from crowdd.admin_cli.runtime import with_database
from crowdd.storage import schema
from crowdd.storage.connections.pool import Pool
from crowdd.storage.node_rows import NodeState
from crowdd.storage.nodes import overview

_COLUMNS = ("name", "host", "version", "migration", "started", "seen", "processes", "state")


@click.command()
@json_option
@click.pass_obj
def nodes(config: Path | None, as_json: bool) -> None:
    """List the servers that run on the database, with their versions.

    "migration" is the newest that a server knows. "state" is ready (it takes requests), draining (it is about to stop)
    or gone (it died within the last day).
    """
    listing(as_json, with_database(config, _listed), _COLUMNS)


async def _listed(pool: Pool) -> list[NodeState]:
    (await schema.status(pool)).require()
    return await overview(pool)
