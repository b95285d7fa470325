"""What all answers say at each question, as bars, histograms, lists and maps. Pure.

Of a fact this is the consensus of each task, of an opinion every answer: opinions have no consensus. Their shares have
intervals, which say how far chance alone moves them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean, median, pstdev, quantiles
from typing import Final, Literal, TypedDict

from crowdd.features.projects import dataset
from crowdd.features.results.comparing import Answer
from crowdd.features.results.consensus import wilson_interval
from crowdd.features.results.rows import AnswerSample, PlaceBin, ResultSample
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField, fits, of_questions
from crowdd.kinds.answers.fields import read_declaration
from crowdd.kinds.answers.reading import MISSING, is_unsure, value_at
from crowdd.kinds.answers.words import Words
from crowdd.kinds.questions.format import QUESTIONS
from crowdd.kinds.questions.options import is_number, values_of
from crowdd.kinds.questions.suggested import suggesting

Picture = Literal["bars", "histogram", "ranking", "rows", "texts", "map", "marks", "outcomes", "none"]
_BINS: Final = 10  # of a histogram
_TEXTS: Final = 20  # that are listed
_PLACES: Final = 500  # that are drawn
_MIN_CELL: Final = 5
"""Cells of a cross table with fewer people, but some, stay empty: nobody is found by two answers."""
_SPANS: Final = (1, 2, 5)


class Bar(TypedDict):
    """``n`` say this, a share of those who say something, with its 95 % interval by Wilson."""

    label: object
    n: int
    share: float
    low: float
    high: float


class Ranked(TypedDict):
    """An entry with its mean rank, from 1, and the standard deviation of its ranks."""

    label: str
    rank: float
    spread: float


class Figures(TypedDict):
    """Of numbers: the median, and between what half of them lie."""

    median: float
    lower: float
    upper: float


class Row(TypedDict):
    """A row of a table of questions."""

    label: str
    n: int
    bars: list[Bar]


class QuestionResult(TypedDict):
    """A question with its own picture. ``n`` answers (of an opinion) or tasks (of a fact) say something there.

    ``field`` is the number of its answer field from 0; None without one.
    """

    name: str
    text: str
    type: str
    opinion: bool
    field: int | None
    picture: Picture
    n: int
    unsure: int
    nothing: int
    bars: list[Bar]
    figures: Figures | None
    ranks: list[Ranked]
    rows: list[Row]
    texts: list[str]
    points: list[PlaceBin]


def bars_of(counts: Mapping[Answer, int], n: int, label: Callable[[Answer], object] = lambda value: value) -> list[Bar]:
    """A bar for each value that is counted."""
    bars = []
    for value, count in counts.items():
        low, high = wilson_interval(count, n) if n else (0.0, 0.0)
        share = count / n if n else 0.0
        bars.append(Bar(label=label(value), n=count, share=share, low=max(low, 0.0), high=min(high, 1.0)))
    return bars


def figures_of(values: Sequence[float]) -> Figures:
    """The median of numbers, and the quarters."""
    lower, _, upper = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return Figures(median=float(median(values)), lower=float(lower), upper=float(upper))


def histogram_of(values: Sequence[float]) -> dict[str, int]:
    """How many numbers lie in each of at most some ten bins of a round width; of few whole numbers, each by itself."""
    minimum, maximum = min(values), max(values)
    whole = all(float(value).is_integer() for value in values)
    if whole and maximum - minimum <= _BINS:
        counts = Counter(int(value) for value in values)
        return {_figure(at): counts[at] for at in range(int(minimum), int(maximum) + 1)}
    wide = _round_width((maximum - minimum) / _BINS) if maximum > minimum else 1.0
    first = math.floor(minimum / wide)
    bins = Counter(math.floor(value / wide) - first for value in values)
    edges = [((first + nth) * wide, (first + nth + 1) * wide - whole) for nth in range(max(bins) + 1)]
    return {f"{_figure(lower)} – {_figure(upper)}": bins[nth] for nth, (lower, upper) in enumerate(edges)}


def _round_width(minimum: float) -> float:
    power = 10.0 ** math.floor(math.log10(minimum))
    return float(next((span * power for span in _SPANS if span * power >= minimum), 10 * power))


def _figure(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def years_of(dates: Iterable[str]) -> dict[str, int]:
    """How many dates lie in each year; of more than some ten years, in each decade or century."""
    years = sorted(int(date[:4]) for date in dates)
    wide = next((wide for wide in (1, 10, 100) if years[-1] // wide - years[0] // wide < _BINS * 2), 1000)
    counts = Counter(year // wide for year in years)
    span = range(years[0] // wide, years[-1] // wide + 1)
    return {str(at) if wide == 1 else f"{at * wide}–{at * wide + wide - 1}": counts[at] for at in span}


def ranks_of(values: Sequence[Sequence[str]], words: Words) -> list[Ranked]:
    """Each entry with its mean rank, the first one first (Borda)."""
    ranks: dict[str, list[int]] = {}
    for order in values:
        for nth, entry in enumerate(order, 1):
            ranks.setdefault(entry, []).append(nth)
    ranked = [
        Ranked(label=str(words.said(entry)), rank=mean(places), spread=pstdev(places))
        for entry, places in ranks.items()
    ]
    return sorted(ranked, key=lambda one: one["rank"])


def shown_fields(info: Values, fields: Sequence[AnswerField]) -> list[AnswerField]:
    """The answer fields of all questions, of which the first are the declared ones; without questions these."""
    document = info.get(QUESTIONS)
    return [*fields] if document is None else [read_declaration(each) for each in of_questions(document, None)]


class _Said(TypedDict):
    values: list[Answer]
    unsure: int
    nothing: int


def _said(field: AnswerField, values: Iterable[Answer]) -> _Said:
    """The values that fit a field, and how many say "can't tell" or "nothing there" in their place."""
    counted = _Said(values=[], unsure=0, nothing=0)
    bare = AnswerField(name=field.name, path=(), type=field.type, choices=field.choices, min=field.min, max=field.max)
    for value in values:
        if value is None or is_unsure(field, value):
            counted["unsure"] += 1
        elif value == [] and field.type not in ("labels", "ranking"):
            counted["nothing"] += 1
        elif fits(bare, value):
            counted["values"].append(value)
    return counted


def question_results(
    info: Values,
    fields: Sequence[AnswerField],
    words: Mapping[str, Words],
    answers: Sequence[AnswerSample],
    results: Sequence[ResultSample],
) -> list[QuestionResult]:
    """For each question, or for each answer field of a project without a list of questions."""
    shown: list[QuestionResult] = []
    for name, nths in _by_question(info, fields):
        single = [_one(fields[nth], nth, words, answers, results) for nth in nths]
        if not nths or fields[nths[0]].name == name:
            shown += single
            continue
        rows = [Row(label=words[one["name"]].text.rpartition(" – ")[2], n=one["n"], bars=one["bars"]) for one in single]
        about = {"name": name, "text": words[name].text, "picture": "rows", "rows": rows, "bars": []}
        shown.append({**single[0], **about, "n": max(row["n"] for row in rows), "unsure": 0})  # type: ignore[typeddict-item]
    return shown


def _by_question(info: Values, fields: Sequence[AnswerField]) -> list[tuple[str, list[int]]]:
    """The numbers of the fields of each question, by its name."""
    document = info.get(QUESTIONS)
    if document is None:
        return [(field.name, [nth]) for nth, field in enumerate(fields)]
    numbers = {field.name: nth for nth, field in enumerate(fields)}
    by_question = []
    for question in (each for step in document["steps"] for each in step.get("questions", [])):
        name = question["name"]
        names = [f"{name}: {row}"[:100] for row in values_of(question["rows"])] if "rows" in question else [name]
        if nths := [numbers[each] for each in names if each in numbers]:
            by_question.append((name, nths))
    return by_question


def _values(
    field: AnswerField, nth: int, answers: Sequence[AnswerSample], results: Sequence[ResultSample]
) -> list[Answer]:
    if field.opinion:
        return [value_at(answer["info"], field.path) for answer in answers if _has(answer["info"], field)]
    consensuses = (result["said"][nth] if nth < len(result["said"]) else None for result in results)
    return [one["value"] for one in consensuses if one is not None and "value" in one]


def _has(info: object, field: AnswerField) -> bool:
    return value_at(info, field.path) is not MISSING


def _one(
    field: AnswerField,
    nth: int,
    words: Mapping[str, Words],
    answers: Sequence[AnswerSample],
    results: Sequence[ResultSample],
) -> QuestionResult:
    own = words.get(field.name, Words(field.name))
    counted = _said(field, _values(field, nth, answers, results))
    values = counted["values"]
    result = QuestionResult(
        name=field.name,
        text=own.text,
        type=field.type,
        opinion=field.opinion,
        field=nth,
        picture="none",
        n=len(values),
        unsure=counted["unsure"],
        nothing=counted["nothing"],
        bars=[],
        figures=None,
        ranks=[],
        rows=[],
        texts=[],
        points=[],
    )
    return _drawn(result, field, own, values)


def _drawn(result: QuestionResult, field: AnswerField, words: Words, values: list[Answer]) -> QuestionResult:
    """With the picture of values of a type."""
    if field.type in ("label", "labels"):
        members = values if field.type == "label" else [each for value in values for each in value]
        bars = bars_of(_counted(field, members), len(values), words.said)
        return {**result, "picture": "bars" if field.opinion else "outcomes", "bars": bars}
    if not values:
        return result
    if field.type == "number":
        bars = bars_of(histogram_of(values), len(values))
        return {**result, "picture": "histogram", "figures": figures_of(values), "bars": bars}
    if field.type == "date":
        return {**result, "picture": "histogram", "bars": bars_of(years_of(values), len(values))}
    if field.type == "ranking":
        return {**result, "picture": "ranking", "ranks": ranks_of(values, words)}
    if field.type == "text":
        return {**result, "picture": "texts", "texts": [value for value in values if value.strip()][:_TEXTS]}
    placed = [mark for marks in values for mark in marks if isinstance(mark, dict) and "geometry" in mark]
    if placed:
        places = Counter(map(_point, placed)).most_common(_PLACES)
        return {**result, "picture": "map", "points": [PlaceBin(x=x, y=y, group=0, n=n) for (x, y), n in places]}
    return {**result, "picture": "marks", "figures": figures_of([float(len(value)) for value in values])}


def _counted(field: AnswerField, members: Sequence[Answer]) -> dict[Answer, int]:
    """How often each choice is named, in their order; of values without choices the most frequent ones."""
    counts = Counter(map(_hashable, members))
    if field.choices is None:
        return dict(counts.most_common(_TEXTS))
    return {choice: counts[_hashable(choice)] for choice in field.choices if choice is not None}


def _hashable(value: Answer) -> Answer:
    """True is not 1."""
    return (value,) if isinstance(value, bool) else value


def _point(mark: Values) -> tuple[float, float]:
    """Where a place is, or the middle of the corners of an area; to some 10 m."""
    at = mark["geometry"]["coordinates"]
    corners = [at] if is_number(at[0]) else at[0][:-1]
    x, y = (round(mean(corner[axis] for corner in corners), 4) for axis in (0, 1))
    return x, y


class Cell(TypedDict):
    """``n`` people with both answers, a share of those with the answer of the column; None: too few to be shown."""

    n: int | None
    share: float | None


class Cross(TypedDict):
    """Two questions crossed. ``columns`` are pairs of a label and how many gave that answer."""

    row: str
    column: str
    columns: list[tuple[object, int]]
    rows: list[tuple[object, list[Cell]]]
    n: int


def crossable(fields: Sequence[AnswerField]) -> list[AnswerField]:
    """Opinions whose answers are one of a few choices."""
    return [field for field in fields if field.opinion and field.type == "label" and field.choices]


def by_answer_count(fields: Sequence[AnswerField], answers: Sequence[AnswerSample]) -> list[AnswerField]:
    """The fields, those with the most answers first: who is not asked something cannot be crossed by it."""
    counts = {field.name: sum(_has(answer["info"], field) for answer in answers) for field in fields}
    return sorted(fields, key=lambda field: -counts[field.name])


def cross_of(
    row: AnswerField, column: AnswerField, words: Mapping[str, Words], answers: Sequence[AnswerSample]
) -> Cross:
    """How many give which answer to one question, by their answer to another."""
    pairs = Counter(
        tuple(_hashable(value_at(answer["info"], field.path)) for field in (row, column))
        for answer in answers
        if all(_has(answer["info"], field) and fits(field, answer["info"]) for field in (row, column))
    )
    ways = [[choice for choice in field.choices or () if choice is not None] for field in (row, column)]
    counts = [[pairs[_hashable(one), _hashable(other)] for other in ways[1]] for one in ways[0]]
    totals = [sum(line[nth] for line in counts) for nth in range(len(ways[1]))]
    hidden = hidden_cells(counts)

    def cell(at: tuple[int, int], n: int) -> Cell:
        total = totals[at[1]]
        return Cell(n=None if at in hidden else n, share=None if at in hidden or not total else n / total)

    row_label, column_label = (words.get(field.name, Words(field.name)).said for field in (row, column))
    return Cross(
        row=row.name,
        column=column.name,
        columns=[(column_label(choice), total) for choice, total in zip(ways[1], totals, strict=True)],
        rows=[(row_label(one), [cell((i, j), n) for j, n in enumerate(counts[i])]) for i, one in enumerate(ways[0])],
        n=sum(totals),
    )


def hidden_cells(counts: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    """The cells of few people, and others, so that no sum of a row or column gives away the only one that is hidden."""
    cells = {(i, j): n for i, line in enumerate(counts) for j, n in enumerate(line)}
    lines = [{at for at in cells if at[axis] == nth} for axis in (0, 1) for nth in {at[axis] for at in cells}]
    hidden = {at for at, n in cells.items() if 0 < n < _MIN_CELL}

    def helps(at: tuple[int, int]) -> tuple[int, int]:
        """How many lines have one hidden cell less alone, and how few people are lost."""
        return sum(len(line & hidden) == 1 for line in lines if at in line), -cells[at]

    while alone := next((line for line in lines if len(line) > len(line & hidden) == 1), None):
        hidden.add(max(sorted(alone - hidden), key=helps))
    return hidden


class Method(TypedDict):
    """What the paragraph on how the results were made is written from, and how to name them.

    ``decided``: tasks that experts decided. ``license``: its name and address, None without one. ``weighted``: answers
    to the first question count by how often people are right. ``in_turn``: each person sees the answer before.
    """

    per_task: float | None
    decided: int
    license: tuple[str, str] | None
    authors: list[str]
    anonymous: bool
    adaptive: bool
    weighted: bool
    in_turn: bool
    suggested: bool
    gold: bool
    opinions: bool
    types: list[str]


def method_of(
    info: Values, fields: Sequence[AnswerField], *, per_task: float | None, decided: int, anonymous: bool, gold: bool
) -> Method:
    """From the settings of a project; ``per_task``: answers to a finished task, on average."""
    described = dataset.read(info)
    facts = [field for field in fields if not field.opinion]
    first = facts[0].type if facts and fields[:1] == facts[:1] else ""
    return Method(
        per_task=per_task,
        decided=decided,
        license=None if described.license is None else (described.license.name, described.license.url),
        authors=[author.name for author in described.authors],
        anonymous=anonymous,
        adaptive=isinstance(info.get("trust"), dict) and first == "label",
        weighted=first in ("label", "labels"),
        in_turn=info.get("sched") == "incremental",
        suggested=bool(suggesting(info.get(QUESTIONS))),
        gold=gold and bool(facts),
        opinions=len(facts) < len(fields),
        types=sorted({field.type for field in facts}),
    )
