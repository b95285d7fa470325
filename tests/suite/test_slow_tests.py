"""The list of slow tests: what it names is there, and it is made of what was measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.suite import slow_tests

ROOT = Path(__file__).parents[2]


def test_it_names_tests_that_there_are():
    listed = slow_tests.read()
    assert len(listed) > 100
    missing = []
    for function in listed:
        path, *names = function.split("::")
        text = (ROOT / path).read_text() if (ROOT / path).exists() else ""
        if not all(re.search(rf"^\s*(class|(async )?def) {name}\b", text, re.MULTILINE) for name in names):
            missing.append(function)
    assert missing == [], "make slow-tests, or take these lines out"


def test_a_function_is_slow_if_its_cases_are_on_average():
    cases = {
        "a.py::test_one[x]": 0.9,
        "a.py::test_one[y]": 0.3,
        "a.py::test_two": slow_tests.MAX_SECONDS,
        "b.py::T::test_three[z]": 2.0,
    }
    functions = slow_tests.slow(cases)
    assert functions == {"a.py::test_one": pytest.approx(0.6), "b.py::T::test_three": 2.0}
    assert slow_tests.written(functions) == "0.6 a.py::test_one\n2.0 b.py::T::test_three\n"


class Item:
    """As much of a test as is asked for."""

    def __init__(self, nodeid: str, *markers: str, shows: tuple[str, ...] = ()) -> None:
        self.nodeid, self.path = nodeid, Path(nodeid.partition("::")[0])
        self.markers, self._shows = [*markers], shows

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.markers else None

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [pytest.mark.shows(*self._shows).mark] if name == "shows" else []

    def add_marker(self, name: str) -> None:
        self.markers.append(name)


def test_listed_tests_are_marked_and_their_folders_and_files_come_first():
    listed = {"b/x.py::test_one": 2.0, "b/y.py::test_one": 3.0, "a/z.py::test_two": 4.0}
    listed["a/z.py::test_three"] = 0.5
    names = ("a/q.py::test_one", "a/z.py::test_two", "b/x.py::test_one[n]", "b/y.py::test_one")
    items = [*map(Item, names), Item("a/z.py::test_three")]
    slow_tests.mark_slow(items, listed)
    assert [item.markers for item in items] == [[], ["slow", "proof"], ["slow", "proof"], ["slow", "proof"], ["slow"]]
    ordered = [item.nodeid for item in slow_tests.in_order(items[:4], listed)]
    assert ordered == ["b/y.py::test_one", "b/x.py::test_one[n]", "a/z.py::test_two", "a/q.py::test_one"]


def test_what_takes_longest_is_a_proof_unless_it_was_chosen_or_alone_shows_a_statement():
    listed = {"a.py::test_slowest": 4.0, "a.py::test_slow": 3.0, "b.py::test_alone": 2.0, "c.py::test_chosen": 2.0}
    items = [
        Item("a.py::test_slowest", shows=("one", "two")),
        Item("a.py::test_slow", shows=("one",)),  # the slowest is a proof already
        Item("a.py::test_two", shows=("two",)),
        Item("b.py::test_alone", shows=("one", "three")),
        Item("c.py::test_chosen[e]", "examples", shows=("two",)),
        Item("c.py::test_chosen[f]", "examples", "proof", shows=("two",)),
    ]
    slow_tests.mark_slow(items, listed)
    proofs = [item.nodeid for item in items if "proof" in item.markers]
    assert proofs == ["a.py::test_slowest", "a.py::test_slow", "c.py::test_chosen[f]"]
