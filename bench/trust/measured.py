"""Whether confidence says how many results are right: crowds of five kinds, and real ones, in memory.

    python -m bench.trust.measured --seeds 1,2,3,4

In each crowd experts decide ``--sample`` results, drawn at random from the first half of the tasks. From then on tasks
stop by what that has measured. *Said* is what the model says, *measured* the confidence by the sample, each minus the
share that is right, in points: of the first half, which the sample is of, and of the second, whose tasks stop by it.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs
import numpy as np

from bench.trust.crowds import Person
from bench.trust.kinds import KINDS, Kind, KindCrowd
from bench.trust.memory import Memory
from bench.trust.play import FOLDED, MAX_ANSWERS, MIN_ANSWERS, Play, Result
from crowdd.features.trust.recalibration import Checked, measured, recalibrate
from crowdd.features.trust.rows import Recalibration
from crowdd.features.trust.weighing import Given as Weighed

REAL: Final = Path(__file__).parents[3] / "shared" / "crowds"
"""Answers of real crowds, as ``item,worker,label,truth``. They are no part of crowdd."""


@attrs.frozen
class Half:
    """Tasks of a crowd: answers for each, the share that is right, and how far model and confidence are from it."""

    answers: float
    right: float
    model: float
    confidence: float


class HalfMeasured(Memory):
    """A project of whose first half of results experts decide a sample; or of none, with ``sample`` 0."""

    def __init__(self, crowd: KindCrowd | RealCrowd, sample: int) -> None:
        super().__init__(crowd)  # type: ignore[arg-type]
        self._sample, self.first = sample, set[int]()

    async def fold(self) -> bool:
        """Also measures, as soon as half of the tasks are complete."""
        done = [number for number, result in enumerate(self.stops) if result is not None]
        if not self.first and len(done) >= len(self.stops) // 2:
            self.first = set(done)
            drawn = np.random.default_rng(len(done)).permutation(done)[: self._sample]
            self.recalibration = recalibrate([self._checked(int(number)) for number in drawn])
        return await super().fold()

    def add(self, number: int, who: Person, label: int, *, last: bool) -> None:
        """An answer to a task, which nobody has asked for it; with the last one it is complete."""
        task = self._tasks[number]
        if task.result is None:
            task.taken.append(Weighed(self._number(who), label))
            self._maximum = len(task.taken) if last else MAX_ANSWERS
            task.wanted = len(task.taken)
            if len(task.taken) >= MIN_ANSWERS or last:
                self._decide(task)

    def _checked(self, number: int) -> Checked:
        result = self.stops[number]
        assert result is not None
        return Checked(result.confidence, result.label == self._crowd.truth[number], number)


class RealCrowd:
    """A real crowd, as ``crowds.Crowd`` is one: the people of a file in random order, who say what they said."""

    def __init__(self, path: Path, seed: int) -> None:
        with path.open(encoding="utf-8") as file:
            rows = [*csv.DictReader(file)]
        classes = sorted({row["truth"] for row in rows} | {row["label"] for row in rows})
        items = sorted({row["item"] for row in rows}, key=int)
        truth = {row["item"]: classes.index(row["truth"]) for row in rows}
        self.chance = np.random.default_rng(seed)
        self.truth = np.array([truth[item] for item in items])
        self._said = {(int(row["worker"]), items.index(row["item"])): classes.index(row["label"]) for row in rows}
        self.rows = [(Person(worker), task, label) for (worker, task), label in self._said.items()]
        self.shape = Kind(path.stem, max(2, len(classes)), (1, 1), tasks=len(items))


async def replayed(crowd: RealCrowd, place: HalfMeasured) -> list[Result]:
    """The answers in random order, as long as their tasks want some; a task without further ones is complete."""
    rows = [crowd.rows[nth] for nth in crowd.chance.permutation(len(crowd.rows))]
    left = Counter(task for _who, task, _said in rows)
    for nth, (who, task, label) in enumerate(rows):
        left[task] -= 1
        place.add(task, who, label, last=not left[task])
        if nth % FOLDED == 0:
            await place.fold()
    return (await place.results())[0]


def halves(place: HalfMeasured, results: Sequence[Result], truth: np.ndarray) -> tuple[Half, Half]:
    """The tasks that were complete when the sample was drawn, and the others."""
    numbers = [number for number, result in enumerate(results) if result.label >= 0]
    first = [number for number in numbers if number in place.first]
    second = [number for number in numbers if number not in place.first]
    return _half(first, results, truth, place.recalibration), _half(second, results, truth, place.recalibration)


def _half(numbers: Iterable[int], results: Sequence[Result], truth: np.ndarray, curve: Recalibration | None) -> Half:
    chosen = [*numbers]
    right = float(np.mean([results[n].label == truth[n] for n in chosen]))
    model = float(np.mean([results[n].confidence for n in chosen]))
    confidence = float(np.mean([measured(curve, results[n].confidence) for n in chosen]))
    return Half(float(np.mean([results[n].counted for n in chosen])), right, model - right, confidence - right)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.trust.measured")
    parser.add_argument("--seeds", default="4101,4102,4103,4104")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--real", type=Path, default=REAL)
    parser.add_argument("--tasks", type=int, default=1000)
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    print("| Crowd | answers | right | said | measured | answers after | right after | said after | measured after |")
    print("|---|---|---|---|---|---|---|---|---|")
    every = list[tuple[Half, Half]]()
    for kind in KINDS:
        pairs = []
        for seed in seeds:
            crowd = KindCrowd(attrs.evolve(kind, tasks=options.tasks), seed)
            place = HalfMeasured(crowd, options.sample)
            outcome = asyncio.run(Play(crowd, place).run())  # type: ignore[arg-type]
            pairs.append(halves(place, outcome.results, crowd.truth))
        _print(kind.name, pairs)
        every += pairs
    _print("all", every)
    for path in sorted(options.real.glob("*.csv")):
        pairs = []
        for seed in seeds:
            real = RealCrowd(path, seed)
            place = HalfMeasured(real, options.sample)
            pairs.append(halves(place, asyncio.run(replayed(real, place)), real.truth))
        _print(path.stem, pairs)
    if not options.real.exists():
        print(f"Real crowds are left out: {options.real} is missing.")
    for name, nth in (("first half", 0), ("second half", 1)):
        model = [abs(pair[nth].model) for pair in every]
        confidence = [abs(pair[nth].confidence) for pair in every]
        print(
            f"{name}: |said - right| {100 * np.mean(model):.1f} points on average, {100 * max(model):.1f} at most;"
            f" |measured - right| {100 * np.mean(confidence):.1f}, {100 * max(confidence):.1f}"
        )


def _print(name: str, pairs: Sequence[tuple[Half, Half]]) -> None:
    cells = [name]
    for nth in (0, 1):
        part = [pair[nth] for pair in pairs]
        cells += [f"{np.mean([each.answers for each in part]):.2f}", f"{np.mean([each.right for each in part]):.3f}"]
        cells += [f"{100 * np.mean([each.model for each in part]):+.1f}"]
        cells += [f"{100 * np.mean([each.confidence for each in part]):+.1f}"]
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
