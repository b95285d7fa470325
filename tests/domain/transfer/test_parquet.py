"""Parquet files: what their values become, one row group at a time, and damaged ones. Hostile ones: test_hostile_files.py."""

from __future__ import annotations

import io
import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow
import pyarrow.parquet
import pytest

from crowdd.features.imports.files import Dialect, detect, inspect, read_rows
from crowdd.features.imports.prepared import parquet
from crowdd.features.imports.prepared.process import discard, prepare
from crowdd.kernel.errors import InvalidValueError

PARQUET = Dialect("parquet")


def written(columns: dict[str, Any], **options: Any) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out, **options)
    return out.getvalue()


def kept(folder: Path, content: bytes) -> Path:
    path = folder / "frame"
    path.write_bytes(content)
    return path


def rows_of(path: Path) -> list[Any]:
    assert detect(path) == PARQUET
    with prepare(path, PARQUET).open("rb") as file:
        return [(r.number, "empty" if r.empty else r.values or r.error) for r in read_rows(PARQUET, file)]


def refusal(folder: Path, content: bytes) -> str:
    path = kept(folder, content)
    with pytest.raises(InvalidValueError) as error:
        inspect(prepare(path, PARQUET), 5, PARQUET)
    discard(path)
    assert list(folder.iterdir()) == []
    return str(error.value)


def test_values_are_exact_and_nested_ones_become_json(tmp_path):
    moment = datetime(2024, 2, 29, 12, 0, 0, 250_000)
    values = {
        "text": ("fox", None),
        "small": ([3, 2**53], pyarrow.int64()),
        "large": ([2**63 - 1, -(2**63)], pyarrow.int64()),
        "unsigned": ([2**64 - 1, 1], pyarrow.uint64()),
        "decimal": ([Decimal("12345678901234567890.10"), Decimal("-0.05")], pyarrow.decimal128(38, 2)),
        "float": [0.1, float("nan")],
        "flag": [True, None],
        "moment": ([moment, None], pyarrow.timestamp("us")),
        "utc": ([moment.replace(tzinfo=UTC), None], pyarrow.timestamp("ms", tz="UTC")),
        "nano": ([1_709_208_000_123_456_789, -1], pyarrow.timestamp("ns")),
        "day": [date(2024, 2, 29), None],
        "clock": [time(1, 2, 3), None],
        "length": [timedelta(days=1, hours=12), None],
        "bytes": [b"\xff\x00", None],
        "list": [[1, 2**60], []],
        "struct": [{"x": 1, "when": moment}, None],
        "map": ([[("k", 1)], None], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
    }
    table = {
        n: pyarrow.array(*v) if isinstance(v, tuple) and n != "text" else pyarrow.array(v) for n, v in values.items()
    }
    first, second = (row for _number, row in rows_of(kept(tmp_path, written(table))))
    assert orjson.dumps(first.pop("decimal")) == b"12345678901234567890.10"
    assert first == {
        "text": "fox", "small": 3, "large": 2**63 - 1, "unsigned": 2**64 - 1, "float": 0.1, "flag": True, "moment": "2024-02-29T12:00:00.250000",
        "utc": "2024-02-29T12:00:00.250000Z", "nano": "2024-02-29T12:00:00.123456789", "day": "2024-02-29",
        "clock": "01:02:03", "length": "PT36H", "bytes": "/wA=", "list": [1, 2**60],
        "struct": {"x": 1, "when": "2024-02-29T12:00:00.250000"}, "map": [["k", 1]],
    }  # fmt: skip
    assert second["small"] == 2**53 and second["large"] == -(2**63) and second["decimal"] == -0.05
    assert second["float"] is None and second["nano"] == "1969-12-31T23:59:59.999999999" and second["list"] == []


def test_row_groups_are_read_in_order_and_empty_rows_counted(tmp_path):
    table = {"n": [1, 2, None, 4, 5], "word": ["a", "b", None, "d", ""]}
    rows = rows_of(kept(tmp_path, written(table, row_group_size=2)))
    assert [number for number, _row in rows] == [1, 2, 3, 4, 5]
    assert [row if row == "empty" else row["n"] for _n, row in rows] == [1, 2, "empty", 4, 5]


def test_a_value_that_is_too_long_is_refused_alone(tmp_path):
    wide = written({"a": ["x" * 2_000_000, "y"]}, compression="zstd", use_dictionary=False)
    assert rows_of(kept(tmp_path, wide)) == [(1, "It is longer than 1,000,000 bytes."), (2, {"a": "y"})]


@pytest.mark.parametrize("at", [4, 40, -9, -30, -60])
def test_damaged_files_are_refused_with_a_sentence(tmp_path, at):
    good = written({"a": ["x", "y"], "b": [1, 2]}, compression="none")
    bad = bytearray(good)
    bad[at : at + 3] = b"\xff\xff\xff"
    path = kept(tmp_path, bytes(bad))
    try:
        assert rows_of(path)
    except InvalidValueError as error:
        assert str(error).endswith(".")
    lie = good[:-8] + (2**31).to_bytes(4, "little") + b"PAR1"
    assert "damaged or in a form that is not supported" in refusal_of(path, lie)


def refusal_of(path: Path, content: bytes) -> str:
    discard(path)
    path.write_bytes(content)
    with pytest.raises(InvalidValueError) as error:
        prepare(path, PARQUET)
    return str(error.value)


def test_columns_of_one_name_are_told_apart_and_too_many_refused(tmp_path):
    schema = pyarrow.schema([("a", pyarrow.int64()), ("a", pyarrow.int64())])
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], schema=schema), out)
    assert rows_of(kept(tmp_path, out.getvalue())) == [(1, {"a": 1, "a_2": 2})]
    discard(tmp_path / "frame")
    assert "more than 500 columns" in refusal(tmp_path, written({f"c{n}": [1] for n in range(501)}))


def test_without_pyarrow_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    path = kept(tmp_path, written({"a": [1]}))
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(parquet, "pyarrow", parquet.lazy("pyarrow", extra="data"))
    monkeypatch.setattr(parquet, "pyarrow_parquet", parquet.lazy("pyarrow.parquet", extra="data"))
    with pytest.raises(InvalidValueError, match=r"pip install 'crowdd\[data\]'"):
        parquet.convert(path, tmp_path / "rows", {}, "")
