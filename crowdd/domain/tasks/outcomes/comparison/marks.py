"""Marks of several people that mean the same: DBSCAN (Ester et al. 1996), in which each person counts once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any, Generic, TypeVar

import attrs

from crowdd.domain.tasks.outcomes.comparison.compared import mean
from crowdd.values import Values

P = TypeVar("P", bound=tuple[float, ...])
_NONE = "null"


@attrs.frozen
class Mark(Generic[P]):
    """A mark of the nth answer (``person``) with its place and its label, as JSON; "" without one."""

    person: int
    place: P
    label: str = ""


@attrs.frozen
class Cluster(Generic[P]):
    """Marks that mean the same, one of each of ``people``: where it is, and the label that most of them give it."""

    place: P
    label: str
    people: int


def label_of(mark: Values) -> str:
    """The label of a mark in an answer."""
    return json.dumps(mark["label"], ensure_ascii=False) if "label" in mark else ""


def labelled(mark: Values, label: str) -> Values:
    """A mark with its label."""
    return {**mark, "label": json.loads(label)} if label else mark


def clusters(marks: Sequence[Mark[P]], near: Sequence[Sequence[int]], n_people: int) -> list[Cluster[P]]:
    """Clusters of at least half of the people, and of two.

    ``near`` has for each mark the marks within eps of it, itself included.
    """
    needed = max(2, -(-n_people // 2))
    cores = {nth for nth, others in enumerate(near) if len({marks[other].person for other in others}) >= needed}
    groups, seen = [], set[int]()
    for nth in range(len(marks)):
        if nth in cores and nth not in seen:
            members = _reached(nth, near, cores, seen)
            groups.append(_cluster([marks[each] for each in members]))
    return groups


def _reached(first: int, near: Sequence[Sequence[int]], cores: set[int], seen: set[int]) -> list[int]:
    members, waiting = [], [first]
    seen.add(first)
    while waiting:
        nth = waiting.pop()
        members.append(nth)
        for other in near[nth] if nth in cores else ():
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return sorted(members)


def _cluster(members: Sequence[Mark[P]]) -> Cluster[P]:
    """One mark of each person: of several the nearest to the middle of all."""
    middle = _middle([mark.place for mark in members])
    chosen: dict[int, Mark[P]] = {}
    for mark in sorted(members, key=lambda mark: sum(abs(a - b) for a, b in zip(mark.place, middle, strict=True))):
        chosen.setdefault(mark.person, mark)
    labels = Counter(mark.label for mark in chosen.values()).most_common(2)
    tied = len(labels) > 1 and labels[0][1] == labels[1][1]
    return Cluster(_middle([mark.place for mark in chosen.values()]), "" if tied else labels[0][0], len(chosen))


def _middle(places: Sequence[P]) -> P:
    middle: Any = tuple(median(side) for side in zip(*places, strict=True))
    return middle


def near_ones(
    marks: Sequence[Mark[P]], reach: Callable[[P], float], are_near: Callable[[P, P], bool]
) -> list[list[int]]:
    """For each mark those near it. ``reach``: no mark whose place begins right of it is near."""
    order = sorted(range(len(marks)), key=lambda nth: marks[nth].place[0])
    near = [[nth] for nth in range(len(marks))]
    for at, nth in enumerate(order):
        end = reach(marks[nth].place)
        for other in order[at + 1 :]:
            if marks[other].place[0] > end:
                break
            if are_near(marks[nth].place, marks[other].place):
                near[nth].append(other)
                near[other].append(nth)
    return near


def confidence(marks: Sequence[Cluster[P]], counts: Sequence[int]) -> float:
    """The mean share of the people who made each mark; without any mark, the share of those who made none."""
    if not marks:
        return sum(not count for count in counts) / len(counts)
    return mean(cluster.people / len(counts) for cluster in marks)


def of_answers(answers: Iterable[Sequence[tuple[P, str]]]) -> list[Mark[P]]:
    """The marks of all answers, each given as place and label."""
    return [Mark(person, place, label) for person, marks in enumerate(answers) for place, label in marks]
