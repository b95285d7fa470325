"""What each type takes, and as what."""

from datetime import UTC, datetime

import pytest
from support.checks.shows import shows

from crowdd.kernel.errors import InvalidValueError
from crowdd.kinds.types import Boolean, Integer, Integers, Json, JsonObject, Number, ShortName, Text, Timestamp, iso

DEEP: list = []
for _ in range(101):
    DEEP = [DEEP]

GOOD = [
    (Integer(), 5, 5), (Integer(), "5", 5), (Integer(), " -5 ", -5), (Integer(), "+5", 5), (Integer(), 5.0, 5),
    (Integer(), 2**63 - 1, 2**63 - 1), (Integer(), -(2**63), -(2**63)), (Integer(minimum=1, maximum=3), "3", 3),
    (Number(), 5, 5.0), (Number(), "1e3", 1000.0), (Number(), -0.5, -0.5), (Number(), " 1 ", 1.0),
    (Boolean(), True, True), (Boolean(), "Yes", True), (Boolean(), "off", False), (Boolean(), 0, False),
    (Boolean(), 1, True), (Boolean(), " TRUE ", True), (Boolean(), "n", False),
    (Text(), "", ""), (Text(maximum=3), "äöü", "äöü"), (Text(), "<b>'\"\\%", "<b>'\"\\%"), (Text(), "😀", "😀"),
    (ShortName(), " birds ", "birds"), (ShortName(), "vögel-1_2.3", "vögel-1_2.3"), (ShortName(), "...", "..."),
    (Json(), None, None), (Json(), [1, {"a": [True, 1.5]}], [1, {"a": [True, 1.5]}]), (Json(), "a", "a"),
    (JsonObject(), {}, {}), (JsonObject(), {"a": {"b": None}}, {"a": {"b": None}}),
    (Integers(), [1, "2"], [1, 2]), (Integers(), [], []),
    (Timestamp(), "2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
]  # fmt: skip
BAD = [
    *((Integer(), value) for value in ("", "x", "1.5", 1.5, True, None, [], {}, 2**63, "9" * 19, "9" * 21, float("inf"), "٣")),
    *((Integer(minimum=1, maximum=3), value) for value in (0, 4, "-1")),
    *((Number(), value) for value in ("", "x", True, None, [], "nan", "inf", float("nan"), 10**400)),
    *((Boolean(), value) for value in ("", "2", 2, None, [], 1.5, "truth")),
    *((Text(), value) for value in (5, None, [], True, "a\x00", "\ud800", "a\udfff")),
    (Text(maximum=3), "abcd"), (Text(minimum=1), ""), (Text(minimum=1), "  "),
    *((ShortName(), value) for value in ("", " ", ".", "..", *(f"a{c}b" for c in " /?#%&\\<>\"'\n\t\u2003"), "x" * 256)),
    *((Json(), value) for value in ("\x00", ["\x00"], {"\x00": 1}, {"a": "\ud800"}, float("nan"), [float("inf")], DEEP)),
    *((JsonObject(), value) for value in (None, [], "a", 5)),
    *((Integers(), value) for value in (None, 5, "1,2", ["x"], [None], [2**63])),
    *((Timestamp(), value) for value in ("", "x", 5, None, [], "2026-13-01")),
]  # fmt: skip
SPANS = [
    ("2026", "2026-01-01", "2027-01-01"), ("2026-02", "2026-02-01", "2026-03-01"), ("2026-12", "2026-12-01", "2027-01-01"),
    ("2024-02-29", "2024-02-29", "2024-03-01"), ("2026-01-02T03", "2026-01-02T03", "2026-01-02T04"),
    ("2026-01-02 03:04", "2026-01-02T03:04", "2026-01-02T03:05"),
    ("2026-01-02T03:04:05", "2026-01-02T03:04:05", "2026-01-02T03:04:06"),
    ("2026-01-02T03:04:05.5", "2026-01-02T03:04:05.500000", "2026-01-02T03:04:05.500001"),
]  # fmt: skip


@shows("format-coerced")
@pytest.mark.parametrize(("kind", "value", "stored"), GOOD)
def test_what_a_type_can_hold_is_taken(kind, value, stored):
    parsed = kind.parse(value)
    assert parsed == stored and type(parsed) is type(stored)


@shows("format-refused-values")
@pytest.mark.parametrize(("kind", "value"), BAD, ids=lambda value: repr(value)[:40])
def test_everything_else_is_refused(kind, value):
    with pytest.raises(InvalidValueError) as error:
        kind.parse(value)
    assert str(error.value)[0].islower() and not str(error.value).endswith(".")


@shows("list-filter-times")
@pytest.mark.parametrize(("text", "begin", "end"), SPANS)
def test_the_beginning_of_a_time_is_a_span(text, begin, end):
    expected = tuple(datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (begin, end))
    assert Timestamp().from_text(text) == expected


@pytest.mark.parametrize(
    "text", ["", "x", "2026-", "2026-13", "2026-02-30", "9999", "0000", "9999-12", "9999-12-31", "20"]
)
def test_what_begins_no_time_is_refused(text):
    with pytest.raises(InvalidValueError):
        Timestamp().from_text(text)


@shows("format-times")
def test_a_time_leaves_without_zone_and_always_with_microseconds():
    moment = datetime.fromisoformat("2026-01-02T03:04:05+02:00")
    assert iso(moment) == "2026-01-02T01:04:05.000000"
