"""``crowdctl queue``: long work in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdd.admin_cli.output import json_option, listing, print_json, say
from crowdd.admin_cli.running import with_domain
from crowdd.domain.queue import STATES
from crowdd.values import SYSTEM

_COLUMNS = ("id", "name", "state", "project_id", "user_name", "done", "total", "rate", "eta", "attempt", "due", "error")


@click.group()
def queue() -> None:
    """Long work: what waits, what runs and how far it is, what has ended."""


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
    rows = with_domain(config, lambda domain: domain.queue.list_whole(SYSTEM, everybodys=True, **chosen))
    listing(as_json, rows, _COLUMNS)


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def show(config: Path | None, item_id: int, as_json: bool) -> None:
    """Show all about one item."""
    item = with_domain(config, lambda domain: domain.queue.get(SYSTEM, item_id, whole=True))
    if as_json:
        print_json(item)
    else:
        listing(False, [{"": name, " ": value} for name, value in item.items()], ("", " "))


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def cancel(config: Path | None, item_id: int, as_json: bool) -> None:
    """End an item: at once when it waits, at its next step when it runs."""
    item = with_domain(config, lambda domain: domain.queue.cancel(SYSTEM, item_id))
    asked = item["state"] == "running"
    say(as_json, item, f"{item['name']} {item_id} {'is asked to stop' if asked else 'is cancelled'}.")


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def retry(config: Path | None, item_id: int, as_json: bool) -> None:
    """Let an item that is dead or was cancelled begin again, where it had come to."""
    item = with_domain(config, lambda domain: domain.queue.retry(SYSTEM, item_id))
    say(as_json, item, f"{item['name']} {item_id} waits for its turn.")
