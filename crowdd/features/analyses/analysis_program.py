"""The program that does one analysis, with bounded memory and time and a low priority: ``process.start`` starts it.

It knows no database. The file of findings has JSON lines: a summary, then tasks and volunteers in chunks. Where it
refuses, the only line says why.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import orjson

from crowdd.features.analyses import agreement, crowd_kit, methods
from crowdd.features.analyses.agreement import Scale
from crowdd.features.analyses.methods import (
    METHODS,
    PAIRS,
    TEXTS,
    Answers,
    Estimate,
    Method,
    Reals,
    accuracies,
    winners,
)
from crowdd.features.analyses.numbering import Numbered, number
from crowdd.features.analyses.rows import ItemEstimate
from crowdd.kernel.concurrency.isolated import Limits
from crowdd.kernel.errors import CrowddError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy
from crowdd.kernel.values import Values

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

LIMITS: Final = Limits(memory=4_000_000_000, cpu_seconds=1800, file_bytes=4_000_000_000, niceness=19)
CHUNK: Final = 1000  # tasks or volunteers of one line
_DIGITS: Final = 6
_METHODS: Final[Mapping[str, Callable[[Answers, Mapping[str, float]], Estimate]]] = {
    "agreement": methods.estimate_majority,
    "dawid_skene": methods.estimate_dawid_skene,
    "glad": crowd_kit.estimate_glad,
    "kos": crowd_kit.estimate_kos,
    "m_msr": crowd_kit.estimate_m_msr,
    "mace": crowd_kit.estimate_mace,
    "majority": methods.estimate_majority,
    "one_coin": methods.estimate_one_coin,
    "wawa": crowd_kit.estimate_wawa,
    "zero_based_skill": crowd_kit.estimate_zero_based_skill,
}


def write_findings(answers: str, findings: str, options: str) -> None:
    """Analyses the answers of a file. ``options``: see ``analyse``, as JSON."""
    with Path(findings).open("wb") as out:
        try:
            for line in analyse(Path(answers), orjson.loads(options)):
                out.write(orjson.dumps(line) + b"\n")
        except CrowddError as error:
            out.write(orjson.dumps({"error": str(error)}) + b"\n")


def analyse(path: Path, options: Values) -> Iterator[Values]:
    """The lines of the findings. ``options``: see ``AnalysisRunner``. Raises InvalidValueError."""
    method = METHODS[options["method"]]
    method.require()
    with path.open("rb") as file:
        pairs = _pairs(options) if method.takes == PAIRS else {}
        lines: Iterable[bytes] = _paired(file, pairs) if pairs else file
        numbered = number(lines, options["choices"], nulls=options["nulls"], texts=method.takes == TEXTS)
    begun = time.process_time()
    answers = as_arrays(numbered)
    if method.takes == TEXTS:
        yield from _texts(method, numbered, answers, options["parameters"])
        return
    figures = None
    items: list[ItemEstimate] | None = None
    if method.takes == PAIRS:
        of_tasks = [[pairs[task][place - 1] for place in (1, 2)] for task in numbered.tasks]
        answers = _of_two(numbered, answers)
        estimate, items = crowd_kit.estimate_bradley_terry(answers, options["parameters"], of_tasks)
        numbered.classes = [1, 2]
    else:
        estimate = _METHODS[method.name](answers, options["parameters"])
    if method.name == agreement.NAME:
        scale = Scale(numbered.choices, options["unordered"], int(numbered.hash[:8], 16))
        figures = agreement.figures(answers, numbered.tasks, numbered.actors, numbered.classes, scale)
    seconds = time.process_time() - begun
    yield _summary(method, numbered, estimate, seconds) | {"agreement": figures, "items": items}
    yield from _tasks(numbered, estimate)
    yield from _volunteers(numbered, answers, estimate)


def _pairs(options: Values) -> dict[int, list[str]]:
    """The two items of each task that has two, by the file of pairs. Raises InvalidValueError without any."""
    with Path(options["pairs"]).open("rb") as file:
        pairs = {task: [one, other] for task, one, other in map(orjson.loads, file) if one and other and one != other}
    if not pairs:
        words = _("No task has two different items in its columns “%(first)s” and “%(second)s”.", **options["columns"])
        raise InvalidValueError(words)
    return pairs


def _paired(lines: Iterable[bytes], pairs: Mapping[int, list[str]]) -> Iterator[bytes]:
    """The answers to tasks with two items."""
    return (line for line in lines if orjson.loads(line)[0] in pairs)


def _of_two(numbered: Numbered, answers: Answers) -> Answers:
    """With both choices as classes, also where nobody took one of them."""
    label = np.array(numbered.classes, dtype=np.int32)[answers.label] - 1
    return attrs.evolve(answers, label=label, n_classes=2)


def _texts(method: Method, numbered: Numbered, answers: Answers, parameters: Mapping[str, float]) -> Iterator[Values]:
    """The lines of the findings about texts: of each task the one that was chosen."""
    begun = time.process_time()
    written = [str(text) for text in numbered.choices]
    result = crowd_kit.choose_texts(answers, parameters, written)
    numbered.choices, numbered.classes = [], []
    nothing = Estimate(np.empty((1, 0)), None, result.rounds, None)
    summary = _summary(method, numbered, nothing, time.process_time() - begun)
    yield summary | {"agreement": None, "items": None}
    for begin in range(0, len(numbered.tasks), CHUNK):
        tasks, chosen = numbered.tasks[begin : begin + CHUNK], result.chosen[begin : begin + CHUNK]
        yield {"tasks": [[task, None, [], written[nth]] for task, nth in zip(tasks, chosen, strict=True)]}
    yield from _volunteer_lines(numbered, answers, result.nearness, result.skill)


def as_arrays(numbered: Numbered) -> Answers:
    """The answers as the methods take them."""
    n_tasks, n_actors, n_classes = len(numbered.tasks), len(numbered.actors), len(numbered.classes)
    columns = (_ints(numbered.task), _ints(numbered.volunteer), _ints(numbered.label))
    return Answers(*columns, n_tasks, n_actors, n_classes)


def _ints(numbers: array[int]) -> Any:
    return np.frombuffer(numbers, dtype=np.int32)


def _summary(method: Method, numbered: Numbered, estimate: Estimate, seconds: float) -> Values:
    frequencies = [0.0] * len(numbered.choices)
    for place, share in zip(numbered.classes, estimate.posterior.mean(axis=0), strict=True):
        frequencies[place - 1] = round(float(share), _DIGITS)
    return {
        "n_answers": len(numbered.label),
        "n_unfit": numbered.n_unfit,
        "n_tasks": len(numbered.tasks),
        "n_volunteers": len(numbered.actors),
        "choices": numbered.choices,
        "frequencies": frequencies,
        "input_hash": numbered.hash,
        "versions": _versions(method),
        "rounds": estimate.rounds,
        "converged": estimate.converged,
        "seconds": seconds,
    }


def _versions(method: Method) -> dict[str, str]:
    names = {"crowdkit": "crowd-kit"}
    return {name: version(name) for name in ("crowdd", *(names.get(each, each) for each in method.libraries))}


def _tasks(numbered: Numbered, estimate: Estimate) -> Iterator[Values]:
    """Each task with the number of its class, or null, and the probability of each choice."""
    classes = np.array(numbered.classes)
    best = winners(estimate.posterior)
    for begin in range(0, len(numbered.tasks), CHUNK):
        part = slice(begin, begin + CHUNK)
        table = np.zeros((len(best[part]), len(numbered.choices)))
        table[:, classes - 1] = estimate.posterior[part].round(_DIGITS)
        labels = [None if one < 0 else int(classes[one]) for one in best[part]]
        yield {"tasks": [*map(list, zip(numbered.tasks[part], labels, table.tolist(), strict=True))]}


def _volunteers(numbered: Numbered, answers: Answers, estimate: Estimate) -> Iterator[Values]:
    return _volunteer_lines(numbered, answers, accuracies(answers, estimate.posterior), estimate.skill)


def _volunteer_lines(numbered: Numbered, answers: Answers, accuracy: Reals, skills: Reals | None) -> Iterator[Values]:
    """Each actor with the number of their answers, accuracy and skill."""
    answer_counts = answers.per_volunteer().astype(int).tolist()
    accuracy = accuracy.round(_DIGITS).tolist()
    skill = [None] * len(answer_counts) if skills is None else skills.round(_DIGITS).tolist()
    rows = [*map(list, zip(numbered.actors, answer_counts, accuracy, skill, strict=True))]
    for begin in range(0, len(rows), CHUNK):
        yield {"volunteers": rows[begin : begin + CHUNK]}
