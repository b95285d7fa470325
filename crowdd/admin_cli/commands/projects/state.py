"""``crowdctl project publish``, ``pause``, ``feature``, ``transfer`` and ``delete``."""

from __future__ import annotations

from pathlib import Path

import click

from crowdd.admin_cli.lookups import account
from crowdd.admin_cli.lookups import project as found
from crowdd.admin_cli.output import json_option, say
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.services import Services
from crowdd.errors import ConflictError
from crowdd.kinds.project import PROJECT
from crowdd.requester import SYSTEM
from crowdd.storage.projects.rows import ProjectPage


@click.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def publish(config: Path | None, which: str, as_json: bool) -> None:
    """Publish a project. Trial answers are deleted the first time."""
    row, changed = with_domain(config, lambda services: _opened(services, which))
    _say_state(as_json, row, "published", changed)


@click.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def pause(config: Path | None, which: str, as_json: bool) -> None:
    """Pause a project. Answers in progress still count."""
    row, changed = with_domain(config, lambda services: _paused(services, which))
    _say_state(as_json, row, "not published", changed)


@click.command()
@click.argument("which", metavar="PROJECT")
@click.option("--remove", is_flag=True, help="Stop featuring the project.")
@json_option
@click.pass_obj
def feature(config: Path | None, which: str, remove: bool, as_json: bool) -> None:
    """Feature a project: show it first in the list of projects."""
    row, changed = with_domain(config, lambda services: _featured(services, which, not remove))
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
    done = with_domain(config, lambda services: _transfer(services, which, person, keep_owners))
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
    row = with_domain(config, lambda services: _delete(services, which))
    say(as_json, {"id": row["id"], "short_name": row["short_name"]}, f"{row['short_name']} is deleted.")


async def _opened(services: Services, which: str) -> tuple[ProjectPage, bool]:
    row = await found(services.projects, services.records, which)
    return row, await services.projects.publish(row, SYSTEM)


async def _paused(services: Services, which: str) -> tuple[ProjectPage, bool]:
    row = await found(services.projects, services.records, which)
    return row, await services.projects.pause(row, SYSTEM)


async def _featured(services: Services, which: str, featured: bool) -> tuple[ProjectPage, bool]:
    row = await found(services.projects, services.records, which)
    if row["featured"] is not featured:
        await services.records.change(PROJECT, SYSTEM, row["id"], {"featured": featured})
    return row, row["featured"] is not featured


def _say_state(as_json: bool, row: ProjectPage, state: str, changed: bool) -> None:
    done = {"id": row["id"], "short_name": row["short_name"], "changed": changed}
    say(as_json, done, f"{row['short_name']} is {state}{' now' if changed else ' already'}.")


async def _transfer(services: Services, which: str, person: str, keep: bool) -> dict[str, object]:
    row, to = await found(services.projects, services.records, which), await account(services.accounts, person)
    if to["restrict"]:
        raise ConflictError(f"{to['name']} is blocked and cannot own projects.")
    owner = await services.ownership.transfer(row, to["email_addr"], keep, SYSTEM)
    return {"id": row["id"], "short_name": row["short_name"], "owner": owner}


async def _delete(services: Services, which: str) -> ProjectPage:
    row = await found(services.projects, services.records, which)
    await services.records.delete(PROJECT, SYSTEM, row["id"])
    return row
