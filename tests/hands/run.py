"""make hands: intents of volunteers in Chromium, each compared with the row that is stored.

python -m hands.run [--intents 10000] [--seed 1] [--workers 4] [--only "gallery boxes"] [--resume FOLDER]
python -m hands.run --presses   the first press on each task of a row, in three sizes
python -m hands.run --faults    faults put into the page on purpose, and what robots say of each
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import chain, islice
from multiprocessing import Manager
from pathlib import Path
from queue import Empty
from typing import Any

import attrs
import click
from playwright.sync_api import sync_playwright
from support.servers.chromium import FLAGS, binary

from bench.support import testbed
from hands.asked import everything
from hands.faults import FAULTS, Fault
from hands.intents import ROW, Walk, presses, walk
from hands.projects import Projects
from hands.site import Site
from hands.volunteer import Outcome, Volunteers
from hands.worlds import World

NO_LIMIT = {"CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "0"}  # all volunteers come from one address
PRESSED_IN = ("1280x900", "390x844", "844x390")
RENEWED = 200  # walks in one browser


@attrs.frozen
class Run:
    """Walks on a server; what became of each is in a folder."""

    url: str
    dsn: str
    seed: int
    names: list[str]
    folder: Path
    presses: bool = False

    def walk(self, number: int) -> Walk:
        """The walk of a number."""
        if not self.presses:
            return walk(self.seed, number, self.names)
        name, size = self.names[number // len(PRESSED_IN)], PRESSED_IN[number % len(PRESSED_IN)]
        return presses(name, World(size))

    def record(self, number: int) -> Path:
        """The file of what became of a walk."""
        return self.folder / f"{'presses' if self.presses else self.seed}-walk-{number}.json"

    def walked(self, number: int, volunteers: Volunteers) -> list[dict[str, Any]]:
        """What became of each intent of a walk: faults are said at once."""
        lines = [seen(outcome) for outcome in volunteers.walk(self.walk(number))]
        for line in lines:
            if line["fault"]:
                print(line["told"], flush=True)
        self.record(number).write_text(json.dumps(lines, ensure_ascii=False))
        return lines


def work(run: Run, queue: Any) -> list[dict[str, Any]]:
    """Walks while there are some that nobody walks."""
    numbers, rows = waiting(queue), list[dict[str, Any]]()
    while first := [*islice(numbers, 1)]:
        with browsing(run.url, run.dsn) as (chromium, projects):
            volunteers = Volunteers(chromium, projects, run.url, run.folder)
            for number in chain(first, islice(numbers, RENEWED - 1)):
                rows += run.walked(number, volunteers)
    return rows


def waiting(queue: Any) -> Iterator[int]:
    """What is left in a queue."""
    with contextlib.suppress(Empty):
        while True:
            yield queue.get_nowait()


@contextlib.contextmanager
def browsing(url: str, dsn: str) -> Iterator[tuple[Any, Projects]]:
    """Chromium, and the projects on a server."""
    site, projects = Site(), None
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=binary(), args=list(FLAGS))
        try:
            projects = Projects(url, dsn, site)
            yield chromium, projects
        finally:
            chromium.close()
            site.close()
            if projects:
                projects.close()


def noticed(fault: Fault, url: str, dsn: str, seed: int, folder: Path) -> str:
    """What robots say of a page with a fault; "" where none of them says anything that fits."""
    with browsing(url, dsn) as (chromium, projects):
        volunteers = Volunteers(chromium, projects, url, folder, fault)
        outcomes = (each for n in fault.walks for each in volunteers.walk(walk(seed, n, [fault.asked])))
        return next((each.fault for each in outcomes if re.search(fault.says, each.fault)), "")


def faults(pool: ProcessPoolExecutor, **about: Any) -> bool:
    """Prints each fault with what robots say of it. Whether all were noticed."""
    asked = {pool.submit(noticed, fault, **about): fault for fault in FAULTS}
    missed = 0
    for done in as_completed(asked):
        missed += not done.result()
        print(f"{'noticed' if done.result() else 'MISSED':8} {asked[done].name}\n         {done.result()}", flush=True)
    print(f"{len(FAULTS)} faults put in on purpose, {len(FAULTS) - missed} noticed")
    return not missed


def seen(outcome: Outcome) -> dict[str, Any]:
    """An outcome as data."""
    return {
        "asked": outcome.intent.asked, "size": outcome.world.size, "fault": outcome.fault, "refused": outcome.refused,
        "told": outcome.told() if outcome.fault else "", "seconds": round(outcome.seconds, 2),
    }  # fmt: skip


def figures(rows: list[dict[str, Any]]) -> str:
    """Counts by what is asked and by size: intents, faults."""
    lines = []
    for key in ("size", "asked"):
        done, faults = Counter(row[key] for row in rows), Counter(row[key] for row in rows if row["fault"])
        lines += [f"{name:34} {done[name]:6} intents {faults[name]:5} faults" for name in sorted(done)]
    refused = sum(bool(row["refused"]) and not row["fault"] for row in rows)
    seconds = sum(row["seconds"] for row in rows)
    return "\n".join(
        [
            *lines,
            f"{len(rows)} intents, {sum(bool(row['fault']) for row in rows)} faults, {refused} refused as they may be, {seconds:.0f} s",
        ]
    )


@click.command()
@click.option("--intents", default=10_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--workers", default=4, show_default=True)
@click.option("--only", default="", help="Only what is asked under names that have this in them.")
@click.option("--presses", "pressed", is_flag=True, help="The first press on each task of a row, in three sizes.")
@click.option("--faults", "faulty", is_flag=True, help="Faults put into the page on purpose: each must be noticed.")
@click.option("--resume", type=click.Path(path_type=Path), help="A folder: what is in it is not done again.")
def main(intents: int, seed: int, workers: int, only: str, pressed: bool, faulty: bool, resume: Path | None) -> None:
    """Ends with 1 where a stored row is not what was meant."""
    names = [name for name in everything() if only in name]
    folder = resume or Path(tempfile.mkdtemp(prefix="hands-"))
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with (
        testbed.folder() as place,
        testbed.postgres(place) as postgres,
        testbed.crowdd(postgres.dsn, place, **NO_LIMIT) as server,
        Manager() as manager,
        ProcessPoolExecutor(workers) as pool,
    ):
        about = {"url": server.url, "dsn": postgres.dsn, "seed": seed, "folder": folder}
        if faulty:
            sys.exit(0 if faults(pool, **about) else 1)
        run, queue = Run(names=names, presses=pressed, **about), manager.Queue()
        for number in range(len(names) * len(PRESSED_IN) if pressed else -(-intents // ROW)):
            if run.record(number).exists():
                rows += json.loads(run.record(number).read_text())
            else:
                queue.put(number)
        for done in [pool.submit(work, run, queue) for _ in range(workers)]:
            rows += done.result()
    print(figures(rows))
    sys.exit(1 if any(row["fault"] for row in rows) else 0)


if __name__ == "__main__":
    main()
