"""Settings that cannot work, have no effect or are dangerous: each alone, and those that contradict each other."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import attrs

from crowdd.core.findings import Finding
from crowdd.database.connector import read_dsn, require_primary
from crowdd.features.accounts import validation
from crowdd.features.media.stores import require_s3_settings
from crowdd.kernel.config import SECTIONS, Settings, location
from crowdd.kernel.config.options import Network
from crowdd.kernel.errors import ConfigError, CrowddError

MAX_SESSIONS = 500  # of PostgreSQL, which has 100 unless it is configured
SESSIONS_BESIDE = 7  # of each process, beside [db] pool_size and [queue] workers
MAX_PROCESSES_PER_CPU = 4
MIN_TOKEN, MIN_PASSWORD = 16, 8
MAX_HEARTBEAT = 55  # proxies close what is silent for a minute
_OF_ENVIRONMENT = ("CROWDD_CONFIG", "CROWDD_BACKUP_PASSPHRASE")


def of_settings(settings: Settings) -> list[Finding]:
    """What can be said of the settings alone."""
    looks: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
        _of_addresses, _of_hosts, _of_proxies, _of_tls, _of_origins, _of_databases, _of_processes, _of_mail,
        _of_providers, _of_passwords, _of_backups, _of_media, _of_folders, _of_texts, _of_pairs,
    )  # fmt: skip
    return [finding for look in looks for finding in look(settings)]


def of_environment(environ: Mapping[str, str]) -> list[Finding]:
    """Variables that look like settings but set nothing."""
    words = {name: name.removeprefix("CROWDD_").lower().partition("_")[0] for name in environ}
    unknown = [
        name
        for name, section in words.items()
        if name.startswith("CROWDD_") and section not in SECTIONS and name not in _OF_ENVIRONMENT
    ]
    return [
        Finding(
            "environment_unknown",
            f"The variable {name} of the environment sets nothing.",
            f"Correct it. Variables are CROWDD_<SECTION>_<OPTION>, with a section of: {', '.join(SECTIONS)}.",
            wrong=False,
        )
        for name in sorted(unknown)
    ]


def _of_addresses(settings: Settings) -> Iterator[Finding]:
    where = urlsplit(settings.base_url)
    if where.scheme not in ("http", "https") or not where.hostname or where.path or where.query or "@" in where.netloc:
        yield Finding(
            "base_url",
            f"[http] base_url is {settings.base_url!r}.",
            "Set it to scheme and host, as in https://crowd.example.",
        )
    elif settings.http.cross_site_cookies and where.scheme != "https":
        yield Finding(
            "cross_site_cookies",
            "[http] cross_site_cookies needs https.",
            "Set [http] base_url to an address with https.",
        )
    everywhere = settings.http.host in ("0.0.0.0", "::", "")  # noqa: S104
    unnamed = everywhere and not settings.http.base_url
    if where.scheme == "http" and not unnamed and not _is_this_machine(where.hostname or ""):
        yield Finding(
            "not_encrypted",
            f"People reach {settings.base_url} without encryption: passwords, cookies and keys can be read on the way.",
            "Put a proxy with TLS in front or set [http] tls_certificate, and set [http] base_url to an https address.",
        )
    if unnamed:
        yield Finding(
            "base_url",
            "The server listens on every address, so links in e-mails do not work on other machines.",
            "Set [http] base_url to the address that people use.",
        )
    elif settings.mail.host and not everywhere and _is_this_machine(where.hostname or ""):
        yield Finding(
            "base_url",
            f"E-mails are sent with links to {settings.base_url}, which work on this machine only.",
            "Set [http] base_url to the address that people use.",
            wrong=False,
        )


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_host(text: str) -> bool:
    """Whether it is a name or an address, without scheme, port or path."""
    return _is_address(text) or not any(sign in text for sign in "/:@[] ")


def _of_hosts(settings: Settings) -> Iterator[Finding]:
    """Names of hosts that have a scheme, a port or a path."""
    http = settings.http
    if http.host and not _is_host(http.host):
        yield Finding(
            "http_host",
            f"[http] host is {http.host!r}, but it must be an address without scheme and port.",
            "Set it to 127.0.0.1 behind a proxy or to 0.0.0.0, and the port to [http] port.",
        )
    for name in http.allowed_hosts:
        if not _is_host(name):
            yield Finding(
                "allowed_hosts",
                f"[http] allowed_hosts has {name!r}, which no request names: visitors get 421.",
                f"Write the host name alone, as in {urlsplit(name if '//' in name else f'//{name}').hostname}.",
            )
    if not _is_host(settings.mail.host):
        yield Finding(
            "mail_host",
            f"[mail] host is {settings.mail.host!r}, so no e-mail can be sent.",
            "Set it to the name of the server alone, the port to [mail] port, and the encryption to [mail] tls.",
        )
    for target in settings.outgoing.allowed_hosts:
        if target.endswith(":*"):
            yield Finding(
                "outgoing_every_port",
                f"[outgoing] allowed_hosts has {target!r}: owners of projects can reach every service of that host.",
                "Name the port that webhooks and imports need.",
                wrong=False,
            )


def _of_proxies(settings: Settings) -> Iterator[Finding]:
    proxies = settings.http.trusted_proxies
    for network in proxies:
        if _is_vast(network):
            yield Finding(
                "trusted_proxies",
                f"[http] trusted_proxies has {network}: everybody in it can claim any address, so rate limits, bars and"
                " counts per network do not work.",
                "Name the addresses of the proxies alone, as in 127.0.0.1.",
            )
    if urlsplit(settings.base_url).scheme == "https" and not proxies and not settings.http.tls_certificate:
        yield Finding(
            "trusted_proxies",
            "People connect over https, but no proxy is trusted.",
            "If crowdd is behind a proxy, add it to [http] trusted_proxies. Otherwise all people share one rate limit.",
            wrong=False,
        )


def _is_vast(network: Network) -> bool:
    """Whether the network has addresses of strangers: it is large, and not one of private addresses."""
    return network.prefixlen < (16 if network.version == 4 else 32) and not network.is_private


def _of_tls(settings: Settings) -> Iterator[Finding]:
    http = settings.http
    if http.tls_key and not http.tls_certificate:
        yield Finding(
            "tls", "[http] tls_key is set without tls_certificate, so crowdd serves no HTTPS.", "Set both, or none."
        )
    if http.tls_certificate and http.base_url.startswith("http:"):
        yield Finding(
            "tls",
            f"[http] tls_certificate is set, so crowdd serves HTTPS only, but base_url is {http.base_url!r}.",
            "Set [http] base_url to an address with https.",
        )


def _of_origins(settings: Settings) -> Iterator[Finding]:
    http = settings.http
    for origin in http.allowed_origins:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
            yield Finding(
                "allowed_origins",
                f"[http] allowed_origins has {origin!r}, which no browser sends as an origin.",
                "Write scheme, host and port alone, as in https://app.example.org.",
            )
    if http.spa_base_url:
        parts = urlsplit(http.spa_base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            yield Finding(
                "spa_base_url",
                f"[http] spa_base_url is {http.spa_base_url!r}.",
                "Set it to an address with scheme and host, as in https://app.example.org.",
            )
    if http.cross_site_cookies and not http.allowed_origins:
        yield Finding(
            "cross_site_cookies",
            "[http] cross_site_cookies is on, but no origin may use the cookies.",
            "Name the origins of the front ends in [http] allowed_origins, or turn cross_site_cookies off.",
        )


def _of_databases(settings: Settings) -> Iterator[Finding]:
    db = settings.db
    named = {"[db] dsn": db.dsn, "[db] migrate_dsn": db.migrate_dsn, "[db] replica_dsn": db.replica_dsn}
    parsed = {}
    for name, dsn in {**named, "[backups] dsn": settings.backups.dsn}.items():
        try:
            parsed[name] = read_dsn(dsn)
        except ConfigError as error:
            yield Finding(
                "dsn",
                f"{name} is not a connection string: {error}.",
                "Write it as in: host=10.0.0.5 dbname=crowdd user=crowdd",
            )
    if len(parsed) <= len(named):
        return
    try:
        require_primary(db.dsn)
    except ConfigError as error:
        yield Finding("dsn", str(error), error.hint)
    own, owner = parsed["[db] dsn"], parsed["[db] migrate_dsn"]
    if owner and own.get("dbname") != owner.get("dbname"):
        yield Finding(
            "migrate_dsn",
            f"[db] migrate_dsn names the database {owner.get('dbname')}, and dsn the database {own.get('dbname')}.",
            "Name the same database in both.",
        )
    if owner and not own:
        yield Finding("migrate_dsn", "[db] migrate_dsn is set without dsn.", "Set [db] dsn as well.")
    if own and own == parsed["[db] replica_dsn"]:
        yield Finding(
            "replica_dsn",
            "[db] replica_dsn is the same as dsn: there is no replica.",
            "Name a streaming replica, or leave it empty.",
        )


def _of_processes(settings: Settings) -> Iterator[Finding]:
    workers, queue = settings.daemon.workers, settings.queue.workers
    sessions = workers * (settings.db.pool_size + queue + SESSIONS_BESIDE)
    processors = os.cpu_count() or 1
    if workers > MAX_PROCESSES_PER_CPU * processors:
        yield Finding(
            "workers",
            f"[daemon] workers is {workers}, but this machine has {processors} processors.",
            f"Set it to {processors} at most.",
        )
    if sessions > MAX_SESSIONS:
        yield Finding(
            "sessions",
            f"The server would open {sessions} connections to PostgreSQL: [daemon] workers ({workers}) times"
            f" [db] pool_size ({settings.db.pool_size}) + [queue] workers ({queue}) + {SESSIONS_BESIDE}. PostgreSQL"
            " accepts 100 unless max_connections says more.",
            "Lower [db] pool_size (8 is enough for hundreds of requests per second) or [daemon] workers.",
        )


def _of_mail(settings: Settings) -> Iterator[Finding]:
    mail = settings.mail
    if mail.host and validation.check_email(mail.sender):
        yield Finding(
            "mail_sender",
            "[mail] host is set, but [mail] sender is not a valid address.",
            "Set the address that e-mails come from.",
        )
    for port, fitting, wrong in ((465, "implicit", "starttls"), (587, "starttls", "implicit")):
        if mail.host and mail.port == port and mail.tls == wrong:
            yield Finding(
                "mail_tls",
                f"[mail] port is {port}, but tls is {wrong}: no connection comes about.",
                f"Set [mail] tls to {fitting}, or use the port for {wrong}.",
            )
    if mail.host and mail.user and mail.tls == "off":
        yield Finding(
            "mail_tls", "[mail] tls is off, so the password is sent unencrypted.", "Set it to starttls or implicit."
        )
    if bool(mail.user) != bool(mail.password):
        has, lacks = ("user", "password") if mail.user else ("password", "user")
        yield Finding("mail_user", f"[mail] {has} is set without {lacks}.", "Set both, or none.")
    if settings.confirms_email and not mail.host:
        yield Finding(
            "confirm_email",
            "[accounts] confirm_email is on while mail is off: nobody can sign up.",
            "Set [mail] host and sender, or set confirm_email to auto or off.",
        )
    if not mail.host and (mail.user or mail.sender):
        yield Finding(
            "mail_host", "[mail] sender or user is set, but host is empty: no e-mail is sent.", "Set [mail] host."
        )
    elif not mail.host:
        yield Finding(
            "mail_off",
            "Mail is off: e-mails are held, and their links are written to the log.",
            "Set [mail] host and sender. To list held e-mails: crowdctl mail list",
            wrong=False,
        )


def _of_providers(settings: Settings) -> Iterator[Finding]:
    for name in ("google", "github", "orcid"):
        has = [bool(getattr(settings.signin, f"{name}_client_{part}")) for part in ("id", "secret")]
        if has[0] != has[1]:
            yield Finding("signin", f"[signin] {name} has a client id or a secret, not both.", "Set both, or none.")
        if has[0] and find_spec("oauthlib") is None:
            yield Finding(
                "signin_not_installed",
                f"[signin] {name}_client_id is set, but what signs people in there is not installed.",
                "Install it: pip install 'crowdd[signin]'",
            )
    for option in ("google_issuer", "github_url", "github_api_url", "orcid_issuer"):
        address = getattr(settings.signin, option)
        if urlsplit(address).scheme != "https" or not urlsplit(address).hostname:
            yield Finding(
                "signin", f"[signin] {option} is {address!r}.", "Set it to an https address: sign-in needs encryption."
            )


def _of_passwords(settings: Settings) -> Iterator[Finding]:
    if settings.accounts.min_password_length < MIN_PASSWORD:
        yield Finding(
            "min_password_length",
            f"[accounts] min_password_length is {settings.accounts.min_password_length}: such passwords are guessed.",
            f"Set it to {MIN_PASSWORD} or more.",
        )
    if 0 < len(settings.metrics.token) < MIN_TOKEN:
        yield Finding(
            "metrics_token",
            f"[metrics] token has {len(settings.metrics.token)} characters: it can be guessed.",
            "Set it to a random one of 32, such as that of: openssl rand -hex 16",
        )


def _of_backups(settings: Settings) -> Iterator[Finding]:
    own, days = settings.backups, settings.data.backup_days
    if not own.dir:
        if own.passphrase_file or own.dsn:
            yield Finding(
                "backups_dir",
                "[backups] passphrase_file or dsn is set without dir: the server makes no backups.",
                "Set [backups] dir to the folder for backups.",
                wrong=False,
            )
        return
    if Path(own.dir).absolute().is_relative_to(settings.data.dir.absolute()):
        yield Finding(
            "backups_dir",
            f"[backups] dir ({own.dir}) is inside the data folder: a lost disk takes both.",
            "Set it to a folder on another disk.",
        )
    if days and own.every_hours > days * 24:
        yield Finding(
            "backup_days",
            f"[backups] every_hours is {own.every_hours}, but crowdctl doctor complains after {days} days ([data]"
            " backup_days).",
            "Make backups more often, or raise backup_days.",
        )
    if 0 < own.keep_weeks * 7 <= own.keep_days:
        yield Finding(
            "keep_weeks",
            f"[backups] keep_weeks ({own.keep_weeks}) has no effect: keep_days ({own.keep_days}) keeps more.",
            "Raise keep_weeks, or set it to 0.",
            wrong=False,
        )


def _of_media(settings: Settings) -> Iterator[Finding]:
    media = settings.media
    if media.s3_secret_key and media.s3_secret_key_file:
        yield Finding(
            "media", "[media] s3_secret_key and s3_secret_key_file are both set.", "Set one, the file if you can."
        )
    elif media.store == "s3":
        try:
            require_s3_settings(media)
        except CrowddError as error:
            yield Finding("media", str(error), error.hint or "Set it, or set [media] store to folder.")


def _of_folders(settings: Settings) -> Iterator[Finding]:
    folders = {
        "[data] dir": str(settings.data.dir),
        "[backups] dir": settings.backups.dir,
        "[backups] passphrase_file": settings.backups.passphrase_file,
        "[log] file": settings.log.file,
        "[http] tls_certificate": settings.http.tls_certificate,
        "[http] tls_key": settings.http.tls_key,
        "[media] s3_secret_key_file": settings.media.s3_secret_key_file,
        "[site] texts": settings.site.texts,
    }
    for name, path in folders.items():
        if path and not os.path.isabs(path) and not location.is_checkout(Path()):
            yield Finding(
                "relative_path",
                f"{name} is {path!r}, which is another place in each folder in which a command is typed.",
                "Set it to an absolute path, as in /var/lib/crowdd. A ~ is not replaced.",
            )


def _of_texts(settings: Settings) -> Iterator[Finding]:
    if settings.commenting.public_key and not settings.commenting.secret_key:
        yield Finding("commenting", "[commenting] has a public key without its secret key.", "Set both, or none.")
    for section in attrs.fields(Settings):
        values = getattr(settings, section.name)
        for option in attrs.fields(type(values)):
            value = getattr(values, option.name)
            if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                yield Finding(
                    "quotes",
                    f"[{section.name}] {option.name} begins and ends with {value[0]}, which is part of the value.",
                    "Write the value without quotes.",
                )


# A setting that has no effect where it is larger than another one, and what that other one does.
_PAIRS = (
    ("accounts", "session_days", "session_max_days", "sessions end before"),
    ("accounts", "max_login_failures", "max_login_failures_per_hour", "sign-ins are refused before"),
    ("http", "max_anonymous_body_bytes", "max_body_bytes", "larger bodies are refused before"),
    ("http", "max_connections_per_network", "max_connections", "further connections are closed before"),
    ("live", "max_streams_per_address", "max_streams", "further streams are refused before"),
    ("live", "heartbeat_seconds", "stalled_timeout", "clients are disconnected before"),
    ("media", "thumbnail_pixels", "web_pixels", "pictures are scaled down before"),
    ("uploads", "max_file_bytes", "max_open_bytes", "such a file can never be uploaded"),
    ("volunteers", "cookies_per_hour", "cookies_per_day", "new volunteers are refused before"),
)


def _of_pairs(settings: Settings) -> Iterator[Finding]:
    for section, small, large, why in _PAIRS:
        values = getattr(settings, section)
        lower, upper = getattr(values, small), getattr(values, large)
        if lower > upper > 0:
            yield Finding(
                "no_effect",
                f"[{section}] {small} ({lower}) is larger than {large} ({upper}): {why}.",
                f"Lower {small}, or raise {large}.",
            )
    accounts = settings.accounts
    if accounts.admin_idle_minutes > accounts.admin_proof_hours * 60:
        yield Finding(
            "no_effect",
            f"[accounts] admin_idle_minutes ({accounts.admin_idle_minutes}) is longer than admin_proof_hours"
            f" ({accounts.admin_proof_hours}), so it has no effect.",
            "Lower admin_idle_minutes, or raise admin_proof_hours.",
        )
    if settings.live.heartbeat_seconds > MAX_HEARTBEAT:
        yield Finding(
            "heartbeat_seconds",
            f"[live] heartbeat_seconds is {settings.live.heartbeat_seconds}: proxies close a stream that is silent for"
            " a minute.",
            f"Set it to {MAX_HEARTBEAT} at most.",
        )
