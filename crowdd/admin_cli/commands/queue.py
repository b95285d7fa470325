"""``crowdctl queue``: long work in the background."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from twisted.internet.task import deferLater

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.lookups import known
from crowdd.admin_cli.output import details, json_option, listing, say, watching
from crowdd.admin_cli.runtime import reactor, with_domain
from crowdd.domain.core.background_queue import STATES
from crowdd.domain.server.services import Services
from crowdd.sched.queue_worker import Worker
from crowdd.sched.task_handlers import handlers
from crowdd.values import SYSTEM

_COLUMNS = ("id", "name", "state", "project_id", "user_name", "done", "total", "rate", "eta", "attempt", "due", "error")
_ENDED = ("done", "dead", "cancelled")
_LOOK_SECONDS = 0.5


@click.group(cls=Group)
def queue() -> None:
    """Long work: what waits, what runs and how far it is, what has ended.

    ID is the number that an item has in the list.
    """


@queue.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only what is in this state.")
@click.option("--name", help="Only this kind of work.")
@click.option("--project", "project_id", type=int, help="Only the work of the project with this id.")
@click.option("--before", type=int, metavar="ID", help="Only what came before this item: to read on.")
@click.option("--limit", default=50, show_default=True, help="How many items.")
@json_option
@click.pass_obj
def list_(config: Path | None, /, as_json: bool, **chosen: Any) -> None:
    """List the items, the newest first."""
    rows = with_domain(config, lambda services: services.queue.list_whole(SYSTEM, everybodys=True, **chosen))
    listing(as_json, rows, _COLUMNS)


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@click.option("--wait", is_flag=True, help="Watch it until it has ended; Ctrl-C ends the watching, not the work.")
@json_option
@click.pass_context
def show(ctx: click.Context, item_id: int, wait: bool, as_json: bool) -> None:
    """Show all about one item. With --wait, ends with 1 when the item is dead or was cancelled."""
    with watching(f"Item {item_id}", quiet=as_json) as told:
        item = with_domain(ctx.obj, lambda services: _seen(services, item_id, wait, told))
    details(as_json, item)
    ctx.exit(int(wait and item["state"] != "done"))


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def cancel(config: Path | None, item_id: int, as_json: bool) -> None:
    """End an item: at once when it waits, at its next step when it runs."""
    item = with_domain(config, lambda services: _changed(services, "cancel", item_id))
    asked = item["state"] == "running"
    say(as_json, item, f"{item['name']} {item_id} {'is asked to stop' if asked else 'is cancelled'}.")


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def retry(config: Path | None, item_id: int, as_json: bool) -> None:
    """Let an item that is dead or was cancelled begin again, where it had come to."""
    item = with_domain(config, lambda services: _changed(services, "retry", item_id))
    say(as_json, item, f"{item['name']} {item_id} waits for its turn.")


@queue.command()
@json_option
@click.pass_obj
def work(config: Path | None, as_json: bool) -> None:
    """Do what is due, here and now, beside the running server or without one.

    Ctrl-C ends it; whatever was under way is begun again within a minute or two, where it had come to.
    """
    count = with_domain(config, _work, connections=3)
    say(as_json, {"items": count}, f"{count} items have had their turn." if count else "Nothing is due.")


async def _seen(services: Services, item_id: int, wait: bool, told: Callable[[int], None]) -> dict[str, Any]:
    item = await known(services.queue.get(SYSTEM, item_id, whole=True), f"item {item_id}")
    while wait and item["state"] not in _ENDED:
        told(item["done"])
        await deferLater(reactor, _LOOK_SECONDS)
        item = await services.queue.get(SYSTEM, item_id, whole=True)
    return item


async def _changed(services: Services, action: str, item_id: int) -> dict[str, Any]:
    change = services.queue.cancel if action == "cancel" else services.queue.retry
    item = await known(change(SYSTEM, item_id), f"item {item_id}")
    await services.administration.note(action, "queue", item_id, SYSTEM)
    return item


async def _work(services: Services) -> int:
    worker, count = Worker(reactor, services, handlers(), size=1), 0
    while begun := await worker.take():
        for settled in begun:
            await settled
            count += 1
    return count
