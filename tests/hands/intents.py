"""What volunteers mean: tasks of a row, each with what they do and what must be stored then. Plain data, by a seed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import attrs

from hands.asked import Asked, everything
from hands.meanings import forms, marks
from hands.meanings.meaning import Meaning, meaning_of
from hands.meanings.presenters import BY_PRESENTER
from hands.worlds import World, some_world

Json = dict[str, Any]
PRESSED: Final = ("choose", "toggle", "label", "button")
CHANGED: Final = {*forms.MEANINGS, *marks.SHAPES}
"""Types whose answers are changed afterwards; those of others stay."""
ROW: Final = 5  # tasks, one after the other, by one volunteer


@attrs.frozen
class Intent:
    """What somebody means with one task.

    ``acts`` are what they do, in order; each names what it does (``do``) and the question (``q``). ``answer`` is what
    must be stored then, in the terms of the medium: pixels of the picture, degrees, characters, seconds. ``end`` says how:
    ``send`` (one more row), ``change`` (the last row is another), ``skip`` (no row). ``refusable``: a visible refusal will do.
    """

    seed: int
    number: int
    asked: str
    acts: list[Json]
    answer: Json
    end: str = "send"
    refusable: bool = False

    def written(self) -> str:
        """As a line for people."""
        return json.dumps(attrs.asdict(self), ensure_ascii=False)


@attrs.frozen
class Walk:
    """A row of tasks of one volunteer in one window."""

    seed: int
    world: World
    asked: str
    intents: list[Intent]


def walk(seed: int, number: int, names: list[str] | None = None) -> Walk:
    """The walk of a number: what is asked goes round, and the size of the window with it."""
    names = names or [*everything()]
    name, random = names[number % len(names)], Random(f"{seed} {number}")
    world = some_world(random, number + number // len(names))
    intents = [*_intents(everything()[name], number, world, random)]
    return Walk(number, world, name, intents)


def _intents(asked: Asked, seed: int, world: World, random: Random) -> Iterator[Intent]:
    last: Json | None = None
    signs_in = random.randint(2, ROW) if random.random() < 0.15 else 0
    for number in range(1, ROW + 1):
        if last and asked.questions and number > 1 and random.random() < 0.15:
            yield _changed(asked, seed, number, last, world, random)
            last = None
            continue
        if random.random() < 0.06:
            yield Intent(seed, number, asked.name, [{"do": "skip"}], {}, "skip")
            last = None
            continue
        acts, last, refusable = answered(asked, world, random)
        if number == signs_in:
            acts[random.randint(0, len(acts) - 1 if asked.questions and not is_alone(asked) else 0) : 0] = _signed_in(
                asked, random
            )
        yield Intent(seed, number, asked.name, acts, last, refusable=refusable)


def answered(asked: Asked, world: World, random: Random) -> tuple[list[Json], Json, bool]:
    """What somebody does and means with a task, and whether a visible refusal will do."""
    if asked.questions is None:
        meant = BY_PRESENTER[asked.name](world, random)
        return meant.acts, meant.value, meant.refusable
    missing = asked.name.startswith("missing ")
    acts = _tried(asked, world, random) if missing else []
    answer: Json = {"unseen": ["on"]} if missing and acts[-1]["do"] == "without" else {}
    refusable = False
    steps = [0]
    for step in asked.questions["steps"]:
        if not holds(step.get("show_if"), answer):
            continue
        if len(steps) > 1:
            acts.append({"do": "next"})
            if random.random() < 0.2:
                acts += [{"do": "back"}, {"do": "next"}]
        steps.append(1)
        for question in step.get("questions", []):
            if not holds(question.get("show_if"), answer):
                continue
            if not question.get("required") and random.random() < 0.5:
                continue
            medium = {each["name"]: each["type"] for each in step.get("media", [])}.get(question.get("on"), "")
            meant = meaning_of({**question, "medium": medium}, world, random, alone=is_alone(asked))
            acts += meant.acts
            refusable |= meant.refusable
            answer[question["name"]] = meant.value
            acts += _between(world, random) if not is_alone(asked) else []
    if not is_alone(asked):
        acts.append({"do": "send"})
    return acts, answer, refusable


def _signed_in(asked: Asked, random: Random) -> list[Json]:
    """Somebody signs in in another tab, with their work begun; the page that they come back to is loaded again, or not."""
    again = asked.questions and random.random() < 0.5
    return [{"do": "sign_in"}, *([{"do": "reload"}] if again else [])]


def _tried(asked: Asked, world: World, random: Random) -> list[Json]:
    """Somebody tries to answer what does not load, then loads it again, or says that they answer without it."""
    nth = random.randrange(2)
    key = asked.every[0]["choices"][nth]["key"]
    by = "press" if world.finger else random.choice(["press", "key"])
    then = "without" if random.random() < 0.3 else "again"
    return [{"do": "unseen", "q": "it", "nth": nth, "key": key, "by": by}, {"do": then}]


def _between(world: World, random: Random) -> list[Json]:
    """What people do between two questions now and then."""
    chance = random.random()
    if chance < 0.03:
        return [{"do": "reload"}]
    return [{"do": "tab"}] if chance < 0.06 else []


def _changed(asked: Asked, seed: int, number: int, last: Json, world: World, random: Random) -> Intent:
    """Another answer to a question of the task before. Others must stay."""
    by_name = {each["name"]: each for each in asked.every}
    conditions = json.dumps([each.get("show_if") for each in [*asked.every, *(asked.questions or {})["steps"]]])
    free = [
        name for name in last if json.dumps(name) not in conditions and by_name.get(name, {}).get("type") in CHANGED
    ]
    begin = {"do": "change", "by": "press" if world.finger or random.random() < 0.5 else "key"}
    name = random.choice(free or [*last])
    if not free or asked.questions is None or len(asked.questions["steps"]) > 1:
        return Intent(seed, number, asked.name, [begin, {"do": "keep"}], last, "change")
    meant = meaning_of(by_name[name], world, random, alone=is_alone(asked), before=last[name])
    acts = [begin, *meant.acts, *([] if is_alone(asked) else [{"do": "send"}])]
    return Intent(seed, number, asked.name, acts, {**last, name: meant.value}, "change", meant.refusable)


def presses(name: str, world: World, tasks: int = 3) -> Walk:
    """A row of a name in which all that can be chosen is pressed: the first press on each task counts."""
    random, pressed = Random(f"presses {name} {world.size}"), []
    for number in range(1, tasks + 1):
        acts, answer, refusable = answered(everything()[name], world, random)
        acts = [{**each, "by": "press"} if each["do"] in PRESSED else each for each in acts]
        pressed.append(Intent(0, number, name, acts, answer, refusable=refusable))
    return Walk(0, world, name, pressed)


def is_alone(asked: Asked) -> bool:
    """Whether one press answers the task."""
    steps = (asked.questions or {"steps": []})["steps"]
    return (
        len(steps) == 1
        and len(only := steps[0].get("questions", [])) == 1
        and only[0]["type"] in ("single_choice", "yes_no")
        and bool(only[0].get("required"))
    )


def holds(condition: Any, answer: Json) -> bool:
    """Whether a question or step is shown: each condition names a question that is shown and answered with one of ``is``."""
    conditions = condition if isinstance(condition, list) else [condition] if condition else []
    return all(
        each["question"] in answer
        and any(
            value in each["is"]
            for value in (
                answer[each["question"]] if isinstance(answer[each["question"]], list) else [answer[each["question"]]]
            )
        )
        for each in conditions
    )


__all__ = ["Intent", "Meaning", "Walk", "answered", "holds", "is_alone", "walk"]
