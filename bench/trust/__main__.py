"""What adaptive redundancy saves, and what attacks on it come to: made-up crowds answer through a real server, over HTTP.

    python -m bench.trust [--crowds good-2-even,...] [--seeds 3] [--quick] [--json FILE]

Eighteen crowds: good, mixed and poor volunteers; 2, 4 and 10 classes, even or one in 80 % of the tasks. 900 tasks, 120
volunteers, of whom a few give most of the answers, 60 gold tasks or none; at least 2 answers, until 95 % sure, at most
11. They are compared with the least fixed number of answers with which the best of majority, one coin and Dawid-Skene
is as accurate, on crowds of the same seeds without a server.

Volunteers come one after the other; about thirty hold a task at any time, and requests are made one at a time in each
project. Several projects are answered side by side. A server folds what completed tasks have taught every two seconds.
Here a project gets a hundred answers in that time, which no real project of this size does, so the bench halts the job
and calls the same functions after every twenty answers: that is two seconds of a project with ten answers a second.
Everything else is the server as it is.

Gates: at least 35 % saved in at least 14 of the 18 crowds with gold tasks; the calibration error is at most 0.03; and
the attacks capture no more than in the simulation in which the rule was chosen. Exit status 1: one is broken.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import click
from support.person import Person
from support.servers.live import LiveServer

from bench.support import testbed
from bench.support.testbed import Sql
from bench.trust import equality, figures, fixed, play
from bench.trust.crowds import SHAPES, Crowd, Shape
from bench.trust.figures import ASSAULTS, Assault, Capture, Saving

AT_ONCE = 6
_VOLUNTEERS, _ATTACKED = 120, Shape("mixed", 2, tasks=800)
_numbers = itertools.count(1)


class Site:
    """A running server with the owner of all projects."""

    def __init__(self, server: LiveServer, sql: Sql) -> None:
        self._server, self._sql = server, sql
        self._owner = Person(server.url).register(f"owner{time.time_ns()}")
        self._places = asyncio.Semaphore(AT_ONCE)
        play.halt_folding(sql)

    async def answered(self, shape: Shape, seeds: Sequence[int]) -> list[play.Outcome]:
        """What crowds of a shape come to, one for each seed."""
        return await asyncio.gather(*(self.one(Crowd(shape, seed)) for seed in seeds))

    async def one(self, crowd: Crowd, everybody: bool = False) -> play.Outcome:
        """What a crowd comes to in a project of its own. ``everybody``: see ``play.fold``."""
        async with self._places:
            name = f"crowd{next(_numbers)}x{time.time_ns() // 1_000_000}"
            project = await asyncio.to_thread(play.made, self._server, self._owner, name, crowd)
            return await play.Play(crowd, project, self._server.port, self._sql, everybody=everybody).run()


def without_gold(shape: Shape) -> Shape:
    """The same crowd in a project that has no gold tasks."""
    return attrs.evolve(shape, gold=0)


async def savings(site: Site, shapes: Sequence[Shape], seeds: Sequence[int]) -> list[Saving]:
    """Each crowd with gold tasks, then without."""
    return [
        found for pair in await asyncio.gather(*(_both(site, shape, seeds) for shape in shapes)) for found in pair
    ]


async def _both(site: Site, shape: Shape, seeds: Sequence[int]) -> list[Saving]:
    curve = await asyncio.to_thread(fixed.curve, shape, seeds)
    lines = []
    for each in (shape, without_gold(shape)):
        lines.append(figures.saving(each, await site.answered(each, seeds), curve))
        click.echo(figures.line(lines[-1]))
    return lines


async def assaults(site: Site, seeds: Sequence[int]) -> list[Capture]:
    """Every attack."""
    return await asyncio.gather(*(_assault(site, each, seeds) for each in ASSAULTS))


async def _assault(site: Site, assault: Assault, seeds: Sequence[int]) -> Capture:
    shape = attrs.evolve(_ATTACKED, attack=assault.attack, gold=_ATTACKED.gold if assault.gold else 0)
    found = figures.capture(assault, await site.answered(shape, seeds))
    click.echo(found.line)
    return found


def chosen(names: str) -> list[Shape]:
    """The shapes that an option names; all without names."""
    wanted = [name for name in names.split(",") if name]
    unknown = set(wanted) - {shape.name for shape in SHAPES}
    if unknown:
        raise click.BadParameter(f"{', '.join(sorted(unknown))}; there are {', '.join(each.name for each in SHAPES)}")
    return [shape for shape in SHAPES if not wanted or shape.name in wanted]


async def run(site: Site, shapes: Sequence[Shape], seeds: Sequence[int], *, attacked: bool) -> tuple[dict[str, object], list[str]]:
    """All figures, and what is violated."""
    same, violations = await equality.proven(site.one)
    click.echo(same)
    saved = await savings(site, shapes, seeds)
    captured = await assaults(site, seeds) if attacked else []
    violations += figures.broken(saved) + figures.captured_too_much(captured)
    told = {"crowds": [attrs.asdict(each) | {"saved": each.saved} for each in saved]}
    return {**told, "attacks": [attrs.asdict(each) for each in captured], "equality": same}, violations


@click.command()
@click.option("--crowds", default="", help="Some crowds, separated by commas, as they are named in the table.")
@click.option("--seeds", default=3, show_default=True, help="How many crowds of each kind.")
@click.option("--attacks/--no-attacks", default=True, show_default=True, help="Whether attacks are played.")
@click.option("--quick", is_flag=True, help="One crowd, one seed, no attacks.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Writes all figures to a file.")
def main(crowds: str, seeds: int, attacks: bool, quick: bool, file: Path | None) -> None:
    """Plays crowds and prints a line for each as soon as it is known."""
    if quick:
        crowds, seeds, attacks = "mixed-4-even", 1, False
    with testbed.folder() as place, testbed.postgres(place) as postgres, testbed.crowdd(postgres.dsn, place) as server:
        postgres.set("synchronous_commit", "off")
        site = Site(server, Sql(postgres.dsn))
        told, violations = testbed.run(run(site, chosen(crowds), range(1, seeds + 1), attacked=attacks))
        violations += [f"The server's log: {line}" for line in testbed.complaints(server)]
    if file is not None:
        file.write_text(json.dumps(told, indent=1) + "\n")
    click.echo("\n".join([f"VIOLATED: {sentence}" for sentence in violations] or ["Nothing is violated."]))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
