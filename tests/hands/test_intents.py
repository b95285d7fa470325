"""Intents: by their seed, for everything that can be asked, and valid as answers."""

from __future__ import annotations

from collections import Counter

import pytest

from crowdd.kinds.questions.types import MEDIA, TYPES
from hands.acting import forms, marks, media, pages
from hands.acting.actor import ACTS
from hands.asked import FROM_ELSEWHERE, everything
from hands.intents import holds, walk
from hands.meanings.meaning import MEANINGS
from hands.meanings.presenters import BY_PRESENTER
from hands.worlds import SIZES


def test_every_type_and_medium_is_asked_and_meant():
    assert set(MEANINGS) == set(TYPES) - FROM_ELSEWHERE
    questions = [question for asked in everything().values() for question in asked.every]
    assert {question["type"] for question in questions} >= set(TYPES) - FROM_ELSEWHERE
    documents = [asked.questions for asked in everything().values() if asked.questions]
    media = {medium["type"] for document in documents for step in document["steps"] for medium in step.get("media", [])}
    assert media == set(MEDIA)
    assert {asked.name for asked in everything().values() if not asked.questions} == set(BY_PRESENTER)


def test_a_walk_is_the_same_for_the_same_seed():
    assert walk(3, 17) == walk(3, 17) != walk(4, 17)


def test_walks_go_round_what_is_asked_and_the_sizes():
    count = len(everything())
    rows = [walk(1, number) for number in range(5 * count)]
    assert set(Counter(row.asked for row in rows).values()) == {5}
    assert {(row.asked, row.world.size) for row in rows} == {(name, size) for name in everything() for size in SIZES}


def test_every_act_of_many_walks_is_known():
    assert forms and marks and media and pages
    done = {about["do"] for number in range(400) for intent in walk(1, number).intents for about in intent.acts}
    assert done <= set(ACTS) and set(ACTS) - done == set()


@pytest.mark.parametrize(
    ("condition", "answer", "shown"),
    [
        (None, {}, True),
        ({"question": "a", "is": [1]}, {"a": 1}, True),
        ({"question": "a", "is": [1]}, {}, False),
        ({"question": "a", "is": [None]}, {"a": None}, True),
        ({"question": "a", "is": ["x"]}, {"a": ["x", "y"]}, True),
        ([{"question": "a", "is": [1]}, {"question": "b", "is": [2]}], {"a": 1, "b": 3}, False),
    ],
)
def test_conditions_of_questions(condition, answer, shown):
    assert holds(condition, answer) is shown
