"""What people say together in 200 random tasks of each type, beside a second way to work it out.

People see things that are clearly apart, miss some, see one more, and are as exact as a hand. Which of them belong
together is therefore known, and the rest is worked out without crowdd: by scipy's matching, numpy's medians, clipping of
convex areas, and by tables of distances that are filled in cell by cell.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from crowdd.features.results.comparing_process import COMPARED
from crowdd.kinds.answers import AnswerField, fits

pytestmark = pytest.mark.proof
TASKS = 200
LABELS = ("fox", "owl", None)


def compare(type_: str, values: Sequence[Any], **more: Any) -> Any:
    field = AnswerField("n", ("n",), type_, **more)
    assert all(fits(field, {"n": value}) for value in values)
    return COMPARED[type_](field, values)


def needed(people: int) -> int:
    return max(2, math.ceil(people / 2))


def mean_of_pairs(answers: Sequence[Any], alike: Callable[[Any, Any], float]) -> float:
    return float(np.mean([alike(*pair) for pair in combinations(answers, 2)]))


class Scene:
    """Things that are apart, and what each person has marked of them: the number of the thing, and the mark."""

    def __init__(self, chance: random.Random, drawn: Callable[[int], Any]) -> None:
        self.people = chance.randint(2, 7)
        true = {nth: chance.choice(LABELS) for nth in range(5)}
        self.seen = [
            [(nth, self._labelled(chance, true[nth], drawn(nth))) for nth in true if chance.random() < 0.7]
            for _ in range(self.people)
        ]
        for each in self.seen:
            chance.shuffle(each)
        self.answers = [[mark for _, mark in each] for each in self.seen]
        self.of_thing: dict[int, list[Any]] = {nth: [] for nth in true}
        for each in self.seen:
            for nth, mark in each:
                self.of_thing[nth].append(mark)
        self.found = {nth: marks for nth, marks in self.of_thing.items() if len(marks) >= needed(self.people)}

    @staticmethod
    def _labelled(chance: random.Random, label: str | None, mark: dict[str, Any]) -> dict[str, Any]:
        word = chance.choice(LABELS) if chance.random() < 0.2 else label
        return mark if word is None else {**mark, "label": word}

    def label_of(self, nth: int) -> str | None:
        """What most of those say who have marked a thing; nothing if as many say something else."""
        (first, n), *others = Counter(mark.get("label") for mark in self.found[nth]).most_common()
        return None if others and others[0][1] == n else first

    def confidence(self) -> float:
        if not self.found:
            return sum(not answer for answer in self.answers) / self.people
        says = [Counter(m.get("label") for m in marks).most_common(1)[0][1] for marks in self.found.values()]
        return float(np.mean(says)) / self.people


def matched(one: Sequence[Any], other: Sequence[Any], alike: Callable[[Any, Any], float]) -> list[float]:
    """How alike the marks of two answers are that belong together, by the best assignment of all (scipy)."""
    if not one or not other:
        return []
    table = np.array([[alike(a, b) * (a.get("label") == b.get("label")) for b in other] for a in one])
    rows, columns = linear_sum_assignment(table, maximize=True)
    return [float(each) for each in table[rows, columns] if each > 0]


def share_of_marks(alike: Callable[[Any, Any], float]) -> Callable[[Any, Any], float]:
    """The harmonic mean of precision and recall."""
    return lambda one, other: 2 * len(matched(one, other, alike)) / (len(one) + len(other)) if one or other else 1.0


def mean_overlap(alike: Callable[[Any, Any], float]) -> Callable[[Any, Any], float]:
    def of(one: Any, other: Any) -> float:
        pairs = matched(one, other, alike)
        n = len(one) + len(other) - len(pairs)
        return sum(pairs) / n if n else 1.0

    return of


def check_marks(
    result: Any,
    scene: Scene,
    near: Callable[[Any, list[Any]], bool],
    alike: Callable[[Any, Any], float],
    exact: float = 1e-6,
) -> None:
    """Each thing that enough people have marked is there once, in the middle of their marks, with their label."""
    disputed = not scene.found and 2 * sum(not answer for answer in scene.answers) < scene.people
    marks = list(result.value or ()) if result.won else []
    assert result.won or disputed
    assert len(marks) == len(scene.found)
    for nth, theirs in scene.found.items():
        (mark,) = [each for each in marks if near(each, theirs)]
        assert mark.get("label") == scene.label_of(nth)
    assert result.n == scene.people and result.confidence == pytest.approx(scene.confidence())
    assert result.agreement == pytest.approx(mean_of_pairs(scene.answers, alike), abs=exact)


# ---------------------------------------------------------------------------------------------------- boxes and points


def iou(one: Any, other: Any) -> float:
    """Of boxes, from the lengths that their sides have in common."""
    both = 1.0
    for at, size in (("x", "width"), ("y", "height")):
        both *= max(0.0, min(one[at] + one[size], other[at] + other[size]) - max(one[at], other[at]))
    areas = [each["width"] * each["height"] for each in (one, other)]
    return both / (sum(areas) - both)


def test_boxes() -> None:
    chance = random.Random(21)
    for _ in range(TASKS):
        scene = Scene(
            chance,
            lambda nth: {
                "x": 300 * nth + chance.uniform(-5, 5),
                "y": 100 + chance.uniform(-5, 5),
                "width": 90 + chance.uniform(-5, 5),
                "height": 60 + chance.uniform(-5, 5),
            },
        )

        def near(mark: Any, theirs: list[Any]) -> bool:
            edges = [[m["x"], m["y"], m["x"] + m["width"], m["y"] + m["height"]] for m in theirs]
            own = [mark["x"], mark["y"], mark["x"] + mark["width"], mark["y"] + mark["height"]]
            return bool(np.allclose(np.median(edges, axis=0), own, atol=1e-3))

        check_marks(compare("boxes", scene.answers, choices=LABELS), scene, near, mean_overlap(iou))


def test_points() -> None:
    chance = random.Random(22)
    for _ in range(TASKS):
        scene = Scene(chance, lambda nth: {"x": 200 * nth + chance.uniform(-4, 4), "y": 50 + chance.uniform(-4, 4)})

        def near(mark: Any, theirs: list[Any]) -> bool:
            middle = np.median([[m["x"], m["y"]] for m in theirs], axis=0)
            return bool(np.allclose(middle, [mark["x"], mark["y"]], atol=1e-3))

        within = share_of_marks(lambda a, b: float(math.hypot(a["x"] - b["x"], a["y"] - b["y"]) <= 15))
        check_marks(compare("points", scene.answers, choices=LABELS, tolerance=15), scene, near, within)


# ------------------------------------------------------------------------------------------------------ lines and areas


def along(points: Any, n: int = 32) -> Any:
    """So many points evenly along a line."""
    corners = np.array(points, dtype=float)
    lengths = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    at = np.linspace(0, lengths[-1], n)
    return np.column_stack([np.interp(at, lengths, corners[:, axis]) for axis in (0, 1)])


def apart(one: Any, other: Any) -> float:
    """The mean distance of two lines in the direction in which they are nearer."""
    if abs(one[1][0] - other[1][0]) > 200:
        return math.inf
    a, b = along(one), along(other)
    return float(min(np.hypot(*(a - each).T).mean() for each in (b, b[::-1])))


def test_lines() -> None:
    chance = random.Random(23)
    for _ in range(TASKS):

        def drawn(nth: int) -> dict[str, Any]:
            x, y = 400 * nth, 100
            corners = [(x, y), (x + 120, y + 80), (x + 250, y + 20)]
            points = [[a + chance.uniform(-5, 5), b + chance.uniform(-5, 5)] for a, b in corners]
            return {"points": points[::-1] if chance.random() < 0.5 else points}

        scene = Scene(chance, drawn)

        def near(mark: Any, theirs: list[Any]) -> bool:
            first, *others = (along(m["points"]) for m in theirs)
            turned = [min((o, o[::-1]), key=lambda each: float(np.hypot(*(first - each).T).mean())) for o in others]
            middle = np.median([first, *turned], axis=0)
            got = np.array(mark["points"])
            return len(got) == 32 and any(np.allclose(middle, each, atol=1e-2) for each in (got, got[::-1]))

        within = share_of_marks(lambda a, b: float(apart(a["points"], b["points"]) <= 30))
        check_marks(compare("lines", scene.answers, choices=LABELS, tolerance=30), scene, near, within)


def clipped(one: Any, other: Any) -> list[tuple[float, float]]:
    """What two convex areas have in common, side by side (Sutherland and Hodgman 1974)."""
    left = [tuple(point) for point in one]
    for (ax, ay), (bx, by) in zip(other, [*other[1:], other[0]], strict=True):

        def inside(p: Any, a: Any = (ax, ay), b: Any = (bx, by)) -> float:
            return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])

        cut = []
        for p, q in zip(left, [*left[1:], *left[:1]], strict=True):
            one, other = inside(p), inside(q)
            if one >= 0:
                cut.append(p)
            if one * other < 0:
                share = one / (one - other)
                cut.append((p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])))
        left = cut
    return left


def size(corners: Any) -> float:
    """The area within corners (Gauss)."""
    if len(corners) < 3:
        return 0.0
    xs, ys = np.array(corners, dtype=float).T
    return float(abs(np.dot(xs, np.roll(ys, -1)) - np.dot(ys, np.roll(xs, -1))) / 2)


def area_iou(one: Any, other: Any) -> float:
    if abs(one[0][0] - other[0][0]) > 200:
        return 0.0
    both = size(clipped(one, other))
    return both / (size(one) + size(other) - both)


def inside_of(corners: Any, xs: Any, ys: Any) -> Any:
    """Which places lie within an area: those from which a ray crosses its edge an odd number of times."""
    crossed = np.zeros(xs.shape, dtype=int)
    for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if ay != by:
            crossed += ((ay > ys) != (by > ys)) & (xs < (bx - ax) * (ys - ay) / (by - ay) + ax)
    return crossed % 2 == 1


def hexagon(chance: random.Random, x: float, y: float) -> list[list[float]]:
    x, y, far = x + chance.uniform(-6, 6), y + chance.uniform(-6, 6), 80 + chance.uniform(-8, 8)
    turn = chance.uniform(0, 1)
    return [[x + far * math.cos(turn + k * math.pi / 3), y + far * math.sin(turn + k * math.pi / 3)] for k in range(6)]


def is_covered_by_most(corners: Any, areas: Sequence[Any]) -> bool:
    """Whether an area is what more than half of the others cover, but for a line of places at its edge."""
    low, high = np.min(np.concatenate(areas), axis=0), np.max(np.concatenate(areas), axis=0)
    xs, ys = np.meshgrid(*(np.linspace(low[axis], high[axis], 90) for axis in (0, 1)))
    together = sum(inside_of(area, xs, ys).astype(int) for area in areas) > len(areas) // 2
    own = inside_of(corners, xs, ys)
    return bool((own & together).sum() / (own | together).sum() > 0.97)


def test_areas() -> None:
    chance = random.Random(24)
    for _ in range(TASKS):
        scene = Scene(chance, lambda nth: {"points": hexagon(chance, 400 * nth, 200)})

        def near(mark: Any, theirs: list[Any]) -> bool:
            outlines = [m["points"] for m in theirs]
            beside = abs(np.mean(mark["points"], axis=0)[0] - np.mean(np.concatenate(outlines), axis=0)[0]) > 100
            return not beside and is_covered_by_most(mark["points"], outlines)

        overlap = mean_overlap(lambda a, b: area_iou(a["points"], b["points"]))
        check_marks(compare("areas", scene.answers, choices=LABELS), scene, near, overlap, exact=0.01)


def test_one_area() -> None:
    chance = random.Random(25)
    for _ in range(TASKS):
        areas = [hexagon(chance, 500, 500) for _ in range(chance.randint(2, 7))]
        result = compare("polygon", areas)
        assert result.won and is_covered_by_most(result.value, areas)
        assert result.agreement == pytest.approx(mean_of_pairs(areas, area_iou), abs=0.01)


# ---------------------------------------------------------------------------------------------------------------- texts


def distance(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The edit distance, by the whole table (Wagner and Fischer 1974)."""
    table = [[*range(len(other) + 1)]]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(table[-1][j] + 1, row[-1] + 1, table[-1][j - 1] + (a != b)))
        table.append(row)
    return table[-1][-1]


def text_alike(one: str, other: str) -> float:
    return 1 - distance(one, other) / (max(len(one), len(other)) or 1)


def rover(texts: Sequence[Sequence[str]]) -> list[str]:
    """Fiscus 1997 with the whole table: the words of one text after the other are aligned with those before.

    Before the first word each place that is left out costs 1, as in crowd-kit.
    """
    places = [Counter([word]) for word in texts[0]]
    for n, words in enumerate(texts[1:], 1):
        cost: dict[tuple[int, int], tuple[float, str]] = {(0, 0): (0, "")}
        for i in range(len(words) + 1):
            for j in range(len(places) + 1):
                ways = []
                if i and j:
                    ways.append((cost[i - 1, j - 1][0] + (words[i - 1] not in places[j - 1]), 0, "match"))
                if j:
                    ways.append((cost[i, j - 1][0] + (i == 0 or "" not in places[j - 1]), 1, "without"))
                if i:
                    ways.append((cost[i - 1, j][0] + 1, 2, "more"))
                if ways:
                    best = min(ways)
                    cost[i, j] = (best[0], best[2])
        i, j, joined = len(words), len(places), []
        while i or j:
            step = cost[i, j][1]
            place = Counter({"": n}) if step == "more" else places[j - 1]
            place["" if step == "without" else words[i - 1]] += 1
            joined.append(place)
            i, j = i - (step != "without"), j - (step != "more")
        places = joined[::-1]
    chosen = [max(place.items(), key=lambda each: (each[1], len(each[0]), each[0]))[0] for place in places]
    return [word for word in chosen if word]


def together(texts: Sequence[str]) -> str:
    """What texts of plain words say together."""
    (text, n), *_ = Counter(texts).most_common()
    if 2 * n > len(texts):
        return text
    words = [each.split() for each in texts]
    if len(texts) < 3 or median(map(len, words)) < 3:
        return min(texts, key=lambda one: sum(1 - text_alike(one, other) for other in texts))
    return " ".join(rover(words))


WORDS = ("the", "ship", "came", "late", "from", "anna", "harbour", "salt", "and", "seven", "men", "who", "saw", "land")


def misread(chance: random.Random, words: Sequence[str]) -> str:
    """Words of which some are left out, doubled, or read as another one."""
    read: list[str] = []
    for word in words:
        fate = chance.random()
        if fate < 0.8:
            read.append(word)
        elif fate < 0.9:
            read.append(word[:-1] + chance.choice("abc"))
        elif fate < 0.95:
            read += [word, chance.choice(WORDS)]
    return " ".join(read)


def test_texts() -> None:
    chance = random.Random(26)
    for _ in range(TASKS):
        words = chance.choices(WORDS, k=chance.choice([1, 2, 5, 9, 14]))
        texts = [misread(chance, words) for _ in range(chance.randint(1, 7))]
        result = compare("text", texts)
        assert result.value == together(texts), texts
        assert result.confidence == pytest.approx(np.mean([text_alike(result.value, text) for text in texts]))
        if len(texts) > 1:
            assert result.agreement == pytest.approx(mean_of_pairs(texts, text_alike))


def test_transcriptions() -> None:
    """Lines at the same place are one line; a word that no more than two thirds have read there is unsure."""
    chance = random.Random(27)
    for _ in range(TASKS):
        people = chance.randint(2, 7)
        page = [[f"{word}{nth}" for nth, word in enumerate(chance.sample(WORDS, 4))] for _ in range(4)]
        seen: list[dict[int, Any]] = []
        for _ in range(people):
            lines = {}
            for nth, words in enumerate(page):
                if chance.random() < 0.8:
                    text = " ".join(
                        word if chance.random() < 0.8 else f"{word}{chance.choice('xyz')}" for word in words
                    )
                    at = {"x": 5 + chance.uniform(-2, 2), "y": 40 * nth + chance.uniform(-2, 2)}
                    lines[nth] = {"text": text, **at, "width": 300, "height": 20}
            seen.append(lines)
        result = compare("transcript", [[*lines.values()] for lines in seen])
        agreed = {nth: [lines[nth] for lines in seen if nth in lines] for nth in range(4)}
        agreed = {nth: theirs for nth, theirs in agreed.items() if len(theirs) >= needed(people)}
        assert len(result.value) == len(agreed)
        for line, theirs in zip(result.value, agreed.values(), strict=True):
            read = [each["text"].split() for each in theirs]
            assert line["text"] == together([each["text"] for each in theirs])
            for side in ("x", "y"):
                assert line[side] == pytest.approx(median(each[side] for each in theirs), abs=1e-3)
            words = line["text"].split()
            unsure = [word for nth, word in enumerate(words) if 3 * sum(r[nth] == word for r in read) <= 2 * len(read)]
            assert [line["text"][start:end] for start, end in line.get("unsure", [])] == unsure


# ------------------------------------------------------------------------------------------------------ parts and dates


def test_marked_parts() -> None:
    """Second by second, in tenths: what at least half of the people have marked with the same label, and two."""
    chance = random.Random(28)
    for _ in range(TASKS):
        people = chance.randint(1, 7)
        answers = []
        for _ in range(people):
            starts = [chance.randint(0, 80) for _ in range(chance.randint(0, 3))]
            answers.append(
                [
                    {
                        "start": start / 10,
                        "end": (start + chance.randint(0, 30)) / 10,
                        "label": chance.choice(LABELS[:2]),
                    }
                    for start in starts
                ]
            )
        grid = np.zeros((people, 2, 120), dtype=bool)
        for person, answer in enumerate(answers):
            for part in answer:
                at = slice(round(part["start"] * 10), round(part["end"] * 10))
                grid[person, LABELS.index(part["label"]), at] = True
        wanted = grid.sum(axis=0) >= min(people, needed(people))
        result = compare("spans", answers, choices=LABELS[:2])
        got = np.zeros((2, 120), dtype=bool)
        for part in result.value:
            got[LABELS.index(part["label"]), round(part["start"] * 10) : round(part["end"] * 10)] = True
        assert (got == wanted).all()
        shares = [(each & wanted).sum() / (each | wanted).sum() if (each | wanted).any() else 1.0 for each in grid]
        assert result.confidence == pytest.approx(np.mean(shares))
        if people > 1:
            dice = mean_of_pairs(
                [*grid], lambda a, b: 2 * (a & b).sum() / (a.sum() + b.sum()) if (a | b).any() else 1.0
            )
            assert result.agreement == pytest.approx(dice)


def test_dates() -> None:
    """A year, a month of it or a day of that: parts that contradict nothing are half alike."""
    chance = random.Random(29)
    for _ in range(TASKS):
        people = chance.randint(1, 7)
        dates = [
            (1889 + chance.randint(0, 1), *((chance.randint(5, 6), chance.randint(1, 2))[: chance.randint(0, 2)]))
            for _ in range(people)
        ]
        texts = ["-".join(f"{part:02}" for part in date) for date in dates]

        def fit(one: Any, other: Any) -> bool:
            n = min(len(one), len(other))
            return bool(one[:n] == other[:n])

        result = compare("date", texts)
        date: Any = next((each for each, n in Counter(dates).items() if 2 * n > people), None)
        if date is None:
            exact = sorted(map(len, dates))[(people - 1) // 2]
            ordered = sorted(each[:exact] for each in dates if len(each) >= exact)
            low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
            date = low if low == high else None
        assert result.won == (date is not None)
        if date is not None:
            assert result.value == "-".join(f"{part:02}" for part in date)
            assert result.confidence == pytest.approx(sum(fit(date, each) for each in dates) / people)
        if people > 1:
            alike = mean_of_pairs(dates, lambda a, b: 1.0 if a == b else 0.5 if fit(a, b) else 0.0)
            assert result.agreement == pytest.approx(alike)
