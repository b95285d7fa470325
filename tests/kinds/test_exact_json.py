"""JSON without rounding: a number is exact, or it is refused."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdd.kernel import exact_json

DIGITS = st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,3})?", fullmatch=True)


def values(text: str | bytes) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


@given(st.lists(DIGITS, max_size=3))
def test_a_number_comes_back_with_the_same_value_or_is_refused(numbers: list[str]) -> None:
    text = f'{{"a":[{",".join(numbers)}]}}'
    try:
        read = exact_json.loads(text)
    except orjson.JSONDecodeError as error:
        assert "Send it as text" in exact_json.reason(error)
        assert max(len(f"{Decimal(number):f}") for number in numbers) > 300
        return
    assert values(orjson.dumps(read)) == values(text)
    assert values(orjson.dumps(exact_json.stored(text.encode()))) == values(text)


@given(st.lists(DIGITS, min_size=1, max_size=3), st.text(max_size=20))
def test_for_scripts_a_number_that_they_would_round_is_a_text(numbers: list[str], words: str) -> None:
    text = f'{{"a":[{",".join(numbers)}],"b":{json.dumps(words)}}}'
    shown = json.loads(exact_json.for_scripts(text), parse_int=float)
    assert shown["b"] == words
    for number, value in zip(numbers, shown["a"], strict=True):
        assert Decimal(value if isinstance(value, str) else repr(value)) == Decimal(number)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740993", 2**53 + 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615", 2**64 - 1),
        ("0.1", 0.1),
        ("0.30000000000000004", 0.1 + 0.2),
        ("1.50000000000000000000", 1.5),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ('"12345678901234567890.10"', "12345678901234567890.10"),
    ],
)
def test_numbers_that_a_computer_has_are_read_as_such(text: str, value: Any) -> None:
    assert exact_json.loads(text) == exact_json.loads(text.encode()) == value


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400, "1e-401", "1e-99999999999999999999"])
def test_a_number_whose_digits_would_fill_the_database_is_refused_and_named(number: str) -> None:
    text = f'{{"a": 1,\n "b": [{number}]}}'
    with pytest.raises(orjson.JSONDecodeError) as raised:
        exact_json.loads(text)
    words = exact_json.reason(raised.value)
    assert words.startswith("the number in line 2, column ") and words.endswith("Send it as text")


def test_what_is_stored_is_read_however_long_it_is() -> None:
    text = f"[{'9' * 1000}, 0.{'1' * 500}]"
    assert values(orjson.dumps(exact_json.stored(text))) == values(text)


def test_a_text_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(orjson.JSONDecodeError):
        exact_json.loads("[" * 1000 + "18446744073709551616" + "]" * 1000)
