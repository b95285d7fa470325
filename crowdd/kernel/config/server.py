"""Settings of HTTP, processes, the log, metrics, and the pages of the site."""

from __future__ import annotations

import attrs

from crowdd.kernel.config.options import (
    Network,
    boolean,
    choice,
    contact,
    map_file,
    networks,
    not_negative,
    option,
    port,
    positive,
    tile_address,
    words,
)


@attrs.frozen
class HttpSettings:
    """``[http]``: where the server listens, and which requests it accepts."""

    host: str = option("127.0.0.1", doc="Address to listen on.", fixed=True)
    port: int = option(8000, port, doc="Port to listen on.", fixed=True)
    tls_certificate: str = option(
        "",
        doc=(
            "PEM file with the certificate and its chain. With it crowdd serves HTTPS itself; leave it empty "
            "behind a proxy. Read again at SIGHUP."
        ),
    )
    tls_key: str = option(
        "", doc="PEM file with the private key. Leave it empty if the key is in the certificate's file."
    )
    max_connections: int = option(
        12_000, positive, doc="Open connections per process. Further connections are closed at once."
    )
    max_connections_per_network: int = option(
        256,
        not_negative,
        doc=(
            "Open connections per network (an IPv4 address or an IPv6 /64) and process. Further connections "
            "are closed at once. 0: no limit. Trusted proxies have no limit."
        ),
    )
    max_requests_per_network: int = option(
        32,
        not_negative,
        doc="Requests of one network that a process handles at the same time; further requests wait. 0: no limit.",
    )
    base_url: str = option("", doc="Public address of the site. Default: http://host:port.")
    allowed_hosts: tuple[str, ...] = option(
        (),
        words,
        doc=(
            "Other host names that requests may use, separated by spaces. A request for an unknown host gets "
            "421 if base_url is set or crowdd listens on a loopback address. /health and /ready answer under "
            "any name."
        ),
    )
    hsts_seconds: int = option(
        31_536_000,
        not_negative,
        doc="How long browsers must use only HTTPS (HSTS), in seconds. Sent if base_url is https. 0: not sent.",
    )
    trusted_proxies: tuple[Network, ...] = option(
        (),
        networks,
        doc="Proxies whose X-Forwarded-For header is trusted: addresses or networks, separated by spaces.",
    )
    max_body_bytes: int = option(10_000_000, positive, doc="Largest request body, in bytes. Larger ones get 413.")
    max_anonymous_body_bytes: int = option(
        262_144, positive, doc="Largest request body without an account, in bytes. Larger ones get 413."
    )
    max_import_bytes: int = option(100_000_000, positive, doc="Largest task file that an owner can import, in bytes.")
    max_page_cache_bytes: int = option(
        20_000_000,
        not_negative,
        doc=(
            "Largest size of the cache of pages that all visitors without an account get alike, in bytes per process. "
            "0: no cache."
        ),
    )
    shared_cache_seconds: int = option(
        0,
        not_negative,
        doc=(
            "How long a cache between crowdd and visitors (nginx, Varnish) may send such a page without asking, in "
            "seconds. A pause or a lock is seen as much later there. 0: it asks each time."
        ),
    )
    drain_delay: int = option(
        0,
        not_negative,
        doc=(
            "How long a server that was told to stop goes on answering while /ready says 503, in seconds. Set it "
            "behind a proxy that asks /ready, to more than the proxy takes to notice."
        ),
    )
    shutdown_timeout: int = option(10, not_negative, doc="How long running requests may take at shutdown, in seconds.")
    spa_base_url: str = option(
        "",
        doc=(
            "Address of a front end on another host. Links in e-mails and redirects after sign-in go there, "
            "with the same paths."
        ),
    )
    allowed_origins: tuple[str, ...] = option(
        (), words, doc="Origins of front ends that may send cookies (CORS), separated by spaces."
    )
    cross_site_cookies: bool = option(
        False,
        boolean,
        doc=(
            "Turn this on if the front end is on another site: cookies become SameSite=None; Secure, and "
            "every write needs the CSRF token."
        ),
    )


@attrs.frozen
class DaemonSettings:
    """``[daemon]``: the processes of the server."""

    node: str = option("", doc="Name of this server in `crowdctl nodes`. Default: the host name.", fixed=True)
    workers: int = option(
        1,
        positive,
        doc="Processes that answer requests on the same port. Use 1 if PostgreSQL runs on the same two cores.",
        fixed=True,
    )


@attrs.frozen
class LogSettings:
    """``[log]``: what is logged, and where."""

    file: str = option("", doc="Log file. Default: standard output, or crowdd.log in the data folder.")
    format: str = option("text", choice("text", "json"), doc="text: lines for people. json: one object per line.")
    level: str = option(
        "info",
        choice("debug", "info", "warn", "error", "critical"),
        doc="Lowest level that is logged: debug, info, warn, error or critical.",
    )
    requests: bool = option(False, boolean, doc="Log every request, without its address, query or names.")
    max_bytes: int = option(
        20_000_000,
        not_negative,
        doc=(
            "Size at which the log file is rotated (crowdd.log.1 and so on), in bytes. 0: never, if another "
            "program rotates it."
        ),
    )
    backup_count: int = option(5, positive, doc="Rotated log files to keep.")
    security_days: int = option(
        90, positive, doc="Days to keep entries of the security log (`crowdctl audit --security`)."
    )


@attrs.frozen
class MetricsSettings:
    """``[metrics]``: metrics for Prometheus."""

    token: str = option(
        "",
        doc="Bearer token for /metrics. Without a token only this machine can read them, and not through a proxy.",
    )


@attrs.frozen
class MapSettings:
    """``[maps]``: a map that projects may show in place of the one that comes with crowdd."""

    file: str = option(
        "",
        map_file,
        doc=(
            "Name of a PMTiles file in the data folder, with vector tiles as Protomaps makes them: world.pmtiles. "
            "Owners choose this map for their questions. No other server sees the addresses of volunteers. Backups do "
            "not contain the file, and several servers each need it."
        ),
    )
    tiles: str = option(
        "",
        tile_address,
        doc=(
            "Address of the pictures of a map, with {z}, {x} and {y}: https://tiles.example.org/{z}/{x}/{y}.png. "
            "Owners choose it for the maps of their questions, if there is no file. The server behind it sees the "
            "addresses of volunteers. Leave it empty to offer none."
        ),
    )
    attribution: str = option("", doc="Text that the provider of the map asks for, shown on each of these maps.")


@attrs.frozen
class SiteSettings:
    """``[site]``: what the pages say about this server."""

    name: str = option("crowdd", doc="Name of the site.")
    texts: str = option(
        "",
        doc=(
            "Folder with your own about.md, help.md, terms.md, privacy.md, cookies.md and license.md. Add "
            "the language for translations: about.de.md is German. For missing files crowdd uses its own "
            "texts."
        ),
    )
    security_contact: str = option(
        "",
        contact,
        doc=(
            "Where to report vulnerabilities: an e-mail or https address, published in "
            "/.well-known/security.txt. Leave it empty to publish none."
        ),
    )
    debug: bool = option(
        False, boolean, doc="Show a page with all design elements at /about/design. Tracebacks are never shown."
    )
