"""``crowdctl project``: list and show projects, publish, pause, feature, transfer and delete them."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group, gathered
from crowdd.admin_cli.output import details, json_option, listing, say
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.feature import House
from crowdd.core.records.listing_statements import Query, equal
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.lookups import account, category, given
from crowdd.features.projects.lookups import project as found
from crowdd.features.projects.rows import ProjectPage
from crowdd.kernel.errors import ConflictError
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Values
from crowdd.kinds.project import PROJECT


@click.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def publish(config: Path | None, which: str, as_json: bool) -> None:
    """Publish a project. Trial answers are deleted the first time."""
    row, changed = with_domain(config, lambda house: _opened(house, which))
    _say_state(as_json, row, "published", changed)


@click.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def pause(config: Path | None, which: str, as_json: bool) -> None:
    """Pause a project. Answers in progress still count."""
    row, changed = with_domain(config, lambda house: _paused(house, which))
    _say_state(as_json, row, "not published", changed)


@click.command()
@click.argument("which", metavar="PROJECT")
@click.option("--remove", is_flag=True, help="Stop featuring the project.")
@json_option
@click.pass_obj
def feature(config: Path | None, which: str, remove: bool, as_json: bool) -> None:
    """Feature a project: show it first in the list of projects."""
    row, changed = with_domain(config, lambda house: _featured(house, which, not remove))
    _say_state(as_json, row, "not featured" if remove else "featured", changed)


@click.command()
@click.argument("which", metavar="PROJECT")
@click.option("--to", "person", metavar="WHO", required=True, help="Id, user name or e-mail address of the new owner.")
@click.option("--keep-owners", is_flag=True, help="Keep the previous owner and co-owners as co-owners.")
@yes_option
@json_option
@click.pass_obj
def transfer(config: Path | None, which: str, person: str, keep_owners: bool, yes: bool, as_json: bool) -> None:
    """Transfer a project to another account. Previous owners lose their rights unless you use --keep-owners."""
    confirm(yes, f"The project {which} will belong to {person}.")
    done = with_domain(config, lambda house: _transfer(house, which, person, keep_owners))
    say(as_json, done, f"{done['short_name']} belongs to {done['owner']} now.")


@click.command()
@click.argument("which", metavar="PROJECT")
@yes_option
@json_option
@click.pass_obj
def delete(config: Path | None, which: str, yes: bool, as_json: bool) -> None:
    """Delete a project with its tasks, answers, results and files.

    It disappears at once. The running server, or the next one that starts, deletes the data of a large project in the
    background.
    """
    confirm(yes, f"The project {which} and everything in it will be deleted.")
    row = with_domain(config, lambda house: _delete(house, which))
    say(as_json, {"id": row["id"], "short_name": row["short_name"]}, f"{row['short_name']} is deleted.")


async def _opened(house: House, which: str) -> tuple[ProjectPage, bool]:
    row = await found(house[ProjectsFeature].projects, house.base.records, which)
    return row, await house[ProjectsFeature].projects.publish(row, SYSTEM)


async def _paused(house: House, which: str) -> tuple[ProjectPage, bool]:
    row = await found(house[ProjectsFeature].projects, house.base.records, which)
    return row, await house[ProjectsFeature].projects.pause(row, SYSTEM)


async def _featured(house: House, which: str, featured: bool) -> tuple[ProjectPage, bool]:
    row = await found(house[ProjectsFeature].projects, house.base.records, which)
    if row["featured"] is not featured:
        await house.base.records.change(PROJECT, SYSTEM, row["id"], {"featured": featured})
    return row, row["featured"] is not featured


def _say_state(as_json: bool, row: ProjectPage, state: str, changed: bool) -> None:
    done = {"id": row["id"], "short_name": row["short_name"], "changed": changed}
    say(as_json, done, f"{row['short_name']} is {state}{' now' if changed else ' already'}.")


async def _transfer(house: House, which: str, person: str, keep: bool) -> dict[str, object]:
    row, to = (
        await found(house[ProjectsFeature].projects, house.base.records, which),
        await account(house[AccountsFeature].accounts, person),
    )
    if to["restrict"]:
        raise ConflictError(f"{to['name']} is blocked and cannot own projects.")
    owner = await house[ProjectsFeature].ownership.transfer(row, to["email_addr"], keep, SYSTEM)
    return {"id": row["id"], "short_name": row["short_name"], "owner": owner}


async def _delete(house: House, which: str) -> ProjectPage:
    row = await found(house[ProjectsFeature].projects, house.base.records, which)
    await house.base.records.delete(PROJECT, SYSTEM, row["id"])
    return row


_LIST = (
    "id", "short_name", "name", "owner", "published", "featured",
    "n_tasks", "n_completed_tasks", "n_task_runs", "n_volunteers", "overall_progress", "last_activity_raw",
)  # fmt: skip
_SHOW = (
    *_LIST, "description", "created", "updated", "owner_id", "owners_ids", "category_id", "n_results", "n_blogposts",
    "allow_anonymous_contributors", "zip_download", "webhook",
)  # fmt: skip
_PAGE = 100  # rows of a list at most


@attrs.frozen
class Chosen:
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
@gathered("chosen", Chosen)
def list_projects(config: Path | None, chosen: Chosen, as_json: bool) -> None:
    """List the projects by id, including drafts."""
    listing(as_json, with_domain(config, lambda house: _list(house, chosen)), _LIST)


@click.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def show(config: Path | None, which: str, as_json: bool) -> None:
    """Show the owner and progress of a project, and what is missing before it can be published."""
    details(as_json, with_domain(config, lambda house: _show(house, which)))


async def _list(house: House, chosen: Chosen) -> list[Values]:
    """Page by page: a list of the API has a hundred rows at most."""
    wanted: dict[str, object] = {**given(published=chosen.published, featured=chosen.featured)}
    if chosen.owner is not None:
        wanted["owner_id"] = (await account(house[AccountsFeature].accounts, chosen.owner))["id"]
    if chosen.category_name is not None:
        wanted["category_id"] = (await category(house[ProjectsFeature].project_lists, chosen.category_name))["id"]
    limit = chosen.limit
    rows: list[Values] = []
    while len(rows) < limit:
        last_id = rows[-1]["id"] if rows else chosen.after
        query = Query(PROJECT, equal(PROJECT, **wanted), limit=min(_PAGE, limit - len(rows)), last_id=last_id)
        more = await house.base.records.list(query, SYSTEM)
        if not more:
            break
        rows += more
    return rows


async def _show(house: House, which: str) -> dict[str, object]:
    row = await found(house[ProjectsFeature].projects, house.base.records, which)
    view = await house.base.records.get(PROJECT, SYSTEM, row["id"])
    ready = await house[ProjectsFeature].projects.readiness(row)
    lacks = [name for name, is_present in (("presenter", ready.presenter), ("tasks", ready.tasks)) if not is_present]
    address = f"{house.base.settings.base_url}/project/{row['short_name']}/"
    more = {"paused": not row["published"] and row["first_published"] is not None, "locked": row["lock_id"] is not None}
    return {**{name: view[name] for name in _SHOW}, **more, "lacks": lacks, "url": address}


@click.group(cls=Group)
def project() -> None:
    """Manage projects: load, export, publish, pause, feature, transfer and delete them.

    PROJECT is an id or a short name.
    """


for command in (list_projects, show, publish, pause, feature, transfer, delete):
    project.add_command(command)
