"""Which addresses have an account: what the time of an answer tells a client.

    python -m bench.addresses [--turns 200]

At sign-in, forgot and register (with addresses confirmed by e-mail) an address that has an account and one that has
none take turns, in an order that the dice make, one request at a time, at a crowdd process of its own. Gate: the median
wall-clock times of both differ by at most 1.1 times. On a busy machine more turns are needed. What does not depend on
the machine (the same statements, as many hashes) is a test: ``test_work_tells_nobody_which_addresses_are_known``.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from support.person import Person

from bench.support import testbed
from bench.support.figures import table

MAXIMUM = 1.1
SETTINGS = {
    "CROWDD_ACCOUNTS_CONFIRM_EMAIL": "on",
    "CROWDD_ACCOUNTS_MAX_LOGIN_FAILURES": "1000000",
    "CROWDD_QUEUE_WORKERS": "0",
}
PATHS = ("/account/signin", "/account/forgot-password", "/account/register")
_PASSWORD = "a good password"
_CLEAN = ("DELETE FROM attempt", "DELETE FROM queue_item", "DELETE FROM mail", "DELETE FROM one_time_link")


def form(path: str, name: str, number: int) -> dict[str, str]:
    """What is sent there about an address; ``number`` makes user names differ."""
    address = f"{name}@example.org"
    if path == "/account/signin":
        return {"email": address, "password": "not the password"}
    if path == "/account/forgot-password":
        return {"email_addr": address}
    both = {"password": _PASSWORD, "confirm": _PASSWORD}
    return {"name": f"{name}{number}", "fullname": name.title(), "email_addr": address, **both}


def milliseconds(person: Person, path: str, body: dict[str, str]) -> float:
    """How long the answer to a form takes."""
    page = person.ask("GET", path).json
    token = page["form"]["csrf"]
    begun = time.perf_counter()
    answer = person.ask("POST", path, body, **{"X-CSRFToken": token})
    taken = 1000 * (time.perf_counter() - begun)
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {answer.text[:200]}")
    return taken


def measured(url: str, sql: testbed.Sql, turns: int, dice: random.Random) -> dict[str, dict[str, list[float]]]:
    """The times of both sorts of addresses on each page."""
    times: dict[str, dict[str, list[float]]] = {path: {"known": [], "unknown": []} for path in PATHS}
    for path in PATHS:
        for number in range(turns):
            for name in dice.sample(("known", "unknown"), 2):
                for statement in _CLEAN:
                    sql.rows(statement)
                times[path][name].append(milliseconds(Person(url), path, form(path, name, number)))
    return times


def make_known(dsn: str, place: Path) -> None:
    """The account of the one address that has one: known@example.org."""
    environment = {**os.environ, "CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(place / "data")}
    words = ("admin", "create", "--name", "known", "--email", "known@example.org", "--password", "a long password")
    subprocess.run([testbed.BIN / "crowdctl", *words], env=environment, cwd=place, check=True, capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with testbed.folder() as place, testbed.postgres(place) as database:
        make_known(database.dsn, place)
        with testbed.crowdd(database.dsn, place, **SETTINGS) as server:
            times = measured(server.url, testbed.Sql(database.dsn), arguments.turns, random.Random(arguments.seed))
    lines: list[tuple[str, object]] = []
    violations = []
    for path, both in times.items():
        known, unknown = (statistics.median(both[name]) for name in ("known", "unknown"))
        ratio = max(known, unknown) / min(known, unknown)
        lines.append((path, f"known {known:.2f} ms, unknown {unknown:.2f} ms, ratio {ratio:.3f}"))
        violations += [f"{path}: {ratio:.3f} is more than {MAXIMUM}"] if ratio > MAXIMUM else []
    print(table(f"Medians of {arguments.turns} answers each", lines, violations))
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
