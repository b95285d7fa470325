"""What counts as stored as meant."""

from __future__ import annotations

import pytest

from hands.judge import differences

BOX = {"x": 100, "y": 50, "width": 200, "height": 80, "label": "duck"}
RING = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("meant", "stored"),
    [
        (35, 35),
        (35, 35.0),
        (None, None),
        ([], []),
        (["fox", "owl"], ["fox", "owl"]),
        ([BOX], [{**BOX, "x": 103.9, "selector": {}}]),
        ([{"ring": RING}], [{"geometry": {"coordinates": [[[2, 2], [2, 0], [0, 0], [2, 2]]]}}]),
        ([{"outline": RING}], [{"points": [[0, 0], [1, 0], [2, 0], [2, 2]]}]),
        ([{"start": 3, "end": 7, "text": "word"}], [{"start": 3, "end": 7, "text": "word"}]),
    ],
)
def test_what_is_as_meant(meant, stored):
    assert differences({"it": meant}, {"it": stored, "questions_version": 1}, {"it": 2.0}) == []


@pytest.mark.parametrize(
    ("meant", "stored", "words"),
    [
        (35, 34, "34 is stored, 35 was meant"),
        (True, 1, "1 is stored, True was meant"),
        (None, "x", "'x' is stored"),
        ("Fez", "fez", "'fez' is stored"),
        (["fox"], ["owl"], "['owl'] is stored"),
        ([BOX], [BOX, BOX], "2 marks are stored, 1 were meant"),
        ([BOX], [{**BOX, "label": "boat"}], "label 'boat' is stored, 'duck' was meant"),
        ([BOX], [{**BOX, "x": 105, "width": 195}], "x is +2 px away"),
        ([{"place": [2.0, 48.0]}], [{"geometry": {"coordinates": [2.0, 60.0]}}], "px away"),
        (
            [{"ring": RING}],
            [{"geometry": {"coordinates": [[[0, 0], [1, 0], [2, 0], [2, 2], [0, 0]]]}}],
            "4 corners are stored",
        ),
        ([{"start": 3, "end": 7, "text": "word"}], [{"start": 2, "end": 7, "text": "aword"}], "text 'aword' is stored"),
    ],
)
def test_what_differs_is_told(meant, stored, words):
    grain = {
        "it": 0.0 if isinstance(meant, list) and meant and isinstance(meant[0], dict) and "text" in meant[0] else 2.0
    }
    (first, *_) = differences({"it": meant}, {"it": stored}, grain)
    assert words in first


def test_an_answer_that_is_missing_or_was_not_meant_is_told():
    assert differences({"it": 1}, {}, {}) == ["it: nothing is stored, 1 was meant"]
    assert differences({}, {"it": 1}, {}) == ["it: 1 is stored, nothing was meant"]
