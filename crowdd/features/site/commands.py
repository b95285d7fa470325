"""``crowdctl site``, ``announcement`` and ``category``: settings, invitations, announcements and categories."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import console, json_option, listing, print_json, say
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.feature import House
from crowdd.core.records.listing_statements import Query
from crowdd.core.site import TEXTS
from crowdd.core.uploads import MAX_BYTES, Upload
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.lookups import category as found
from crowdd.features.projects.lookups import given, known
from crowdd.features.projects.project_validation import slug
from crowdd.features.site.feature import SiteFeature
from crowdd.features.site.site_administration import SETTINGS
from crowdd.kernel.errors import ConflictError, CrowddError, FormError
from crowdd.kernel.languages import NAMES, SOURCE
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Json
from crowdd.kinds.announcement import ANNOUNCEMENT
from crowdd.kinds.category import CATEGORY


@click.group(cls=Group)
def site() -> None:
    """Manage the site settings that administrators can also change on the site.

    They take precedence over crowdd.conf.
    """


@site.command()
@json_option
@click.pass_obj
def show(config: Path | None, as_json: bool) -> None:
    """Show the settings, with the default where nothing is set."""
    site_settings = with_domain(config, _settings)
    if as_json:
        print_json(site_settings)
        return
    for name, value in site_settings.items():
        console().print(f"{name} = {'' if value is None else value}", markup=False, highlight=False, soft_wrap=True)


@site.command("set")
@click.argument("name", type=click.Choice([*SETTINGS, "logo", *TEXTS]), metavar="NAME")
@click.argument("value", required=False)
@click.option("--file", "path", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Read the value.")
@click.option("--language", type=click.Choice([*NAMES]), default=SOURCE, show_default=True, help="Language of a text.")
@json_option
@click.pass_obj
def set_(config: Path | None, name: str, value: str | None, path: Path | None, language: str, as_json: bool) -> None:
    """Set NAME to VALUE, or to the content of a file. An empty VALUE restores the default.

    NAME is a setting that `crowdctl site show` lists, a text (headline, intro, about, terms, privacy), or logo.
    """
    if (value is None) == (path is None):
        raise click.UsageError("Give a value or --file, not both.")
    if name == "logo" and value:
        raise click.UsageError('Give the picture with --file, or "" to remove the logo.')
    content = path.read_bytes() if path else None
    if name == "logo":
        changed = with_domain(config, lambda house: _set_logo(house, content))
    else:
        key = f"{name}.{language}" if name in TEXTS else name
        text = value if content is None else content.decode("utf-8", "replace")
        changed = with_domain(config, lambda house: _change_setting(house, key, text or ""))
    say(as_json, {"name": name, "changed": changed}, f"{name} is set." if changed else f"{name} is unchanged.")


@site.command()
@click.option("--note", default="", help="Who the invitation is for. Only administrators see this.")
@click.option("--days", default=14, show_default=True, help="Days until the invitation expires.")
@click.option("--email", default="", help="Also send the link to this address.")
@click.option("--language", default=SOURCE, show_default=True, help="Language of the e-mail.")
@json_option
@click.pass_obj
def invite(config: Path | None, note: str, days: int, email: str, language: str, as_json: bool) -> None:
    """Create an invitation: a link with which one person can sign up."""
    link = with_domain(config, lambda house: _invite(house, note, days, email, language))
    say(as_json, {"link": link}, link)


async def _settings(house: House) -> dict[str, Json]:
    row, usual = house.base.site.row, attrs.asdict(house.base.site.usual)
    site_settings: dict[str, Json] = {name: getattr(row, name) for name in (*SETTINGS, "logo")}
    for name, value in usual.items():
        site_settings[name] = value if site_settings[name] is None else site_settings[name]
    texts = {name: written for name, written in row.texts.items() if isinstance(written, dict)}
    return site_settings | {
        f"{name}.{language}": text for name, each in texts.items() for language, text in each.items()
    }


async def _change_setting(house: House, key: str, text: str) -> bool:
    try:
        return await house[SiteFeature].site_administration.change(SYSTEM, {key: text})
    except FormError as error:
        raise _refused(error) from None


async def _set_logo(house: House, content: bytes | None) -> bool:
    if content is not None and len(content) > MAX_BYTES:
        raise CrowddError(f"The picture is larger than {MAX_BYTES:,} bytes.")
    try:
        await house[SiteFeature].site_administration.set_logo(
            SYSTEM, Upload("logo", content) if content is not None else None
        )
    except FormError as error:
        raise _refused(error) from None
    return True


async def _invite(house: House, note: str, days: int, email: str, language: str) -> str:
    try:
        key = await house[AccountsFeature].invitations.make(SYSTEM, note, days, email, language)
    except FormError as error:
        raise _refused(error) from None
    return f"{house.base.settings.base_url}/account/register?invitation={key}"


def _refused(error: FormError) -> CrowddError:
    return CrowddError(" ".join(sentence for each in error.errors.values() for sentence in each))


_ANNOUNCEMENT_COLUMNS = ("id", "created", "updated", "published", "title")


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
    listing(as_json, with_domain(config, lambda house: house.base.records.list(newest, SYSTEM)), _ANNOUNCEMENT_COLUMNS)


@announcement.command("add")
@click.option("--title", required=True, help="Title.")
@click.option("--body", required=True, help="Text, in Markdown.")
@click.option("--media-url", help="Address of a picture.")
@click.option("--draft", is_flag=True, help="Create a draft that only administrators see.")
@json_option
@click.pass_obj
def add_announcement(config: Path | None, /, draft: bool, as_json: bool, **fields: str | None) -> None:
    """Add an announcement. Everyone sees it at once unless it is a draft."""
    body = {**given(**fields), "published": not draft}
    made = with_domain(config, lambda house: house.base.records.create(ANNOUNCEMENT, SYSTEM, body))
    say(as_json, made, f"Added announcement {made['id']}, {_state(made)}.")


@announcement.command("edit")
@click.argument("number", metavar="ID", type=int)
@click.option("--title", help="New title.")
@click.option("--body", help="New text, in Markdown.")
@click.option("--media-url", help="Address of the new picture.")
@click.option("--draft", is_flag=True, help="Unpublish it: only administrators see it.")
@json_option
@click.pass_obj
def edit_announcement(config: Path | None, /, number: int, draft: bool, as_json: bool, **fields: str | None) -> None:
    """Change an announcement. Options that you leave out stay unchanged."""
    changes = {**given(**fields), **({"published": False} if draft else {})}
    if not changes:
        raise click.UsageError("Choose what to change: --title, --body, --media-url or --draft.")
    changed = with_domain(config, lambda house: _change_announcement(house, number, changes))
    say(as_json, changed, f"Changed announcement {number}, {_state(changed)}.")


@announcement.command()
@click.argument("number", metavar="ID", type=int)
@json_option
@click.pass_obj
def publish(config: Path | None, number: int, as_json: bool) -> None:
    """Publish an announcement."""
    changed = with_domain(config, lambda house: _change_announcement(house, number, {"published": True}))
    say(as_json, changed, f"Announcement {number} is {_state(changed)}.")


@announcement.command("remove")
@click.argument("number", metavar="ID", type=int)
@yes_option
@json_option
@click.pass_obj
def remove_announcement(config: Path | None, number: int, yes: bool, as_json: bool) -> None:
    """Remove an announcement."""
    confirm(yes, f"Announcement {number} will be removed.")
    with_domain(config, lambda house: _remove_announcement(house, number))
    say(as_json, {"id": number}, f"Removed announcement {number}.")


def _state(row: dict[str, object]) -> str:
    return "published" if row["published"] else "a draft"


async def _change_announcement(house: House, number: int, changes: dict[str, object]) -> dict[str, object]:
    return await known(house.base.records.change(ANNOUNCEMENT, SYSTEM, number, changes), f"Announcement {number}")


async def _remove_announcement(house: House, number: int) -> None:
    await known(house.base.records.delete(ANNOUNCEMENT, SYSTEM, number), f"Announcement {number}")


_CATEGORY_COLUMNS = ("id", "short_name", "name", "description", "n_projects")


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
    listing(
        as_json,
        with_domain(config, lambda house: house[SiteFeature].administration.categories(SYSTEM)),
        _CATEGORY_COLUMNS,
    )


@category.command("add")
@click.option("--name", required=True, help="Name.")
@click.option("--short-name", help="Name used in addresses (default: made from the name).")
@click.option("--description", default="", help="Description in one sentence.")
@json_option
@click.pass_obj
def add_category(config: Path | None, name: str, short_name: str | None, description: str, as_json: bool) -> None:
    """Add a category."""
    body = {"name": name, "short_name": short_name or slug(name, "category"), "description": description}
    made = with_domain(config, lambda house: house.base.records.create(CATEGORY, SYSTEM, body))
    say(as_json, made, f"Added {made['short_name']}, id {made['id']}.")


@category.command("edit")
@click.argument("which", metavar="CATEGORY")
@click.option("--name", help="New name.")
@click.option("--short-name", help="New short name. Addresses with the old one stop working.")
@click.option("--description", help="New description in one sentence.")
@json_option
@click.pass_obj
def edit_category(config: Path | None, /, which: str, as_json: bool, **fields: str | None) -> None:
    """Change a category. Options that you leave out stay unchanged."""
    changes = given(**fields)
    if not changes:
        raise click.UsageError("Choose what to change: --name, --short-name or --description.")

    async def work(house: House) -> dict[str, object]:
        return await house.base.records.change(
            CATEGORY, SYSTEM, (await found(house[ProjectsFeature].project_lists, which))["id"], changes
        )

    changed = with_domain(config, work)
    say(as_json, changed, f"Changed {changed['short_name']}.")


@category.command("remove")
@click.argument("which", metavar="CATEGORY")
@yes_option
@json_option
@click.pass_obj
def remove_category(config: Path | None, which: str, yes: bool, as_json: bool) -> None:
    """Remove a category without projects. The last category cannot be removed."""
    confirm(yes, f"The category {which} will be removed.")
    row = with_domain(config, lambda house: _remove_category(house, which))
    say(as_json, row, f"Removed {row['short_name']}.")


async def _remove_category(house: House, which: str) -> dict[str, object]:
    row = await found(house[ProjectsFeature].project_lists, which)
    try:
        await house.base.records.delete(CATEGORY, SYSTEM, row["id"])
    except ConflictError as error:
        if error.constraint:
            raise ConflictError(f"The category {row['short_name']} still has projects. Move them first.") from None
        raise
    return {"id": row["id"], "short_name": row["short_name"]}
