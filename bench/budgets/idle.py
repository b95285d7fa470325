"""What a server that nobody asks sends to its database: transactions a second.

python -m bench.budgets.idle [--seconds 120]

Each statement outside a transaction is one. PostgreSQL counts those of its own processes, too, so the same time
without a server is taken off.
"""

from __future__ import annotations

import sys
import time

import click

from bench.support import testbed
from bench.support.testbed import Sql

MAXIMUM = 1.0  # a second
_SETTLE_SECONDS = 70.0  # jobs of the first minute, which make up for what fell due before


@click.command()
@click.option("--seconds", default=120.0, show_default=True, help="How long to count.")
def main(seconds: float) -> None:
    """Count, print, and end with 1 when it is more than promised."""
    with testbed.folder() as place, testbed.postgres(place) as postgres:
        testbed.upgrade(postgres.dsn, place)
        sql = Sql(postgres.dsn)
        alone = _transactions(sql, seconds / 4)
        with testbed.crowdd(postgres.dsn, place):
            time.sleep(_SETTLE_SECONDS)
            rate = _transactions(sql, seconds) - alone
    print(f"{rate:.2f} transactions a second while nobody asks (at most {MAXIMUM}); {alone:.2f} without a server")
    sys.exit(rate > MAXIMUM)


def _transactions(sql: Sql, seconds: float) -> float:
    begun = _count(sql)
    time.sleep(seconds)
    return (_count(sql) - begun - 1) / seconds  # the count itself is one


def _count(sql: Sql) -> int:
    count: int = sql.one("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()")
    return count


if __name__ == "__main__":
    main()
