"""What a volunteer does is what is stored, in Chromium with real input: rows of five tasks, in every size."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from support.checks.proofs import examples

from hands.asked import everything
from hands.faults import FAULTS, Fault
from hands.intents import presses, walk
from hands.volunteer import Volunteers
from hands.worlds import World

pytestmark = pytest.mark.browser
SEED = 1
SHOWN = ("type box on picture", "one click")
# A row of tasks takes half a minute: CI proves these, and `make hands` goes through all.
PROVED = (
    *SHOWN,
    "gallery transcribe-field",
    "type map_place on map",
    "type number on sound",
    "type text_spans on text",
    "missing picture",
    "missing sound",
)
FAULT = "choosing a label changes the mark drawn last"


@examples(*SHOWN)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in PROVED else pytest.mark.size) for name in everything()]
)
def test_what_is_stored_is_what_was_meant(volunteers: Callable[..., Volunteers], name: str) -> None:
    row = walk(SEED, [*everything()].index(name))
    assert [each.told() for each in volunteers().walk(row) if each.fault] == []


@examples(FAULT)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_put_in_on_purpose_is_found(volunteers: Callable[..., Volunteers], fault: Fault) -> None:
    people = volunteers(fault)
    rows = (people.walk(walk(SEED, number, [fault.asked])) for number in fault.walks)
    met = next((each for row in rows for each in row if each.fault), None)
    assert met and re.search(fault.says, met.fault), met and met.told()


TEMPLATES = [name for name in everything() if name.startswith("gallery ")]


@examples("390x844-gallery boxes")
@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize(
    "size",
    [pytest.param("1280x900", marks=pytest.mark.size), pytest.param("1024x700", marks=pytest.mark.size), "390x844"],
)
def test_the_first_press_on_each_task_of_a_template_counts(
    volunteers: Callable[..., Volunteers], size: str, name: str
) -> None:
    outcomes = [*volunteers().walk(presses(name, World(size)))]
    assert [each.told() for each in outcomes if each.fault] == [] and len(outcomes) == 3
