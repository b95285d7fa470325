"""What each connection begins with."""

from __future__ import annotations

from crowdd.storage.schema import SEARCH_PATH

KEEPALIVES = (
    # PostgreSQL notices within 25 seconds that a machine is gone, and frees the locks of its sessions: otherwise nobody
    # else would send webhooks or run its jobs for hours. Without effect on sockets of the same machine.
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
)

ONE_PROCESSOR = "SET max_parallel_workers_per_gather = 0"
"""For connections whose statements may take long."""


def session(seconds: int) -> list[str]:
    """What each connection of a pool begins with; ``seconds`` are the time-out of a statement."""
    return [
        SEARCH_PATH,
        *KEEPALIVES,
        "SET timezone = 'UTC'",
        f"SET statement_timeout = '{seconds}s'",
        "SET lock_timeout = '5s'",
        # A transaction whose work waits for ever must not hold its rows for ever; nor a statement whose server is gone.
        f"SET idle_in_transaction_session_timeout = '{seconds}s'",
        "SET client_connection_check_interval = '1s'",
        # Plans of functions are made once per connection, perhaps while the tables are empty or do not know a project
        # yet: as for any project, and as if tables were large. What has no index then looks dear enough to be compiled.
        "SET plan_cache_mode = force_generic_plan",
        "SET enable_seqscan = off",
        "SET jit = off",
    ]
