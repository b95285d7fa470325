"""``crowdctl category``: categories of projects."""

from __future__ import annotations

from pathlib import Path

import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.lookups import category as found
from crowdd.admin_cli.lookups import given
from crowdd.admin_cli.output import json_option, listing, say
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.projects.project_validation import slug
from crowdd.domain.server.services import Services
from crowdd.errors import ConflictError
from crowdd.kinds.category import CATEGORY
from crowdd.requester import SYSTEM

_COLUMNS = ("id", "short_name", "name", "description", "n_projects")


@click.group(cls=Group)
def category() -> None:
    """Manage project categories.

    CATEGORY is an id or a short name.
    """


@category.command("list")
@json_option
@click.pass_obj
def list_categories(config: Path | None, as_json: bool) -> None:
    """List the categories, each with the number of its published projects."""
    listing(as_json, with_domain(config, lambda services: services.administration.categories(SYSTEM)), _COLUMNS)


@category.command("add")
@click.option("--name", required=True, help="Name.")
@click.option("--short-name", help="Name used in addresses (default: made from the name).")
@click.option("--description", default="", help="Description in one sentence.")
@json_option
@click.pass_obj
def add(config: Path | None, name: str, short_name: str | None, description: str, as_json: bool) -> None:
    """Add a category."""
    body = {"name": name, "short_name": short_name or slug(name, "category"), "description": description}
    made = with_domain(config, lambda services: services.records.create(CATEGORY, SYSTEM, body))
    say(as_json, made, f"Added {made['short_name']}, id {made['id']}.")


@category.command("edit")
@click.argument("which", metavar="CATEGORY")
@click.option("--name", help="New name.")
@click.option("--short-name", help="New short name. Addresses with the old one stop working.")
@click.option("--description", help="New description in one sentence.")
@json_option
@click.pass_obj
def edit(config: Path | None, /, which: str, as_json: bool, **fields: str | None) -> None:
    """Change a category. Options that you leave out stay unchanged."""
    changes = given(**fields)
    if not changes:
        raise click.UsageError("Choose what to change: --name, --short-name or --description.")

    async def work(services: Services) -> dict[str, object]:
        return await services.records.change(
            CATEGORY, SYSTEM, (await found(services.administration, which))["id"], changes
        )

    changed = with_domain(config, work)
    say(as_json, changed, f"Changed {changed['short_name']}.")


@category.command("remove")
@click.argument("which", metavar="CATEGORY")
@yes_option
@json_option
@click.pass_obj
def remove(config: Path | None, which: str, yes: bool, as_json: bool) -> None:
    """Remove a category without projects. The last category cannot be removed."""
    confirm(yes, f"The category {which} will be removed.")
    row = with_domain(config, lambda services: _remove(services, which))
    say(as_json, row, f"Removed {row['short_name']}.")


async def _remove(services: Services, which: str) -> dict[str, object]:
    row = await found(services.administration, which)
    try:
        await services.records.delete(CATEGORY, SYSTEM, row["id"])
    except ConflictError as error:
        if error.constraint:
            raise ConflictError(f"The category {row['short_name']} still has projects. Move them first.") from None
        raise
    return {"id": row["id"], "short_name": row["short_name"]}
