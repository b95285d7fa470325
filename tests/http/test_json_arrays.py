"""Large arrays are parsed item by item and mean the same as parsed at once."""

import time

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdd.http.edge import json_arrays
from crowdd.kernel.errors import InvalidValueError, TooLargeError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(VALUES, max_size=8), st.sampled_from([None, orjson.OPT_INDENT_2]))
def test_an_array_means_the_same_as_parsed_at_once(value, layout):
    assert json_arrays.parse(b" \n" + orjson.dumps(value, option=layout) + b"\n ") == value


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=12).map(lambda more: b"[" + more)
    | st.text('[]{},":\\1a ', max_size=14).map(lambda t: f"[{t}".encode())
)
def test_what_is_not_json_is_refused_whenever_orjson_refuses_it(body):
    try:
        whole = orjson.loads(body)
    except orjson.JSONDecodeError:
        with pytest.raises((InvalidValueError, orjson.JSONDecodeError)):
            json_arrays.parse(body)
    else:
        assert json_arrays.parse(body) == whole


def test_reading_stops_at_the_first_item_too_many():
    assert len(json_arrays.parse(b"[" + b",".join([b"1"] * 10_000) + b"]")) == 10_000
    with pytest.raises(TooLargeError) as caught:
        json_arrays.parse(b"[" + b"1," * 10_000 + b"never parsed, nor this")
    assert caught.value.code == "too_many_rows"


def test_a_string_that_does_not_end_is_read_once():
    body = b'["' + b'\\"' * 130_000 + b" " * 3_000
    started = time.thread_time()
    with pytest.raises(InvalidValueError):
        json_arrays.parse(body)
    assert time.thread_time() - started < 0.05
