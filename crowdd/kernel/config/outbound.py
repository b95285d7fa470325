"""Requests to other servers, and e-mail."""

from __future__ import annotations

import attrs

from crowdd.kernel.config.options import choice, endpoint_list, option, port, positive, seconds


@attrs.frozen
class OutgoingSettings:
    """``[outgoing]``: requests to servers that owners name (webhooks, imports)."""

    allowed_hosts: tuple[str, ...] = option(
        (),
        endpoint_list,
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

    first_delay: float = option(
        5.0,
        seconds,
        doc=(
            "Seconds before the second of ten attempts. Each further delay is five times as long, up to a "
            "day; with 5 seconds the attempts span three days."
        ),
    )
    timeout: float = option(15.0, seconds, doc="How long to wait for the receiver's response, in seconds.")
    log_days: int = option(30, positive, doc="Days to keep finished deliveries in the log.")
    log_rows: int = option(100_000, positive, doc="Finished deliveries to keep per project.")


@attrs.frozen
class MailSettings:
    """``[mail]``: sending e-mail."""

    host: str = option(
        "",
        doc="SMTP server. Leave it empty to send no e-mail: links then appear in the log and in `crowdctl mail show`.",
    )
    port: int = option(587, port, doc="Port of the SMTP server: 587 for starttls, 465 for implicit.")
    tls: str = option(
        "starttls",
        choice("starttls", "implicit", "off"),
        doc="Encryption of the connection: starttls, implicit or off.",
    )
    user: str = option("", doc="User name at the SMTP server. Leave it empty if it needs none.")
    password: str = option("", doc="Password at the SMTP server.")
    sender: str = option("", doc="Sender address of e-mails. Required to send e-mail.")
    keep_days: int = option(14, positive, doc="Days to keep sent e-mails and the addresses in them.")
