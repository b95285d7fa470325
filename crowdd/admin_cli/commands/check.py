"""``crowdctl check``: whether the counters are what the rows say, and whether the audit log is as it was written."""

from __future__ import annotations

import attrs
import click

from crowdd.admin_cli.output import json_option, print_json
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.audit_chain import head_sentence, sentence
from crowdd.domain.server.recount import Difference
from crowdd.domain.server.services import Services
from crowdd.storage.server.rows import AuditMisfit
from crowdd.values import Values


@click.command()
@click.option("--repair", is_flag=True, help="Correct the counters that differ.")
@json_option
@click.pass_context
def check(ctx: click.Context, repair: bool, as_json: bool) -> None:
    """Recount every counter from the rows, verify the audit log, and print what differs. The server can run meanwhile.

    For the audit log, the command names the first row that was changed, added or deleted after it was written, and each
    snapshot that was made when the log ended with a row that it no longer has. This cannot be repaired.

    Prints nothing and exits with 0 if nothing differs. Exits with 1 if a difference remains.
    """
    differences, misfit, heads = with_domain(ctx.obj, lambda services: _look(services, repair, quiet=as_json))
    if as_json:
        of_log = [] if misfit is None else [{"check": "audit log", **misfit}]
        of_heads = [{"check": "audit log in snapshot", **head} for head in heads]
        print_json([*(attrs.asdict(difference) for difference in differences), *of_log, *of_heads])
    ctx.exit(int(misfit is not None or bool(heads) or any(not difference.repaired for difference in differences)))


async def _look(
    services: Services, repair: bool, quiet: bool
) -> tuple[list[Difference], AuditMisfit | None, list[Values]]:
    """All differences, each printed as soon as it is known."""
    differences = []
    async for difference in services.checking.run(repair=repair):
        differences.append(difference)
        if not quiet:
            click.echo(difference.sentence())
    misfit = await services.audit_chain.verify()
    if misfit is not None and not quiet:
        click.echo(sentence(misfit))
    heads = []
    async for snapshot, head in services.snapshots.audit_heads():
        if not await services.audit_chain.holds(head):
            heads.append({"project_id": snapshot["project_id"], "snapshot": snapshot["hash"], **head})
            if not quiet:
                click.echo(head_sentence(str(snapshot["hash"]), head))
    return differences, misfit, heads
