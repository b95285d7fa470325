"""Reads settings from a file and the environment, and checks them."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from crowdd.config.settings import SECTIONS, Settings
from crowdd.errors import ConfigError

# Former names of settings. An error names the new one.
FORMER = {
    ("http", "most_body_bytes"): "max_body_bytes",
    ("http", "most_import_bytes"): "max_import_bytes",
    ("log", "most_bytes"): "max_bytes",
    ("log", "keep"): "backup_count",
    ("db", "most_waiting"): "max_queue",
    ("db", "wait_seconds"): "pool_timeout",
    ("db", "statement_seconds"): "statement_timeout",
    ("data", "least_free_bytes"): "min_free_bytes",
    ("ratelimit", "room"): "shared_address_factor",
    ("accounts", "shortest_password"): "min_password_length",
    ("accounts", "attempts"): "max_login_failures",
    ("webhooks", "answer_seconds"): "timeout",
    ("http", "connections"): "max_connections",
    ("http", "drain_seconds"): "shutdown_timeout",
    ("exports", "at_once"): "max_downloads",
    ("exports", "per_network"): "max_downloads_per_network",
    ("live", "connections"): "max_streams",
    ("live", "per_address"): "max_streams_per_address",
    ("live", "stalled_seconds"): "stalled_timeout",
}

# Settings of what was withdrawn. An error says what to do.
WITHDRAWN = {
    ("db", "shards"): (
        "All projects live on the database of [db] dsn. Move those on other databases there with the crowdd that you "
        "used before (crowdctl shards move), then remove the setting."
    ),
}


def load(path: str | Path | None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of a file (None: only defaults) with the environment on top.

    Raises ConfigError that names the setting and says what it wants.
    """
    environ = os.environ if environ is None else environ
    options = _file(Path(path)) if path else {}
    options |= _environment(environ)
    sections = {name: _section(name, cls, options) for name, cls in SECTIONS.items()}
    return Settings(**sections)


def origins(path: str | Path | None, environ: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Where each setting that is not left to its default stands, by section and option. Raises ConfigError."""
    options = (_file(Path(path)) if path else {}) | _environment(environ)
    return {key: place for key, (_, place) in options.items()}


def _file(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=None)
    try:
        with path.open(encoding="utf-8") as lines:
            parser.read_file(lines)
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {path}: {error.strerror}.") from None
    except (configparser.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"The configuration {path} cannot be parsed: {str(error).splitlines()[0]}") from None
    options = {}
    for section in parser.sections():
        for option, text in parser.items(section):
            _known(section, option, f"{path}: [{section}] {option}")
            options[section, option] = (text, f"{path}: [{section}] {option}")
    return options


def _environment(environ: Mapping[str, str]) -> dict[tuple[str, str], tuple[str, str]]:
    options = {}
    for name, text in environ.items():
        section, _, option = name.removeprefix("CROWDD_").lower().partition("_")
        if name.startswith("CROWDD_") and section in SECTIONS:
            _known(section, option, name)
            options[section, option] = (text, name)
    return options


def _known(section: str, option: str, place: str) -> None:
    if section not in SECTIONS:
        raise ConfigError(f"{place}: unknown section [{section}]. Known sections: {', '.join(SECTIONS)}.")
    names = [a.name for a in attrs.fields(SECTIONS[section])]
    if (section, option) in FORMER:
        raise ConfigError(f"{place}: this setting was renamed to {FORMER[section, option]}.")
    if (section, option) in WITHDRAWN:
        raise ConfigError(f"{place}: this setting was withdrawn. {WITHDRAWN[section, option]}")
    if option not in names:
        raise ConfigError(f"{place}: unknown setting. Settings of [{section}]: {', '.join(names)}.")


def _section(name: str, cls: type, options: Mapping[tuple[str, str], tuple[str, str]]) -> Any:
    values = {}
    for a in attrs.fields(cls):
        if (name, a.name) not in options:
            continue
        text, place = options[name, a.name]
        parse = a.metadata["parse"]
        try:
            values[a.name] = parse(text.strip())
        except (ValueError, KeyError):
            wanted = parse.__doc__
            raise ConfigError(f"{place}: must be {wanted} (got {text!r}).") from None
    return cls(**values)
