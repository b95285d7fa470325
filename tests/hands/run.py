"""make hands: intents of volunteers in Chromium, each compared with the row that is stored.

python -m hands.run [--intents 10000] [--seed 1] [--workers 2] [--only "gallery boxes"] [--resume FOLDER]
"""

from __future__ import annotations

import json
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
from hands.intents import ROW, walk
from hands.projects import Projects
from hands.site import Site
from hands.volunteer import Outcome, Volunteers

NO_LIMIT = {"CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "0"}  # all volunteers come from one address
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


def part(about: Part) -> list[dict[str, Any]]:
    """Walks some rows and says what became of each intent; what is in the folder already is read."""
    record = about.folder / f"{about.seed}-{about.numbers[0]}-{about.numbers[-1]}.json"
    if record.exists():
        before: list[dict[str, Any]] = json.loads(record.read_text())
        return before
    site, projects = Site(), None
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=binary(), args=list(FLAGS))
        try:
            projects = Projects(about.url, about.dsn, site)
            volunteers = Volunteers(chromium, projects, about.url, about.folder)
            rows = [outcome for n in about.numbers for outcome in volunteers.walk(walk(about.seed, n, about.names))]
        finally:
            chromium.close()
            site.close()
            if projects:
                projects.close()
    lines = [seen(outcome) for outcome in rows]
    record.write_text(json.dumps(lines, ensure_ascii=False))
    return lines


def seen(outcome: Outcome) -> dict[str, Any]:
    """An outcome as data."""
    return {
        "asked": outcome.intent.asked, "size": outcome.world.size, "fault": outcome.fault, "refused": outcome.refused,
        "told": outcome.told() if outcome.fault else "", "seconds": round(outcome.seconds, 2),
    }  # fmt: skip


def parts(intents: int, names: list[str], **about: Any) -> Iterator[Part]:
    """So many intents, divided."""
    walks = [*range(-(-intents // ROW))]
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
@click.option("--resume", type=click.Path(path_type=Path), help="A folder: what is in it is not done again.")
def main(intents: int, seed: int, workers: int, only: str, resume: Path | None) -> None:
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
        for done in as_completed([pool.submit(part, each) for each in parts(intents, names, **about)]):
            rows += done.result()
            for row in done.result():
                if row["fault"]:
                    print(row["told"], flush=True)
    print(figures(rows))
    sys.exit(1 if any(row["fault"] for row in rows) else 0)


if __name__ == "__main__":
    main()
