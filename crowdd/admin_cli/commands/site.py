"""``crowdctl site``: settings of the site, and invitations to sign up."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import console, json_option, print_json, say
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.core.site import TEXTS
from crowdd.domain.core.uploads import MAX_BYTES, Upload
from crowdd.domain.server.services import Services
from crowdd.domain.server.site_administration import SETTINGS
from crowdd.errors import CrowddError, FormError
from crowdd.languages import NAMES, SOURCE
from crowdd.requester import SYSTEM
from crowdd.values import Json


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
        changed = with_domain(config, lambda services: _set_logo(services, content))
    else:
        key = f"{name}.{language}" if name in TEXTS else name
        text = value if content is None else content.decode("utf-8", "replace")
        changed = with_domain(config, lambda services: _change(services, key, text or ""))
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
    link = with_domain(config, lambda services: _invite(services, note, days, email, language))
    say(as_json, {"link": link}, link)


async def _settings(services: Services) -> dict[str, Json]:
    row, usual = services.site.row, attrs.asdict(services.site.usual)
    site_settings: dict[str, Json] = {name: getattr(row, name) for name in (*SETTINGS, "logo")}
    for name, value in usual.items():
        site_settings[name] = value if site_settings[name] is None else site_settings[name]
    texts = {name: written for name, written in row.texts.items() if isinstance(written, dict)}
    return site_settings | {
        f"{name}.{language}": text for name, each in texts.items() for language, text in each.items()
    }


async def _change(services: Services, key: str, text: str) -> bool:
    try:
        return await services.site_administration.change(SYSTEM, {key: text})
    except FormError as error:
        raise _refused(error) from None


async def _set_logo(services: Services, content: bytes | None) -> bool:
    if content is not None and len(content) > MAX_BYTES:
        raise CrowddError(f"The picture is larger than {MAX_BYTES:,} bytes.")
    try:
        await services.site_administration.set_logo(SYSTEM, Upload("logo", content) if content is not None else None)
    except FormError as error:
        raise _refused(error) from None
    return True


async def _invite(services: Services, note: str, days: int, email: str, language: str) -> str:
    try:
        key = await services.invitations.make(SYSTEM, note, days, email, language)
    except FormError as error:
        raise _refused(error) from None
    return f"{services.settings.base_url}/account/register?invitation={key}"


def _refused(error: FormError) -> CrowddError:
    return CrowddError(" ".join(sentence for each in error.errors.values() for sentence in each))
