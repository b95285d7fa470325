"""``crowdctl template``: templates of projects."""

from __future__ import annotations

from pathlib import Path

import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, say
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.services import Services
from crowdd.errors import NotFoundError
from crowdd.kinds.questions.text_languages import text_in
from crowdd.requester import SYSTEM
from crowdd.values import Values

_COLUMNS = ("name", "title", "group", "owner", "shipped", "hidden", "offered")


@click.group(cls=Group)
def template() -> None:
    """Manage project templates.

    TEMPLATE is a name from the list.
    """


@template.command("list")
@json_option
@click.pass_obj
def list_templates(config: Path | None, as_json: bool) -> None:
    """List the templates: those of owners, of the site, and those that come with crowdd."""
    listing(as_json, with_domain(config, _list), _COLUMNS)


@template.command()
@click.argument("directory", type=click.Path(exists=True, path_type=Path))
@json_option
@click.pass_obj
def add(config: Path | None, directory: Path, as_json: bool) -> None:
    """Add a template of the site from the project folder DIRECTORY, or from a zip archive of one.

    The folder contains project.json with info.questions, tasks.ndjson or tasks.csv with sample tasks, the files that
    they name, and template.json (group, title, description, keywords).
    """
    made = with_domain(config, lambda services: _add(services, directory))
    say(as_json, made, f"Added {made['title']} as {made['name']}.")


@template.command()
@click.argument("which", metavar="TEMPLATE")
@yes_option
@json_option
@click.pass_obj
def remove(config: Path | None, which: str, yes: bool, as_json: bool) -> None:
    """Delete a template, or hide one that comes with crowdd. Projects made from it stay as they are."""
    confirm(yes, f"The template {which} will be removed.")
    with_domain(config, lambda services: _remove(services, which))
    say(as_json, {"name": which}, f"{which} is removed.")


async def _list(services: Services) -> list[Values]:
    templates = await services.gallery.all(SYSTEM)
    return [
        {
            "name": each.name, "title": text_in(each.card.title, "en"), "group": each.card.group, "owner": each.owner,
            "shipped": each.shipped, "hidden": each.hidden, "offered": each.offered,
        }
        for each in templates
    ]  # fmt: skip


async def _add(services: Services, path: Path) -> Values:
    maker = services.template_maker
    new = await (maker.of_folder(path) if path.is_dir() else maker.of_archive(path))
    name = await services.gallery.add(SYSTEM, new, of_site=True)
    return {"name": name, "title": text_in(new.card.title, "en")}


async def _remove(services: Services, name: str) -> None:
    try:
        await services.gallery.remove(SYSTEM, name)
    except NotFoundError:
        raise NotFoundError(f"Template {name} does not exist.") from None
