"""All settings of one server."""

from __future__ import annotations

import re

import attrs

from crowdd.config.accounts import (
    AccountSettings,
    CommentingSettings,
    ExternalSettings,
    HistorySettings,
    RetentionSettings,
    SignInSettings,
    VolunteerSettings,
)
from crowdd.config.data import BackupSettings, DataSettings, DbSettings, QueueSettings
from crowdd.config.limits import ExportSettings, LiveSettings, QuotaSettings, RateLimitSettings
from crowdd.config.media import MediaSettings, UploadSettings
from crowdd.config.outbound import MailSettings, OutgoingSettings, WebhookSettings
from crowdd.config.server import DaemonSettings, HttpSettings, LogSettings, MetricsSettings
from crowdd.config.site import SiteSettings


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
