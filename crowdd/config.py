"""Settings: read from a file, overridden by the environment, checked once, then frozen.

A setting is declared once, here: section, name, type, default and what it is for. ``make documents`` writes
``etc/crowdd.conf`` and the tables of ``docs/configuration.md`` from it. The environment overrides any setting as
``CROWDD_<SECTION>_<OPTION>``.
"""

from __future__ import annotations

import configparser
import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs

from crowdd.errors import ConfigError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _boolean(text: str) -> bool:
    words = {"1": True, "yes": True, "on": True, "true": True, "0": False, "no": False, "off": False, "false": False}
    return words[text.strip().lower()]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(word, strict=False) for word in _words(text))


# An IPv6 address in brackets or a name, then perhaps a port; or an IPv6 address alone.
_ENDPOINT = re.compile(
    r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]*[^\[\]:.]\.?)|([0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*)(?=$))(?::([0-9]{1,5}|\*))?"
)


def endpoints(word: str) -> frozenset[tuple[str, int]]:
    """The hosts and ports of ``host:port``, ``host`` (ports 80 and 443) or ``host:*`` (port 0: every one).

    An IPv6 address with a port has brackets. Raises ValueError.
    """
    found = _ENDPOINT.fullmatch(word.lower())
    if found is None:
        raise ValueError
    address, name, port = found[1] or found[3], found[2], found[4]
    if port and port != "*" and not 0 < int(port) < 65536:
        raise ValueError
    ports = (80, 443) if not port else (0,) if port == "*" else (int(port),)
    host = str(ipaddress.IPv6Address(address)) if address else name.rstrip(".")
    return frozenset((host, number) for number in ports)


def _endpoints(text: str) -> tuple[str, ...]:
    words = _words(text)
    for word in words:
        endpoints(word)
    return words


def _contact(text: str) -> str:
    if text and not re.fullmatch(r"https://[!-~]+|[!-9;-~]+@[!-?A-~]+", text):
        raise ValueError
    return text


def _s3_endpoint(text: str) -> str:
    if text and not re.fullmatch(r"https?://[^\s/?#@]+/?", text):
        raise ValueError
    return text.rstrip("/")


def _s3_bucket(text: str) -> str:
    if text and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}", text):
        raise ValueError
    return text


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError
    return port


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _not_negative(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _choice(*words: str) -> Callable[[str], str]:
    def choose(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    choose.__doc__ = "one of " + ", ".join(words)
    return choose


def _automatic(text: str) -> str:
    """on, off or auto"""
    return "auto" if text == "auto" else "on" if _boolean(text) else "off"


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


T = TypeVar("T")
_WANTED = {
    _seconds: "a number of seconds above 0",
    int: "a whole number",
    _boolean: "on or off",
    _port: "a port number from 0 to 65535",
    _positive: "a whole number above 0",
    _not_negative: "a whole number, 0 or more",
    _endpoints: "hosts with ports such as hooks.internal:8080, separated by blanks",
    _s3_endpoint: "an address such as https://s3.example.org, without a path",
    _s3_bucket: "a name of letters, digits, dots, hyphens and underscores",
    _contact: "an e-mail address or an https address",
    _networks: "addresses or networks such as 10.0.0.0/8, separated by blanks",
}


def _option(default: T, parse: Callable[[str], object] = str, doc: str = "", *, fixed: bool = False) -> T:
    """A setting; one that is ``fixed`` is read at the start only, the others again at SIGHUP."""
    option: T = attrs.field(default=default, metadata={"parse": parse, "doc": doc, "fixed": fixed})
    return option


@attrs.frozen
class HttpSettings:
    """``[http]``: where the server listens, and which requests it accepts."""

    host: str = _option("127.0.0.1", doc="Address to listen on.", fixed=True)
    port: int = _option(8000, _port, doc="Port to listen on.", fixed=True)
    tls_certificate: str = _option(
        "",
        doc=(
            "PEM file with the certificate and its chain. With it crowdd serves HTTPS itself; leave it empty "
            "behind a proxy. Read again at SIGHUP."
        ),
    )
    tls_key: str = _option(
        "", doc="PEM file with the private key. Leave it empty if the key is in the certificate's file."
    )
    max_connections: int = _option(
        12_000, _positive, doc="Open connections per process. Further connections are closed at once."
    )
    max_connections_per_network: int = _option(
        256,
        _not_negative,
        doc=(
            "Open connections per network (an IPv4 address or an IPv6 /64) and process. Further connections "
            "are closed at once. 0: no limit. Trusted proxies have no limit."
        ),
    )
    max_requests_per_network: int = _option(
        32,
        _not_negative,
        doc="Requests of one network that a process handles at the same time; further requests wait. 0: no limit.",
    )
    base_url: str = _option("", doc="Public address of the site. Default: http://host:port.")
    allowed_hosts: tuple[str, ...] = _option(
        (),
        _words,
        doc=(
            "Other host names that requests may use, separated by spaces. A request for an unknown host gets "
            "421 if base_url is set or crowdd listens on a loopback address. /health and /ready answer under "
            "any name."
        ),
    )
    hsts_seconds: int = _option(
        31_536_000,
        _not_negative,
        doc="How long browsers must use only HTTPS (HSTS), in seconds. Sent if base_url is https. 0: not sent.",
    )
    trusted_proxies: tuple[Network, ...] = _option(
        (),
        _networks,
        doc="Proxies whose X-Forwarded-For header is trusted: addresses or networks, separated by spaces.",
    )
    max_body_bytes: int = _option(10_000_000, _positive, doc="Largest request body, in bytes. Larger ones get 413.")
    max_anonymous_body_bytes: int = _option(
        262_144, _positive, doc="Largest request body without an account, in bytes. Larger ones get 413."
    )
    max_import_bytes: int = _option(100_000_000, _positive, doc="Largest task file that an owner can import, in bytes.")
    shutdown_timeout: int = _option(
        10, _not_negative, doc="How long running requests may take at shutdown, in seconds."
    )
    spa_base_url: str = _option(
        "",
        doc=(
            "Address of a front end on another host. Links in e-mails and redirects after sign-in go there, "
            "with the same paths."
        ),
    )
    allowed_origins: tuple[str, ...] = _option(
        (), _words, doc="Origins of front ends that may send cookies (CORS), separated by spaces."
    )
    cross_site_cookies: bool = _option(
        False,
        _boolean,
        doc=(
            "Turn this on if the front end is on another site: cookies become SameSite=None; Secure, and "
            "every write needs the CSRF token."
        ),
    )


@attrs.frozen
class DaemonSettings:
    """``[daemon]``: the processes of the server."""

    workers: int = _option(
        1,
        _positive,
        doc="Processes that answer requests on the same port. Use 1 if PostgreSQL runs on the same two cores.",
        fixed=True,
    )


@attrs.frozen
class LogSettings:
    """``[log]``: what is logged, and where."""

    file: str = _option("", doc="Log file. Default: standard output, or crowdd.log in the data folder.")
    format: str = _option("text", _choice("text", "json"), doc="text: lines for people. json: one object per line.")
    level: str = _option(
        "info",
        _choice("debug", "info", "warn", "error", "critical"),
        doc="Lowest level that is logged: debug, info, warn, error or critical.",
    )
    requests: bool = _option(False, _boolean, doc="Log every request, without its address, query or names.")
    max_bytes: int = _option(
        20_000_000,
        _not_negative,
        doc=(
            "Size at which the log file is rotated (crowdd.log.1 and so on), in bytes. 0: never, if another "
            "program rotates it."
        ),
    )
    backup_count: int = _option(5, _positive, doc="Rotated log files to keep.")
    security_days: int = _option(
        90, _positive, doc="Days to keep entries of the security log (`crowdctl audit --security`)."
    )


@attrs.frozen
class MetricsSettings:
    """``[metrics]``: metrics for Prometheus."""

    token: str = _option(
        "",
        doc="Bearer token for /metrics. Without a token only this machine can read them, and not through a proxy.",
    )


@attrs.frozen
class DbSettings:
    """``[db]``: PostgreSQL."""

    dsn: str = _option(
        "",
        doc=(
            "libpq connection string. Leave it empty and `crowdctl serve` starts an embedded PostgreSQL. "
            "Prefer a socket folder or an IP address: looking up a host name blocks the server."
        ),
        fixed=True,
    )
    migrate_dsn: str = _option(
        "",
        doc=(
            "Connection string for `crowdctl db upgrade`, with the role that owns the tables. Leave it empty "
            "if the role in dsn owns them."
        ),
    )
    pool_size: int = _option(8, _positive, doc="Connections for the requests of one process.", fixed=True)
    max_queue: int = _option(
        1000, _positive, doc="Requests that may wait for a connection. Further ones get 503.", fixed=True
    )
    pool_timeout: int = _option(
        5, _positive, doc="How long a request waits for a connection before it gets 503, in seconds.", fixed=True
    )
    statement_timeout: int = _option(10, _positive, doc="Timeout of a single statement, in seconds.", fixed=True)


@attrs.frozen
class DataSettings:
    """``[data]``: files on disk beside the database."""

    dir: Path = _option(
        Path("var"),
        Path,
        doc=(
            "Folder for secrets, uploads, logs and the embedded database. For an installation, give an "
            "absolute path such as /var/lib/crowdd."
        ),
        fixed=True,
    )
    postgres_user: str = _option(
        "",
        doc=(
            "System user that runs the embedded PostgreSQL if crowdd is started as root. Default: postgres, "
            "else nobody."
        ),
        fixed=True,
    )
    min_free_bytes: int = _option(
        100_000_000,
        _not_negative,
        doc="Free space that the data folder needs, in bytes. With less, /ready reports that the server is not ready.",
    )
    backup_days: int = _option(
        8, _not_negative, doc="`crowdctl doctor` warns if the last backup is older than this many days. 0: never."
    )


@attrs.frozen
class QueueSettings:
    """``[queue]``: background tasks."""

    workers: int = _option(
        2,
        _not_negative,
        doc=(
            "Background tasks (imports, changes of many tasks) that a process runs at the same time. 0: "
            "none, other processes run them."
        ),
        fixed=True,
    )


@attrs.frozen
class RateLimitSettings:
    """``[ratelimit]``: requests to /api per client and endpoint."""

    limit: int = _option(
        300, _not_negative, doc="Requests to /api per window, address and endpoint. 0: no rate limits."
    )
    key_limit: int = _option(
        300,
        _positive,
        doc="Requests per window, API key or token, and endpoint. They count for the key, not for its address.",
    )
    window: int = _option(900, _positive, doc="Length of the window, in seconds.")
    shared_address_factor: int = _option(
        40,
        _positive,
        doc=(
            "A browser with a cookie also has a window of its own. All browsers of one address together can "
            "make this many times `limit` requests, and all keys used there this many times `key_limit`."
        ),
    )
    shared: bool = _option(
        False,
        _boolean,
        doc=(
            "Count the requests of several machines together, in the database. The processes of one machine "
            "always count together."
        ),
        fixed=True,
    )


@attrs.frozen
class ExportSettings:
    """``[exports]``: downloads of tasks, answers and results."""

    max_downloads: int = _option(
        4, _positive, doc="Downloads that visitors can run at the same time. Owners have as many again."
    )
    max_downloads_per_network: int = _option(
        30, _not_negative, doc="Downloads that visitors of one network can start in 15 minutes. 0: no limit."
    )


@attrs.frozen
class QuotaSettings:
    """``[quota]``: what the projects of one account may hold. Administrators have no quota."""

    max_projects: int = _option(
        500, _not_negative, doc="Projects that an account can own. 0: no limit. Administrators have no quota."
    )
    max_tasks: int = _option(5_000_000, _not_negative, doc="Tasks in all projects of an account. 0: no limit.")
    max_bytes: int = _option(
        20_000_000_000,
        _not_negative,
        doc="Bytes of tasks, answers, texts and files in all projects of an account. 0: no limit.",
    )


@attrs.frozen
class MediaSettings:
    """``[media]``: pictures, sound, video and documents that owners bring."""

    store: str = _option(
        "folder",
        _choice("folder", "s3"),
        doc=(
            "Where media files are kept: folder (`uploads` in the data folder) or s3 (a bucket of an S3-compatible "
            "service). To change it, see `crowdctl media copy`."
        ),
        fixed=True,
    )
    s3_endpoint: str = _option(
        "",
        _s3_endpoint,
        doc=(
            "Address of the S3 service, such as https://s3.eu-central-1.amazonaws.com or http://minio.internal:9000. "
            "It may be a private address."
        ),
        fixed=True,
    )
    s3_bucket: str = _option("", _s3_bucket, doc="Name of the bucket. It must exist.", fixed=True)
    s3_region: str = _option("us-east-1", doc="Region of the bucket. MinIO uses us-east-1.", fixed=True)
    s3_access_key: str = _option("", doc="Access key id.", fixed=True)
    s3_secret_key: str = _option("", doc="Secret access key.", fixed=True)
    s3_secret_key_file: str = _option(
        "", doc="File that contains the secret access key, in place of s3_secret_key.", fixed=True
    )
    web_pixels: int = _option(
        2000, _positive, doc="Longest side of the pictures that volunteers see, in pixels. Larger ones are scaled down."
    )
    thumbnail_pixels: int = _option(400, _positive, doc="Longest side of the thumbnails of pictures, in pixels.")
    max_pixels: int = _option(
        120_000_000,
        _positive,
        doc=(
            "Largest picture that is accepted, in pixels (width times height). Preparing it takes up to 9 bytes of "
            "memory for each."
        ),
    )
    max_pages: int = _option(300, _positive, doc="Pages that a PDF or a TIFF may have.")


@attrs.frozen
class UploadSettings:
    """``[uploads]``: folders of media that owners bring in parts."""

    max_file_bytes: int = _option(1_000_000_000, _positive, doc="Largest file that an owner can bring, in bytes.")
    max_batch_files: int = _option(
        10_000,
        _positive,
        doc="Files of one batch: what an owner drops onto the page at once, unpacked archives included.",
    )
    max_open_files: int = _option(
        20_000, _positive, doc="Files of one person, and of one project, that are arriving or being prepared."
    )
    max_open_bytes: int = _option(20_000_000_000, _positive, doc="Bytes of these files.")
    max_site_open_bytes: int = _option(
        100_000_000_000, _positive, doc="Bytes of all files of the site that are arriving or being prepared."
    )
    max_site_bytes: int = _option(
        0,
        _not_negative,
        doc="Bytes that all projects together hold, with which owners can bring no further files. 0: no limit.",
    )
    expire_hours: int = _option(
        48, _positive, doc="Hours after which a file that has not arrived completely is deleted."
    )


@attrs.frozen
class LiveSettings:
    """``[live]``: event streams for people who watch a project."""

    max_streams: int = _option(
        10_000,
        _not_negative,
        doc="Open event streams per process. Further ones get 503. 0: no streams.",
        fixed=True,
    )
    max_streams_per_address: int = _option(
        200, _positive, doc="Open event streams per address. Further ones get 429.", fixed=True
    )
    heartbeat_seconds: int = _option(
        15, _positive, doc="Seconds between heartbeats on a stream without events.", fixed=True
    )
    stalled_timeout: int = _option(
        30, _positive, doc="Seconds after which a client that reads nothing is disconnected.", fixed=True
    )


@attrs.frozen
class VolunteerSettings:
    """``[volunteers]``: volunteers without an account."""

    anonymous: str = _option(
        "cookie",
        _choice("cookie", "address"),
        doc="How to tell volunteers without an account apart: by cookie (several can share an address) or by address.",
    )
    cookies_per_hour: int = _option(200, _positive, doc="New volunteer cookies per network and hour.")
    cookies_per_day: int = _option(500, _positive, doc="New volunteer cookies per network and day.")
    counted_per_network: int = _option(
        1,
        _not_negative,
        doc="Anonymous answers per network that count for a task, unless the project sets its own number. 0: no limit.",
        fixed=True,
    )


@attrs.frozen
class AccountSettings:
    """``[accounts]``: accounts and sessions."""

    session_days: int = _option(30, _positive, doc="Days without use after which a session ends.")
    session_max_days: int = _option(90, _positive, doc="Days after which a session ends, used or not.")
    proof_minutes: int = _option(
        10,
        _positive,
        doc="Minutes for which a password or second factor is accepted for changes that protect the account.",
    )
    admin_proof_hours: int = _option(
        12, _positive, doc="Hours after which administrators must confirm their identity again below /admin."
    )
    admin_idle_minutes: int = _option(
        30,
        _positive,
        doc="Minutes without use after which administrators must confirm their identity again below /admin.",
    )
    require_second_factor: str = _option(
        "nobody",
        _choice("nobody", "admins"),
        doc="Who needs a second factor: nobody or admins. Administrators without one cannot open /admin.",
    )
    key_in_query: bool = _option(
        True,
        _boolean,
        doc=(
            "Accept API keys in the address (?api_key=). Turn this off if you can: addresses end up in logs "
            "and browser histories."
        ),
    )
    min_password_length: int = _option(
        10, _positive, doc="Minimum length of new passwords. Older passwords still work."
    )
    max_login_failures: int = _option(10, _positive, doc="Failed sign-ins per account and network in 15 minutes.")
    max_login_failures_per_hour: int = _option(
        100,
        _positive,
        doc="Failed sign-ins per account and hour, from all networks together. Known devices are exempt.",
    )
    max_posts: int = _option(
        300, _not_negative, doc="Requests per network to each form below /account in 15 minutes. 0: no limit."
    )
    signups_per_hour: int = _option(
        10,
        _not_negative,
        doc="New accounts per network and hour. 0: no limit. Raise it before a class signs up.",
    )
    confirm_email: str = _option(
        "auto",
        _automatic,
        doc=(
            "Whether new accounts and new addresses must be confirmed by e-mail: on, off, or auto (if [mail] "
            "is configured)."
        ),
    )
    link_hours: int = _option(5, _positive, doc="Hours for which links in e-mails work.")


@attrs.frozen
class SignInSettings:
    """``[signin]``: sign-in with other providers. A provider without a client id is not offered."""

    google_client_id: str = _option(
        "",
        doc=(
            "Client id from Google. Leave it empty to offer no sign-in with Google. Register the redirect "
            "address `<base_url>/google/oauth_authorized` there."
        ),
    )
    google_client_secret: str = _option("", doc="Client secret from Google.")
    google_issuer: str = _option("https://accounts.google.com", doc="Issuer of Google's ID tokens.")
    github_client_id: str = _option(
        "",
        doc=(
            "Client id from GitHub. Leave it empty to offer no sign-in with GitHub. Register the redirect "
            "address `<base_url>/github/oauth_authorized` there."
        ),
    )
    github_client_secret: str = _option("", doc="Client secret from GitHub.")
    github_url: str = _option("https://github.com", doc="Address of GitHub or of a GitHub Enterprise server.")
    github_api_url: str = _option("https://api.github.com", doc="Address of its API.")
    orcid_client_id: str = _option(
        "",
        doc=(
            "Client id from ORCID. Leave it empty to offer no sign-in with ORCID. Register the redirect "
            "address `<base_url>/orcid/oauth_authorized` there."
        ),
    )
    orcid_client_secret: str = _option("", doc="Client secret from ORCID.")
    orcid_issuer: str = _option(
        "https://orcid.org", doc="Issuer of ORCID's ID tokens. For tests: https://sandbox.orcid.org."
    )


@attrs.frozen
class ExternalSettings:
    """``[external]``: volunteers of another user base."""

    token_hours: int = _option(24, _positive, doc="Hours for which a project token for external users is valid.")


@attrs.frozen
class RetentionSettings:
    """``[retention]``: how long personal data is kept. 0: for ever."""

    address_days: int = _option(
        365,
        _not_negative,
        doc="Days after which the pseudonym of the address is removed from answers. 0: never.",
    )
    event_days: int = _option(365, _not_negative, doc="Days after which user ids are removed from events. 0: never.")
    audit_days: int = _option(1095, _not_negative, doc="Days to keep rows of the audit log. 0: for ever.")


@attrs.frozen
class CommentingSettings:
    """``[commenting]``: single sign-on at a commenting provider."""

    public_key: str = _option(
        "", doc="Public key of a commenting provider for /api/commenting/sso. Leave it empty to turn this off."
    )
    secret_key: str = _option("", doc="Secret key from the provider.")


@attrs.frozen
class OutgoingSettings:
    """``[outgoing]``: requests to servers that owners name (webhooks, imports)."""

    allowed_hosts: tuple[str, ...] = _option(
        (),
        _endpoints,
        doc=(
            "Private hosts that webhooks and imports may call, with ports, separated by spaces: "
            "hooks.internal:8080 or [fd00::7]:8080. A host without a port means ports 80 and 443; `host:*` "
            "means every port, which lets every owner reach all services of that host, so use it for tests "
            "only."
        ),
    )


@attrs.frozen
class WebhookSettings:
    """``[webhooks]``: delivery of events to projects' servers."""

    first_delay: float = _option(
        5.0,
        _seconds,
        doc=(
            "Seconds before the second of ten attempts. Each further delay is five times as long, up to a "
            "day; with 5 seconds the attempts span three days."
        ),
    )
    timeout: float = _option(15.0, _seconds, doc="How long to wait for the receiver's response, in seconds.")
    log_days: int = _option(30, _positive, doc="Days to keep finished deliveries in the log.")
    log_rows: int = _option(100_000, _positive, doc="Finished deliveries to keep per project.")


@attrs.frozen
class MailSettings:
    """``[mail]``: sending e-mail."""

    host: str = _option(
        "",
        doc="SMTP server. Leave it empty to send no e-mail: links then appear in the log and in `crowdctl mail show`.",
    )
    port: int = _option(587, _port, doc="Port of the SMTP server: 587 for starttls, 465 for implicit.")
    tls: str = _option(
        "starttls",
        _choice("starttls", "implicit", "off"),
        doc="Encryption of the connection: starttls, implicit or off.",
    )
    user: str = _option("", doc="User name at the SMTP server. Leave it empty if it needs none.")
    password: str = _option("", doc="Password at the SMTP server.")
    sender: str = _option("", doc="Sender address of e-mails. Required to send e-mail.")
    keep_days: int = _option(14, _positive, doc="Days to keep sent e-mails and the addresses in them.")


@attrs.frozen
class SiteSettings:
    """``[site]``: what the pages say about this server."""

    name: str = _option("crowdd", doc="Name of the site.")
    texts: str = _option(
        "",
        doc=(
            "Folder with your own about.md, help.md, terms.md, privacy.md, cookies.md and license.md. Add "
            "the language for translations: about.de.md is German. For missing files crowdd uses its own "
            "texts."
        ),
    )
    security_contact: str = _option(
        "",
        _contact,
        doc=(
            "Where to report vulnerabilities: an e-mail or https address, published in "
            "/.well-known/security.txt. Leave it empty to publish none."
        ),
    )
    debug: bool = _option(
        False, _boolean, doc="Show a page with all design elements at /about/design. Tracebacks are never shown."
    )


@attrs.frozen
class Settings:
    """All settings of one server."""

    http: HttpSettings = HttpSettings()
    daemon: DaemonSettings = DaemonSettings()
    log: LogSettings = LogSettings()
    metrics: MetricsSettings = MetricsSettings()
    db: DbSettings = DbSettings()
    data: DataSettings = DataSettings()
    queue: QueueSettings = QueueSettings()
    ratelimit: RateLimitSettings = RateLimitSettings()
    exports: ExportSettings = ExportSettings()
    quota: QuotaSettings = QuotaSettings()
    media: MediaSettings = MediaSettings()
    uploads: UploadSettings = UploadSettings()
    live: LiveSettings = LiveSettings()
    volunteers: VolunteerSettings = VolunteerSettings()
    accounts: AccountSettings = AccountSettings()
    signin: SignInSettings = SignInSettings()
    external: ExternalSettings = ExternalSettings()
    retention: RetentionSettings = RetentionSettings()
    commenting: CommentingSettings = CommentingSettings()
    outgoing: OutgoingSettings = OutgoingSettings()
    webhooks: WebhookSettings = WebhookSettings()
    mail: MailSettings = MailSettings()
    site: SiteSettings = SiteSettings()

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
        kept, sections = [], {}
        for section in attrs.fields(Settings):
            now, then = getattr(self, section.name), getattr(before, section.name)
            fixed = [a.name for a in attrs.fields(type(now)) if a.metadata["fixed"]]
            kept += [f"[{section.name}] {name}" for name in fixed if getattr(now, name) != getattr(then, name)]
            sections[section.name] = attrs.evolve(now, **{name: getattr(then, name) for name in fixed})
        return Settings(**sections), kept

    def secrets(self) -> list[str]:
        """What must not stand in a log: every password, token and key that was configured."""
        named = (getattr(getattr(self, section), option) for section, option, _, _ in options() if _is_secret(option))
        in_dsns = _DSN_PASSWORD.findall(f"{self.db.dsn} {self.db.migrate_dsn}")
        return [text for text in (*in_dsns, *named) if text and isinstance(text, str)]


_DSN_PASSWORD = re.compile(r"(?:\bpassword\s*=\s*'?|://[^/@:]*:)([^\s'@]+)")


def _is_secret(option: str) -> bool:
    return option.endswith(("password", "secret", "secret_key", "token"))


# Former names of settings. An error names the new one.
_FORMER = {
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
SECTIONS: dict[str, type] = {a.name: type(a.default) for a in attrs.fields(Settings)}


def options() -> list[tuple[str, str, str, object]]:
    """Every setting as (section, option, documentation, default)."""
    return [(s, a.name, a.metadata["doc"], a.default) for s, cls in SECTIONS.items() for a in attrs.fields(cls)]


def load(path: str | Path | None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of a file (None: only defaults) with the environment on top.

    Raises ConfigError that names the setting and says what it wants.
    """
    environ = os.environ if environ is None else environ
    given = _file(Path(path)) if path else {}
    given |= _environment(environ)
    sections = {name: _section(name, cls, given) for name, cls in SECTIONS.items()}
    return Settings(**sections)


def origins(path: str | Path | None, environ: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Where each setting that is not left to its default stands, by section and option. Raises ConfigError."""
    given = (_file(Path(path)) if path else {}) | _environment(environ)
    return {key: place for key, (_, place) in given.items()}


def _file(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=None)
    try:
        with path.open(encoding="utf-8") as lines:
            parser.read_file(lines)
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {path}: {error.strerror}.") from None
    except (configparser.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"The configuration {path} cannot be parsed: {str(error).splitlines()[0]}") from None
    found = {}
    for section in parser.sections():
        for option, text in parser.items(section):
            _known(section, option, f"{path}: [{section}] {option}")
            found[section, option] = (text, f"{path}: [{section}] {option}")
    return found


def _environment(environ: Mapping[str, str]) -> dict[tuple[str, str], tuple[str, str]]:
    found = {}
    for name, text in environ.items():
        section, _, option = name.removeprefix("CROWDD_").lower().partition("_")
        if name.startswith("CROWDD_") and section in SECTIONS:
            _known(section, option, name)
            found[section, option] = (text, name)
    return found


def _known(section: str, option: str, place: str) -> None:
    if section not in SECTIONS:
        raise ConfigError(f"{place}: unknown section [{section}]. Known sections: {', '.join(SECTIONS)}.")
    names = [a.name for a in attrs.fields(SECTIONS[section])]
    if (section, option) in _FORMER:
        raise ConfigError(f"{place}: this setting was renamed to {_FORMER[section, option]}.")
    if option not in names:
        raise ConfigError(f"{place}: unknown setting. Settings of [{section}]: {', '.join(names)}.")


def _section(name: str, cls: type, given: Mapping[tuple[str, str], tuple[str, str]]) -> Any:
    values = {}
    for a in attrs.fields(cls):
        if (name, a.name) not in given:
            continue
        text, place = given[name, a.name]
        parse = a.metadata["parse"]
        try:
            values[a.name] = parse(text.strip())
        except (ValueError, KeyError):
            wanted = _WANTED.get(parse) or parse.__doc__
            raise ConfigError(f"{place}: must be {wanted} (got {text!r}).") from None
    return cls(**values)
