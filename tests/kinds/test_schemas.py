"""The schema of an attribute and its parser agree: what one takes the other takes, but for values that are coerced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from support.checks.proofs import examples

from crowdd.http import queries
from crowdd.http.api import schemas
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.requester import Requester
from crowdd.kinds import KINDS, names
from crowdd.kinds.kind import Field, Kind, Write
from crowdd.kinds.types import TIME_PREFIX, Timestamp

NAME_FORMATS = {
    names.FREE_FORMAT: lambda text: usable(names.free, text),
    names.ADDRESS_FORMAT: lambda text: usable(names.in_address, text.strip()),
}
"""What the formats of names mean, which JSON Schema does not know."""


def usable(parse: Callable[[str], str], text: str) -> bool:
    """Whether a name has only characters that names may have."""
    try:
        return bool(parse(text))
    except names.UnusableNameError:
        return False


texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=300) | st.sampled_from(
    [
        "",
        " ",
        "a",
        "a b",
        "a/b",
        ".",
        "..",
        "5",
        " 5 ",
        "-1",
        "1e3",
        "true",
        "No",
        "2024-05-06T07:08:09.000010",
        "x" * 2001,
    ]
)
numbers = st.integers(-(2**64), 2**64) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 10_001)
scalars = st.none() | st.booleans() | numbers | texts
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), scalars, max_size=2)
cases = [
    pytest.param(kind, field, id=f"{kind.name}.{field.name}")
    for kind in KINDS.values()
    for field in kind.fields
    if field.write is Write.FREE
]


one_of_each_type = {repr(case.values[1].type): case.id for case in cases}


def takes(field: Field, value: Any) -> bool:
    """Whether a body may hold the value."""
    try:
        field.parse(value)
    except InvalidValueError:
        return False
    return True


@examples(*one_of_each_type.values())
@pytest.mark.parametrize(("kind", "field"), cases)
def test_what_the_schema_takes_is_taken_and_what_is_taken_becomes_what_the_schema_takes(kind: Kind, field: Field):
    schema = Draft202012Validator(
        schemas.change(kind)["properties"][field.name], formats=NAME_FORMATS, validate_formats=True
    )

    @settings(max_examples=100, deadline=None)
    @given(value=values)
    def agree(value: Any) -> None:
        if schema.is_valid(value):
            assert takes(field, value)
        if takes(field, value):
            assert schema.is_valid(field.parse(value))

    agree()


@pytest.mark.parametrize("text", ["2024", "2024-05", "2024-05-06", "2024-05-06T07", "2024-05-06 07:08:09.123456"])
def test_a_beginning_of_a_time_is_a_span(text: str):
    begin, end = Timestamp().from_text(text)
    assert begin < end
    assert Timestamp().text_schema() == {"type": "string", "format": TIME_PREFIX}


def test_what_a_filter_asks_for_need_not_be_what_a_row_can_hold():
    n_answers = KINDS["task"].field("n_answers")
    assert n_answers.from_text("0") == 0
    with pytest.raises(InvalidValueError, match="`n_answers` must be between 1 and 10000"):
        n_answers.parse(0)
    with pytest.raises(InvalidValueError):
        n_answers.from_text("9" * 20)


def test_a_filter_on_json_is_a_pair_or_has_no_double_colon():
    info = KINDS["task"].field("info")
    schema = Draft202012Validator(schemas.filtered(info))

    @settings(max_examples=300, deadline=None)
    @given(text=st.text(st.sampled_from("a:|b \n"), max_size=8))
    def agree(text: str) -> None:
        try:
            queries.parse_query(KINDS["task"], {"info": text}, Requester())
        except InvalidValueError:
            assert not schema.is_valid(text)
        else:
            assert schema.is_valid(text)

    agree()
