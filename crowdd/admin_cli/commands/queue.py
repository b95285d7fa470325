"""``crowdctl queue``: background tasks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Unpack

import click
from twisted.internet.task import deferLater

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.lookups import known
from crowdd.admin_cli.output import details, json_option, listing, say, watching
from crowdd.admin_cli.runtime import presence, reactor, with_domain
from crowdd.domain.core.background_queue import STATES, QueuedTask, QueueFilter
from crowdd.domain.server.services import Services
from crowdd.requester import SYSTEM
from crowdd.sched.handler import Handler, RunningTask
from crowdd.sched.queue_worker import Worker
from crowdd.sched.task_handlers import handlers

_COLUMNS = ("id", "name", "state", "project_id", "user_name", "done", "total", "rate", "eta", "attempt", "due", "error")
_ENDED = ("done", "dead", "cancelled")
_LOOK_SECONDS = 0.5


@click.group(cls=Group)
def queue() -> None:
    """Manage background tasks: waiting, running and ended.

    ID is the number of a background task in the list.
    """


@queue.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only background tasks in this state.")
@click.option("--name", help="Only background tasks of this type.")
@click.option("--project", "project_id", type=int, help="Only background tasks of the project with this id.")
@click.option("--before", type=int, metavar="ID", help="Only background tasks before this one (for the next page).")
@click.option("--limit", default=50, show_default=True, help="Maximum number of background tasks.")
@json_option
@click.pass_obj
def list_queue(config: Path | None, /, as_json: bool, **wanted: Unpack[QueueFilter]) -> None:
    """List background tasks, newest first."""
    rows = with_domain(config, lambda services: services.queue.list_whole(SYSTEM, **wanted | {"everybodys": True}))
    listing(as_json, rows, _COLUMNS)


@queue.command("show")
@click.argument("item_id", metavar="ID", type=int)
@click.option("--wait", is_flag=True, help="Wait until it has ended. Ctrl-C stops waiting, not the task.")
@json_option
@click.pass_context
def show(ctx: click.Context, item_id: int, wait: bool, as_json: bool) -> None:
    """Show one background task. With --wait, exits with 1 if it failed or was cancelled."""
    with watching(f"Item {item_id}", quiet=as_json) as report_progress:
        item = with_domain(ctx.obj, lambda services: _seen(services, item_id, wait, report_progress))
    details(as_json, item)
    ctx.exit(int(wait and item["state"] != "done"))


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def cancel(config: Path | None, item_id: int, as_json: bool) -> None:
    """Cancel a background task: at once if it waits, at its next step if it runs."""
    item = with_domain(config, lambda services: _changed(services, "cancel", item_id))
    asked = item["state"] == "running"
    say(as_json, item, f"{item['name']} {item_id} {'will stop at its next step' if asked else 'is cancelled'}.")


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def retry(config: Path | None, item_id: int, as_json: bool) -> None:
    """Retry a background task that failed or was cancelled, from where it stopped."""
    item = with_domain(config, lambda services: _changed(services, "retry", item_id))
    say(as_json, item, f"{item['name']} {item_id} is waiting to run.")


@queue.command()
@json_option
@click.pass_obj
def work(config: Path | None, as_json: bool) -> None:
    """Run due background tasks now, with or without a running server.

    Ctrl-C stops it. Unfinished tasks resume within two minutes from where they stopped.
    """
    count = with_domain(config, _work, connections=3)
    say(as_json, {"items": count}, f"{count} background tasks were run." if count else "Nothing is due.")


async def _seen(
    services: Services, item_id: int, wait: bool, report_progress: Callable[[int], None]
) -> dict[str, object]:
    item = await known(services.queue.get(SYSTEM, item_id, whole=True), f"Background task {item_id}")
    while wait and item["state"] not in _ENDED:
        report_progress(item["done"])
        await deferLater(reactor, _LOOK_SECONDS)
        item = await services.queue.get(SYSTEM, item_id, whole=True)
    return item


async def _changed(services: Services, action: str, item_id: int) -> dict[str, object]:
    change = services.queue.cancel if action == "cancel" else services.queue.retry
    item = await known(change(SYSTEM, item_id), f"Background task {item_id}")
    await services.administration.note(action, "queue", item_id, SYSTEM)
    return item


async def _work(services: Services) -> int:
    def start(handler: Handler, task: QueuedTask) -> RunningTask:
        return handler.run(services, task)

    count = 0
    async with presence(services.settings) as session:
        worker = Worker(reactor, handlers(), services.db, services.queue, services.mail, start, size=1, session=session)
        while begun := await worker.take():
            for settled in begun:
                await settled
                count += 1
    return count
