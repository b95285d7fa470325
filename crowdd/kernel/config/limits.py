"""What a client or an account may use: rates, downloads, quotas, streams. Sizes of bodies: ``server.HttpSettings``."""

from __future__ import annotations

import attrs

from crowdd.kernel.config.options import boolean, not_negative, option, positive


@attrs.frozen
class RateLimitSettings:
    """``[ratelimit]``: requests to /api per client and endpoint."""

    limit: int = option(300, not_negative, doc="Requests to /api per window, address and endpoint. 0: no rate limits.")
    key_limit: int = option(
        300,
        positive,
        doc="Requests per window, API key or token, and endpoint. They count for the key, not for its address.",
    )
    window: int = option(900, positive, doc="Length of the window, in seconds.")
    shared_address_factor: int = option(
        40,
        positive,
        doc=(
            "A browser with a cookie also has a window of its own. All browsers of one address together can "
            "make this many times `limit` requests, and all keys used there this many times `key_limit`."
        ),
    )
    shared: bool = option(
        False,
        boolean,
        doc=(
            "Count the requests of several machines together, in the database. The processes of one machine "
            "always count together."
        ),
        fixed=True,
    )


@attrs.frozen
class ExportSettings:
    """``[exports]``: downloads of tasks, answers and results."""

    max_downloads: int = option(
        4, positive, doc="Downloads that visitors can run at the same time. Owners have as many again."
    )
    max_downloads_per_network: int = option(
        30, not_negative, doc="Downloads that visitors of one network can start in 15 minutes. 0: no limit."
    )
    deletion_days: int = option(
        90,
        positive,
        doc=(
            "Days for which deletions are kept for programs that ask what has changed (`since`). "
            "A program that asks later has to begin a new copy."
        ),
    )


@attrs.frozen
class QuotaSettings:
    """``[quota]``: what the projects of one account may hold. Administrators have no quota."""

    max_projects: int = option(
        500, not_negative, doc="Projects that an account can own. 0: no limit. Administrators have no quota."
    )
    max_tasks: int = option(5_000_000, not_negative, doc="Tasks in all projects of an account. 0: no limit.")
    max_bytes: int = option(
        20_000_000_000,
        not_negative,
        doc="Bytes of tasks, answers, texts and files in all projects of an account. 0: no limit.",
    )


@attrs.frozen
class LiveSettings:
    """``[live]``: event streams for people who watch a project."""

    max_streams: int = option(
        10_000,
        not_negative,
        doc="Open event streams per process. Further ones get 503. 0: no streams.",
        fixed=True,
    )
    max_streams_per_address: int = option(
        200, positive, doc="Open event streams per address. Further ones get 429.", fixed=True
    )
    heartbeat_seconds: int = option(
        15, positive, doc="Seconds between heartbeats on a stream without events.", fixed=True
    )
    stalled_timeout: int = option(
        30, positive, doc="Seconds after which a client that reads nothing is disconnected.", fixed=True
    )
