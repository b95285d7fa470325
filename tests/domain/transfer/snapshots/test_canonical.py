"""Canonical JSON: as RFC 8785 wants it, with all digits of large whole numbers, whichever way a row is written."""

from __future__ import annotations

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from crowdd.features.snapshots.canonical_json import canonical, dumps

SAFE = 2**53 - 1
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
)


@given(values)
def test_every_value_is_written_as_the_standard_wants(value):
    assert dumps(value) == rfc8785.dumps(value)
    assert canonical(json.dumps(value)) == rfc8785.dumps(value)
    assert canonical(json.dumps(value, ensure_ascii=False, indent=2)) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12345678901234567890", "12345678901234567890"),
        ("-9007199254740993", "-9007199254740993"),
        ("9" * 400, "9" * 400),
        ("1.10", "1.1"),
        ("1.0", "1"),
        ("1e23", "1e+23"),
        ("100000000000000000000000.5", "100000000000000000000000.5"),
        ("0.100000000000000010", "0.10000000000000001"),
        ("-12345678901234567890.10", "-12345678901234567890.1"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ('{"\\ufb33": 1, "\\ud83d\\ude00": 2}', '{"😀":2,"\ufb33":1}'),
        (
            '{"b": [1, {"z": null, "a": "\\u0001\\u2028/"}], "a": 1e2}',
            '{"a":100,"b":[1,{"a":"\\u0001\u2028/","z":null}]}',
        ),
    ],
)
def test_numbers_and_names_that_are_easily_written_wrong(text, expected):
    assert canonical(text) == expected.encode()
    assert canonical(canonical(text)) == canonical(text)
