"""``crowdctl config``: the settings, and whether they can work."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import attrs
import click

from crowdd import config as settings_of
from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, report
from crowdd.config import SECTIONS, load
from crowdd.domain.core.package_data import shipped
from crowdd.domain.server.doctor_rules import of_settings

_COLUMNS = ("setting", "value", "from")
_SECRET = re.compile(r"(^|_)(password|secret|secret_key|token)$")
_IN_DSN = re.compile(r"(password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|\S+)|(://[^:/@\s]*:)[^@\s]*(?=@)")
HIDDEN = "***"


@click.group(cls=Group)
def config() -> None:
    """Show and check the settings. No database is needed."""


@config.command()
@click.option("--all", "whole", is_flag=True, help="Also show settings that have their default value.")
@json_option
@click.pass_obj
def show(path: Path | None, whole: bool, as_json: bool) -> None:
    """Show changed settings and where each was set. Passwords and keys are hidden."""
    rows = [row for row in shown(path) if whole or row["from"] != "default"]
    if not rows and not as_json:
        click.echo("All settings have their default values. To list them: crowdctl config show --all")
        return
    listing(as_json, rows, _COLUMNS)


@config.command("check")
@json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Check the settings without starting anything. Exits with 1 if there is a problem."""
    findings = of_settings(load(ctx.obj))
    ctx.exit(report(as_json, findings, "The settings are valid."))


@config.command()
@click.option("--set", "chosen", multiple=True, metavar="SECTION.OPTION=VALUE", help="A setting to include.")
def example(chosen: tuple[str, ...]) -> None:
    """Print a configuration file with every setting, its default and what it is for."""
    click.echo(with_values(shipped("etc/crowdd.conf").read_text("utf-8"), dict(map(_assigned, chosen))), nl=False)


def _assigned(words: str) -> tuple[tuple[str, str], str]:
    name, assigned, value = words.partition("=")
    section, _, option = name.partition(".")
    known = {(of, each) for of, each, _, _ in settings_of.options()}
    if not assigned or (section, option) not in known or "\n" in value:
        raise click.UsageError(f"{words!r} is not SECTION.OPTION=VALUE, as in http.port=8080.")
    return (section, option), value


def with_values(text: str, chosen: Mapping[tuple[str, str], str]) -> str:
    """The example with values in place of defaults."""
    section, lines = "", []
    for line in text.splitlines():
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section = heading[1]
        option = re.match(r"#(\w+) =", line)
        value = chosen.get((section, option[1])) if option else None
        lines.append(line if option is None or value is None else f"{option[1]} = {value}")
    return "\n".join(lines) + "\n"


def shown(path: Path | None) -> list[dict[str, object]]:
    """Every setting as (setting, value, from), without what is secret. Raises ConfigError."""
    settings, origins = load(path), settings_of.origins(path, os.environ)
    return [
        {
            "setting": f"[{section}] {field.name}",
            "value": public(field.name, getattr(getattr(settings, section), field.name)),
            "from": origins.get((section, field.name), "default"),
        }
        for section, cls in SECTIONS.items()
        for field in attrs.fields(cls)
    ]


def public(option: str, value: object) -> object:
    """The value as anybody may see it: a number, a switch, or a text without secrets."""
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    if text and _SECRET.search(option):
        return HIDDEN
    return _IN_DSN.sub(lambda match: f"{match[1] or match[2]}{HIDDEN}", text) if "dsn" in option else text
