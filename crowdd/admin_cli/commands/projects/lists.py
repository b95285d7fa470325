"""``crowdctl project list`` and ``show``."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

import click

from crowdd.admin_cli.lookups import account, category, given
from crowdd.admin_cli.lookups import project as found
from crowdd.admin_cli.output import details, json_option, listing
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.services import Services
from crowdd.kinds.project import PROJECT
from crowdd.requester import SYSTEM
from crowdd.storage.core.listing import Query, equal
from crowdd.values import Values

_LIST = (
    "id", "short_name", "name", "owner", "published", "featured",
    "n_tasks", "n_completed_tasks", "n_task_runs", "n_volunteers", "overall_progress", "last_activity_raw",
)  # fmt: skip
_SHOW = (
    *_LIST, "description", "created", "updated", "owner_id", "owners_ids", "category_id", "n_results", "n_blogposts",
    "allow_anonymous_contributors", "zip_download", "webhook",
)  # fmt: skip
_PAGE = 100  # rows of a list at most


class Chosen(TypedDict):
    """Which projects are listed; None leaves it open."""

    owner: str | None
    category_name: str | None
    published: bool | None
    featured: bool | None
    after: int
    limit: int


@click.command("list")
@click.option("--owner", metavar="WHO", help="Only projects of this account (id, user name or e-mail address).")
@click.option(
    "--category", "category_name", metavar="CATEGORY", help="Only projects in this category (id or short name)."
)
@click.option("--published/--not-published", default=None, help="Only published or only unpublished projects.")
@click.option("--featured/--not-featured", default=None, help="Only featured or only other projects.")
@click.option("--after", type=int, default=0, metavar="ID", help="Only ids above this one (for the next page).")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="Maximum number of rows.")
@json_option
@click.pass_obj
def list_projects(config: Path | None, /, as_json: bool, **chosen: Unpack[Chosen]) -> None:
    """List the projects by id, including drafts."""
    listing(as_json, with_domain(config, lambda services: _list(services, chosen)), _LIST)


@click.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def show(config: Path | None, which: str, as_json: bool) -> None:
    """Show the owner and progress of a project, and what is missing before it can be published."""
    details(as_json, with_domain(config, lambda services: _show(services, which)))


async def _list(services: Services, chosen: Chosen) -> list[Values]:
    """Page by page: a list of the API has a hundred rows at most."""
    wanted: dict[str, object] = {**given(published=chosen["published"], featured=chosen["featured"])}
    if chosen["owner"] is not None:
        wanted["owner_id"] = (await account(services.accounts, chosen["owner"]))["id"]
    if chosen["category_name"] is not None:
        wanted["category_id"] = (await category(services.administration, chosen["category_name"]))["id"]
    limit = chosen["limit"]
    rows: list[Values] = []
    while len(rows) < limit:
        last_id = rows[-1]["id"] if rows else chosen["after"]
        query = Query(PROJECT, equal(PROJECT, **wanted), limit=min(_PAGE, limit - len(rows)), last_id=last_id)
        more = await services.records.list(query, SYSTEM)
        if not more:
            break
        rows += more
    return rows


async def _show(services: Services, which: str) -> dict[str, object]:
    row = await found(services.projects, services.records, which)
    view = await services.records.get(PROJECT, SYSTEM, row["id"])
    ready = await services.projects.readiness(row)
    lacks = [name for name, is_present in (("presenter", ready.presenter), ("tasks", ready.tasks)) if not is_present]
    address = f"{services.settings.base_url}/project/{row['short_name']}/"
    more = {"paused": not row["published"] and row["first_published"] is not None, "locked": row["lock_id"] is not None}
    return {**{name: view[name] for name in _SHOW}, **more, "lacks": lacks, "url": address}
