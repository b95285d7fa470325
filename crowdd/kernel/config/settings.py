"""All settings of one server, read from a file and the environment, and checked."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from crowdd.kernel.config.accounts import (
    AccountSettings,
    CommentingSettings,
    ExternalSettings,
    HistorySettings,
    RetentionSettings,
    SignInSettings,
    VolunteerSettings,
)
from crowdd.kernel.config.data import (
    BackupSettings,
    DataSettings,
    DbSettings,
    MediaSettings,
    QueueSettings,
    UploadSettings,
)
from crowdd.kernel.config.limits import ExportSettings, LiveSettings, QuotaSettings, RateLimitSettings
from crowdd.kernel.config.outbound import MailSettings, OutgoingSettings, WebhookSettings
from crowdd.kernel.config.server import DaemonSettings, HttpSettings, LogSettings, MetricsSettings, SiteSettings
from crowdd.kernel.errors import ConfigError


@attrs.frozen
class Settings:
    """All settings of one server."""

    http: HttpSettings = attrs.Factory(HttpSettings)
    daemon: DaemonSettings = attrs.Factory(DaemonSettings)
    log: LogSettings = attrs.Factory(LogSettings)
    metrics: MetricsSettings = attrs.Factory(MetricsSettings)
    db: DbSettings = attrs.Factory(DbSettings)
    data: DataSettings = attrs.Factory(DataSettings)
    backups: BackupSettings = attrs.Factory(BackupSettings)
    queue: QueueSettings = attrs.Factory(QueueSettings)
    ratelimit: RateLimitSettings = attrs.Factory(RateLimitSettings)
    exports: ExportSettings = attrs.Factory(ExportSettings)
    quota: QuotaSettings = attrs.Factory(QuotaSettings)
    media: MediaSettings = attrs.Factory(MediaSettings)
    uploads: UploadSettings = attrs.Factory(UploadSettings)
    live: LiveSettings = attrs.Factory(LiveSettings)
    volunteers: VolunteerSettings = attrs.Factory(VolunteerSettings)
    accounts: AccountSettings = attrs.Factory(AccountSettings)
    signin: SignInSettings = attrs.Factory(SignInSettings)
    external: ExternalSettings = attrs.Factory(ExternalSettings)
    retention: RetentionSettings = attrs.Factory(RetentionSettings)
    history: HistorySettings = attrs.Factory(HistorySettings)
    commenting: CommentingSettings = attrs.Factory(CommentingSettings)
    outgoing: OutgoingSettings = attrs.Factory(OutgoingSettings)
    webhooks: WebhookSettings = attrs.Factory(WebhookSettings)
    mail: MailSettings = attrs.Factory(MailSettings)
    site: SiteSettings = attrs.Factory(SiteSettings)

    @property
    def confirms_email(self) -> bool:
        """Whether new accounts must be confirmed by e-mail."""
        chosen = self.accounts.confirm_email
        return chosen == "on" or (chosen == "auto" and bool(self.mail.host))

    @property
    def base_url(self) -> str:
        """The public address without a final slash."""
        scheme = "https" if self.http.tls_certificate else "http"
        return (self.http.base_url or f"{scheme}://{self.http.host}:{self.http.port}").rstrip("/")

    def with_fixed_of(self, before: Settings) -> tuple[Settings, list[str]]:
        """These settings, but what is fixed as it was before; and the names of those that would have changed."""
        ignored_changes, sections = [], {}
        for section in attrs.fields(Settings):
            now, then = getattr(self, section.name), getattr(before, section.name)
            fixed = [a.name for a in attrs.fields(type(now)) if a.metadata["fixed"]]
            ignored_changes += [
                f"[{section.name}] {name}" for name in fixed if getattr(now, name) != getattr(then, name)
            ]
            sections[section.name] = attrs.evolve(now, **{name: getattr(then, name) for name in fixed})
        return Settings(**sections), ignored_changes

    def secrets(self) -> list[str]:
        """What must not stand in a log: every password, token and key that was configured."""
        named = (getattr(getattr(self, section), option) for section, option, _, _ in options() if _is_secret(option))
        in_dsns = _DSN_PASSWORD.findall(f"{self.db.dsn} {self.db.migrate_dsn} {self.backups.dsn}")
        return [text for text in (*in_dsns, *named) if text and isinstance(text, str)]


_DSN_PASSWORD = re.compile(r"(?:\bpassword\s*=\s*'?|://[^/@:]*:)([^\s'@]+)")


def _is_secret(option: str) -> bool:
    return option.endswith(("password", "secret", "secret_key", "token"))


SECTIONS: dict[str, type] = {name: type(section) for name, section in attrs.asdict(Settings(), recurse=False).items()}


def options() -> list[tuple[str, str, str, object]]:
    """Every setting as (section, option, documentation, default)."""
    return [(s, a.name, a.metadata["doc"], a.default) for s, cls in SECTIONS.items() for a in attrs.fields(cls)]


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
