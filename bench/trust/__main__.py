"""What adaptive redundancy saves, and what attacks on it come to: made-up crowds answer over HTTP.

    python -m bench.trust [--crowds good-2-even,...] [--seeds 1,2,3] [--quick] [--in-memory] [--json FILE]

Eighteen crowds: good, mixed and poor volunteers; 2, 4 and 10 classes, even or one in 80 % of the tasks. 900 tasks, 120
volunteers, of whom a few give most of the answers, 60 gold tasks or none; at least 2 answers, until 95 % sure, at most
11. They are compared with the least fixed number of answers with which the best of majority, one coin and Dawid-Skene
is as accurate, on crowds of the same seeds without a server: as accurate as the labels that were decided, or as one
coin or Dawid-Skene on the same answers, if that is more. ``at once`` is without that.

Volunteers come one after the other; about thirty hold a task at any time, and requests are made one at a time in each
project. Several projects are answered side by side. A server folds what completed tasks have taught every two seconds.
Here a project gets a hundred answers in that time, which no real project of this size does, so the bench halts the job
and calls the same functions after every twenty answers: that is two seconds of a project with ten answers a second.
Everything else is the server as it is, but for ``synchronous_commit = off``. First of all the bench proves on one crowd
that the same rule in memory decides alike. With ``--in-memory`` that one decides alone, in a tenth of the time.

Gates: at least 35 % saved in at least 14 of the 18 crowds with gold tasks; the calibration error is at most 0.03; and
the attacks capture no more than in the simulation in which the rule was chosen. Exit status 1: one is broken.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import click

from bench.support import testbed
from bench.support.testbed import Sql
from bench.trust import equality, figures, fixed
from bench.trust.crowds import CONFUSED, SHAPES, Crowd, Shape
from bench.trust.figures import ASSAULTS, Assault, Capture, Saving
from bench.trust.site import MemorySite, ServerSite, Site, answered

_ATTACKED = Shape("mixed", 2, tasks=800)
_COMPARED = 7  # answers to each task, with which other methods are attacked


async def savings(site: Site, shapes: Sequence[Shape], seeds: Sequence[int]) -> list[Saving]:
    """Each crowd, in the order in which they are given."""
    return await asyncio.gather(*(_saving(site, shape, seeds) for shape in shapes))


async def _saving(site: Site, shape: Shape, seeds: Sequence[int]) -> Saving:
    outcomes = await answered(site, shape, seeds)
    saving = figures.saving(shape, outcomes, await asyncio.to_thread(fixed.curve, shape, seeds))
    click.echo(figures.line(saving))
    return saving


async def assaults(site: Site, seeds: Sequence[int]) -> list[Capture]:
    """Every attack."""
    return await asyncio.gather(*(_assault(site, each, seeds) for each in ASSAULTS))


async def _assault(site: Site, assault: Assault, seeds: Sequence[int]) -> Capture:
    shape = attrs.evolve(_ATTACKED, attack=assault.attack, gold=_ATTACKED.gold if assault.gold else 0)
    outcomes = await answered(site, shape, seeds)
    seven = [await asyncio.to_thread(fixed.captured, Crowd(shape, seed), _COMPARED) for seed in seeds]
    capture = figures.capture(assault, outcomes, seven)
    click.echo(capture.line)
    return capture


def chosen(names: str, gold: str) -> list[Shape]:
    """The shapes that the options name; the eighteen without names. ``gold``: yes, no or both."""
    wanted = [name for name in names.split(",") if name]
    every = {shape.name: shape for shape in SHAPES + CONFUSED}
    if unknown := set(wanted) - set(every):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}; there are {', '.join(every)}")
    shapes = [every[name] for name in wanted] or list(SHAPES)
    numbers = {"yes": [shapes[0].gold], "no": [0], "both": [shapes[0].gold, 0]}[gold]
    return [attrs.evolve(shape, gold=number) for number in numbers for shape in shapes]


async def run(
    site: Site, shapes: Sequence[Shape], seeds: Sequence[int], *, attacked: bool
) -> tuple[dict[str, object], list[str]]:
    """All figures, and what is violated."""
    saved = await savings(site, shapes, seeds)
    captured = await assaults(site, seeds) if attacked else []
    document = {"crowds": [attrs.asdict(each) | {"saved": each.saved} for each in saved]}
    violations = figures.broken(saved) + figures.captured_too_much(captured)
    return {**document, "attacks": [attrs.asdict(each) for each in captured]}, violations


@contextlib.contextmanager
def server_site() -> Iterator[tuple[ServerSite, list[str]]]:
    """A server of its own; the list gets what is wrong with it in the end."""
    complaints: list[str] = []
    with testbed.folder() as place, testbed.postgres(place) as postgres, testbed.crowdd(postgres.dsn, place) as server:
        postgres.set("synchronous_commit", "off")
        site = ServerSite(server, Sql(postgres.dsn))
        same, different = testbed.run(equality.proven(site.one))
        click.echo(same)
        complaints += different
        yield site, complaints
        complaints += [f"The server's log: {line}" for line in testbed.complaints(server)]


@click.command()
@click.option("--crowds", default="", help="Some crowds, separated by commas, as they are named in the table.")
@click.option("--seeds", default="1,2,3", show_default=True, help="A crowd of each kind for each of these.")
@click.option(
    "--gold",
    type=click.Choice(["yes", "no", "both"]),
    default="both",
    show_default=True,
    help="Whether projects have gold tasks.",
)
@click.option("--attacks/--no-attacks", default=True, show_default=True, help="Whether attacks are played.")
@click.option("--quick", is_flag=True, help="One crowd, one seed, no attacks.")
@click.option("--in-memory", is_flag=True, help="Without a server: the rule alone.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Writes all figures to a file.")
def main(crowds: str, seeds: str, gold: str, attacks: bool, quick: bool, in_memory: bool, file: Path | None) -> None:
    """Plays crowds and prints a line for each as soon as it is known."""
    if quick:
        crowds, seeds, gold, attacks = "mixed-4-even", "1", "yes", False
    shapes, numbers = chosen(crowds, gold), [int(seed) for seed in seeds.split(",")]
    with contextlib.nullcontext((MemorySite(), [])) if in_memory else server_site() as (site, complaints):
        document, violations = testbed.run(run(site, shapes, numbers, attacked=attacks))
    if file is not None:
        file.write_text(json.dumps(document, indent=1) + "\n")
    click.echo("\n".join([f"VIOLATED: {each}" for each in violations + complaints] or ["Nothing is violated."]))
    sys.exit(bool(violations + complaints))


if __name__ == "__main__":
    main()
