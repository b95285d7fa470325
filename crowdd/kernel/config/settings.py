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
from crowdd.kernel.config.server import (
    DaemonSettings,
    HttpSettings,
    LogSettings,
    MapSettings,
    MetricsSettings,
    SiteSettings,
)
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
    maps: MapSettings = attrs.Factory(MapSettings)
    site: SiteSettings = attrs.Factory(SiteSettings)

    @property
    def confirms_email(self) -> bool:
        """Whether new accounts must be confirmed by e-mail."""
        chosen = self.accounts.confirm_email
        return chosen == "on" or (chosen == "auto" and bool(self.mail.host))

    @property
    def map_path(self) -> Path | None:
        """The file of the map that the site offers; None without."""
        return self.data.dir / self.maps.file if self.maps.file else None

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
        named = (getattr(getattr(self, section), option) for section, option, _, _ in options() if is_secret(option))
        in_dsns = _DSN_PASSWORD.findall(f"{self.db.dsn} {self.db.migrate_dsn} {self.backups.dsn}")
        return [text for text in (*in_dsns, *named) if text and isinstance(text, str)]


_DSN_PASSWORD = re.compile(r"(?:\bpassword\s*=\s*'?|://[^/@:]*:)([^\s'@]+)")
_IN_DSN = re.compile(r"(password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|\S+)|(://[^:/@\s]*:)[^@\s]*(?=@)")
HIDDEN = "***"
_SECRET = re.compile(r"(^|_)(password|secret|secret_key|token)$")


def public_dsn(dsn: str) -> str:
    """A connection string without its passwords."""
    return _IN_DSN.sub(lambda match: f"{match[1] or match[2]}{HIDDEN}", dsn)


def is_secret(option: str) -> bool:
    """Whether a setting of this name must not be shown."""
    return bool(_SECRET.search(option))


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
    """The settings of a file and of ``conf.d`` beside it (None: only defaults) with the environment on top.

    Raises ConfigError that names the setting and says what it wants.
    """
    options = _options(path, os.environ if environ is None else environ)
    sections = {name: _section(name, cls, options) for name, cls in SECTIONS.items()}
    return Settings(**sections)


def origins(path: str | Path | None, environ: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Where each setting that is not left to its default stands, by section and option. Raises ConfigError."""
    return {key: place for key, (_, place) in _options(path, environ).items()}


def list_files(path: str | Path) -> list[Path]:
    """The files of a configuration, in the order in which they are read: a later one overrides an earlier one."""
    return [Path(path), *sorted((Path(path).parent / "conf.d").glob("*.conf"))]


def _options(path: str | Path | None, environ: Mapping[str, str]) -> dict[tuple[str, str], tuple[str, str]]:
    """The text of each setting and where it stands, by section and option."""
    options: dict[tuple[str, str], tuple[str, str]] = {}
    for file in list_files(path) if path else ():
        options |= _file(file)
    return options | _environment(environ)


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
        if not name.startswith("CROWDD_") or section not in SECTIONS:
            continue
        names = attrs.fields_dict(SECTIONS[section])
        if option not in names and (stem := option.removesuffix("_file")) in names:
            option, text = stem, _first_line(text, name)
        _known(section, option, name)
        options[section, option] = (text, name)
    return options


def _first_line(path: str, variable: str) -> str:
    """The value in a file that a variable names, such as a secret of a container."""
    try:
        return (Path(path).read_text("utf-8").splitlines() or [""])[0]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"{variable}: cannot read {path}: {reason}.") from None


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


def parse(section: str, option: str, text: str, place: str = "") -> Any:
    """The value that a text means. ``place`` is where it stands. Raises ConfigError that says what is wanted."""
    place = place or f"[{section}] {option}"
    _known(section, option, place)
    accept = attrs.fields_dict(SECTIONS[section])[option].metadata["parse"]
    try:
        return accept(text.strip())
    except (ValueError, KeyError):
        raise ConfigError(f"{place}: must be {accept.__doc__} (got {text!r}).") from None


def _section(name: str, cls: type, options: Mapping[tuple[str, str], tuple[str, str]]) -> Any:
    values = {}
    for a in attrs.fields(cls):
        if (name, a.name) in options:
            text, place = options[name, a.name]
            values[a.name] = parse(name, a.name, text, place)
    return cls(**values)
