"""``crowdctl check``: whether the counters are what the rows say."""

from __future__ import annotations

import attrs
import click

from crowdd.admin_cli.output import json_option, print_json
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.recount import Difference
from crowdd.domain.server.services import Services


@click.command()
@click.option("--repair", is_flag=True, help="Correct the counters that differ.")
@json_option
@click.pass_context
def check(ctx: click.Context, repair: bool, as_json: bool) -> None:
    """Recount every counter from the rows, while the server runs, and print what differs.

    Prints nothing and exits with 0 if none differ. Exits with 1 if a difference remains.
    """
    found = with_domain(ctx.obj, lambda services: _look(services, repair, quiet=as_json))
    if as_json:
        print_json([attrs.asdict(difference) for difference in found])
    ctx.exit(int(any(not difference.repaired for difference in found)))


async def _look(services: Services, repair: bool, quiet: bool) -> list[Difference]:
    """All differences, each printed as soon as it is known."""
    found = []
    async for difference in services.checking.run(repair=repair):
        found.append(difference)
        if not quiet:
            click.echo(difference.sentence())
    return found
