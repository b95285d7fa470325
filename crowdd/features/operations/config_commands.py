"""``crowdctl config``: show, check and change the settings, and say where they are."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import details, json_option, listing, report, say
from crowdd.kernel import config as settings_of
from crowdd.kernel.config import SECTIONS, config_files, load, location
from crowdd.kernel.config.settings import HIDDEN, is_secret, list_files, public_dsn
from crowdd.kernel.errors import ConfigError
from crowdd.kernel.files import find_shipped
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    from crowdd.features.operations import settings_files
else:
    # With the rules come the database and the reactor, which the other commands do not need.
    settings_files = lazy("crowdd.features.operations.settings_files")

_COLUMNS = ("setting", "value", "from")
_WRITE_ONE = "Write one: crowdctl config example"
_RELOAD = "It takes effect when the server reads its configuration again (SIGHUP, systemctl reload crowdd)."
_RESTART = "It takes effect when the server is restarted (systemctl restart crowdd)."


@click.group(cls=Group)
def config() -> None:
    """Show, check and change the settings, and say where they are. No database is needed."""


@config.command()
@click.option("--all", "whole", is_flag=True, help="Also show settings that have their default value.")
@json_option
@click.pass_obj
def show(path: Path | None, whole: bool, as_json: bool) -> None:
    """Show changed settings and where each was set. Passwords and keys are hidden."""
    rows = [row for row in list_settings(path) if whole or row["from"] != "default"]
    if not rows and not as_json:
        click.echo("All settings have their default values. To list them: crowdctl config show --all")
        return
    listing(as_json, rows, _COLUMNS)


@config.command("check")
@json_option
@click.pass_context
def check_config(ctx: click.Context, as_json: bool) -> None:
    """Check the settings, and the files and folders that they name, without starting anything.

    Run it as the user who runs the server. Exits with 1 if there is a problem.
    """
    ctx.exit(report(as_json, settings_files.check_settings(load(ctx.obj), os.environ), "The settings are valid."))


@config.command()
@click.option("--set", "chosen", multiple=True, metavar="SECTION.OPTION=VALUE", help="A setting to include.")
def example(chosen: tuple[str, ...]) -> None:
    """Print a configuration file with every setting, its default and what it is for."""
    text = find_shipped("etc/crowdd.conf").read_text("utf-8")
    for section, option, value in map(_assigned, chosen):
        text = config_files.with_value(text, section, option, value)
    click.echo(text, nl=False)


def _assigned(words: str) -> tuple[str, str, str]:
    name, assigned, value = words.partition("=")
    section, _, option = name.partition(".")
    known = {(of, each) for of, each, _, _ in settings_of.options()}
    if not assigned or (section, option) not in known or "\n" in value:
        raise click.UsageError(f"{words!r} is not SECTION.OPTION=VALUE, as in http.port=8080.")
    return section, option, value


@config.command("set")
@click.argument("section")
@click.argument("key")
@click.argument("value")
@json_option
@click.pass_obj
def set_value(path: Path | None, section: str, key: str, value: str, as_json: bool) -> None:
    """Set KEY in [SECTION] of the configuration to VALUE, and leave everything else in the file as it is.

    A setting of a file in conf.d is changed there. With - as VALUE it is read from standard input, so that a password
    is not seen in the list of processes.
    """
    if path is None:
        raise ConfigError("There is no configuration to change.", hint=f"{_WRITE_ONE} > {location.SYSTEM_CONFIG}")
    section, key = section.strip("[]"), key.lower()
    value = sys.stdin.readline().rstrip("\r\n") if value == "-" else value
    if "\n" in value:
        raise click.UsageError("VALUE must be one line.")
    settings_of.parse(section, key, value)
    before = settings_of.origins(path, {})
    file = next((each for each in list_files(path) if before.get((section, key), "").startswith(f"{each}: ")), path)
    config_files.replace_text(file, config_files.with_value(file.read_text("utf-8"), section, key, value))
    fixed = attrs.fields_dict(SECTIONS[section])[key].metadata["fixed"]
    lines = [f"Set [{section}] {key} in {file}. {_RESTART if fixed else _RELOAD}"]
    variable = settings_of.origins(path, os.environ)[section, key]
    if variable.startswith("CROWDD_"):
        lines.append(f"The variable {variable} of the environment overrides it.")
    say(as_json, {"file": str(file), "setting": f"[{section}] {key}", "restart": fixed}, *lines)


@config.command()
@json_option
@click.pass_obj
def where(path: Path | None, as_json: bool) -> None:
    """Say which configuration, which database and which data folder commands use."""
    settings = load(path)
    value = {
        "configuration": location.describe_config(path, os.environ),
        "database": location.describe_database(settings),
        "data_dir": str(settings.data.dir.absolute()),
    }
    details(as_json, value)


def list_settings(path: Path | None) -> list[dict[str, object]]:
    """Every setting as (setting, value, from), without what is secret. Raises ConfigError."""
    settings, origins = load(path), settings_of.origins(path, os.environ)
    return [
        {
            "setting": f"[{section}] {field.name}",
            "value": public_value(field.name, getattr(getattr(settings, section), field.name)),
            "from": origins.get((section, field.name), "default"),
        }
        for section, cls in SECTIONS.items()
        for field in attrs.fields(cls)
    ]


def public_value(option: str, value: object) -> object:
    """The value as anybody may see it: a number, a switch, or a text without secrets."""
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    if text and is_secret(option):
        return HIDDEN
    return public_dsn(text) if "dsn" in option else text
