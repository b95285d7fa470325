"""make hands: intents of volunteers in Chromium, each compared with the row that is stored.

python -m hands.run [--intents 10000] [--seed 1] [--workers 2] [--only "gallery boxes"] [--resume FOLDER]
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
from pathlib import Path
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
AT_ONCE = 8  # walks of a worker: then it tells what it saw


@attrs.frozen
class Part:
    """Walks of one worker."""

    url: str
    dsn: str
    seed: int
    numbers: list[int]
    names: list[str]
    folder: Path
    presses: bool = False

    @property
    def record(self) -> Path:
        """The file of what became of them."""
        kind = "presses" if self.presses else self.seed
        return self.folder / f"{kind}-{self.numbers[0]}-{self.numbers[-1]}.json"

    def walk(self, number: int) -> Walk:
        """The walk of a number."""
        if not self.presses:
            return walk(self.seed, number, self.names)
        name, size = self.names[number // len(PRESSED_IN)], PRESSED_IN[number % len(PRESSED_IN)]
        return presses(name, World(size))


def part(about: Part) -> list[dict[str, Any]]:
    """Walks some rows and says what became of each intent; what is in the folder already is read."""
    if about.record.exists():
        before: list[dict[str, Any]] = json.loads(about.record.read_text())
        return before
    with browsing(about.url, about.dsn) as (chromium, projects):
        volunteers = Volunteers(chromium, projects, about.url, about.folder)
        rows = [outcome for n in about.numbers for outcome in volunteers.walk(about.walk(n))]
    lines = [seen(outcome) for outcome in rows]
    about.record.write_text(json.dumps(lines, ensure_ascii=False))
    return lines


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


def parts(intents: int, names: list[str], **about: Any) -> Iterator[Part]:
    """So many intents, divided; or a row of presses for each name and size."""
    walks = [*range(len(names) * len(PRESSED_IN) if about["presses"] else -(-intents // ROW))]
    for first in range(0, len(walks), AT_ONCE):
        yield Part(numbers=walks[first : first + AT_ONCE], names=names, **about)


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
@click.option("--workers", default=2, show_default=True)
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
        ProcessPoolExecutor(workers) as pool,
    ):
        about = {"url": server.url, "dsn": postgres.dsn, "seed": seed, "folder": folder}
        if faulty:
            sys.exit(0 if faults(pool, **about) else 1)
        for done in as_completed([pool.submit(part, each) for each in parts(intents, names, presses=pressed, **about)]):
            rows += done.result()
            for row in done.result():
                if row["fault"]:
                    print(row["told"], flush=True)
    print(figures(rows))
    sys.exit(1 if any(row["fault"] for row in rows) else 0)


if __name__ == "__main__":
    main()
