"""``crowdctl announcement``: what the site tells everybody."""

from __future__ import annotations

from pathlib import Path

import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.lookups import given, known
from crowdd.admin_cli.output import json_option, listing, say
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.services import Services
from crowdd.kinds.announcement import ANNOUNCEMENT
from crowdd.requester import SYSTEM
from crowdd.storage.core.listing import Query

_COLUMNS = ("id", "created", "updated", "published", "title")


@click.group(cls=Group)
def announcement() -> None:
    """Manage announcements of the site.

    ID is the number of an announcement in the list.
    """


@announcement.command("list")
@click.option(
    "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Maximum number, newest first."
)
@json_option
@click.pass_obj
def list_announcements(config: Path | None, limit: int, as_json: bool) -> None:
    """List the newest announcements, including drafts."""
    newest = Query(ANNOUNCEMENT, order="created", descending=True, limit=limit)
    listing(as_json, with_domain(config, lambda d: d.records.list(newest, SYSTEM)), _COLUMNS)


@announcement.command("add")
@click.option("--title", required=True, help="Title.")
@click.option("--body", required=True, help="Text, in Markdown.")
@click.option("--media-url", help="Address of a picture.")
@click.option("--draft", is_flag=True, help="Create a draft that only administrators see.")
@json_option
@click.pass_obj
def add(config: Path | None, /, draft: bool, as_json: bool, **fields: str | None) -> None:
    """Add an announcement. Everyone sees it at once unless it is a draft."""
    body = {**given(**fields), "published": not draft}
    made = with_domain(config, lambda services: services.records.create(ANNOUNCEMENT, SYSTEM, body))
    say(as_json, made, f"Added announcement {made['id']}, {_state(made)}.")


@announcement.command("edit")
@click.argument("number", metavar="ID", type=int)
@click.option("--title", help="New title.")
@click.option("--body", help="New text, in Markdown.")
@click.option("--media-url", help="Address of the new picture.")
@click.option("--draft", is_flag=True, help="Unpublish it: only administrators see it.")
@json_option
@click.pass_obj
def edit(config: Path | None, /, number: int, draft: bool, as_json: bool, **fields: str | None) -> None:
    """Change an announcement. Options that you leave out stay unchanged."""
    changes = {**given(**fields), **({"published": False} if draft else {})}
    if not changes:
        raise click.UsageError("Choose what to change: --title, --body, --media-url or --draft.")
    changed = with_domain(config, lambda services: _change(services, number, changes))
    say(as_json, changed, f"Changed announcement {number}, {_state(changed)}.")


@announcement.command()
@click.argument("number", metavar="ID", type=int)
@json_option
@click.pass_obj
def publish(config: Path | None, number: int, as_json: bool) -> None:
    """Publish an announcement."""
    changed = with_domain(config, lambda services: _change(services, number, {"published": True}))
    say(as_json, changed, f"Announcement {number} is {_state(changed)}.")


@announcement.command("remove")
@click.argument("number", metavar="ID", type=int)
@yes_option
@json_option
@click.pass_obj
def remove(config: Path | None, number: int, yes: bool, as_json: bool) -> None:
    """Remove an announcement."""
    confirm(yes, f"Announcement {number} will be removed.")
    with_domain(config, lambda services: _remove(services, number))
    say(as_json, {"id": number}, f"Removed announcement {number}.")


def _state(row: dict[str, object]) -> str:
    return "published" if row["published"] else "a draft"


async def _change(services: Services, number: int, changes: dict[str, object]) -> dict[str, object]:
    return await known(services.records.change(ANNOUNCEMENT, SYSTEM, number, changes), f"Announcement {number}")


async def _remove(services: Services, number: int) -> None:
    await known(services.records.delete(ANNOUNCEMENT, SYSTEM, number), f"Announcement {number}")
