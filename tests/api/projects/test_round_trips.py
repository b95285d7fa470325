"""What was answered is what is read, in every format, whatever it was: values that hypothesis makes up."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
import pytest_twisted
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

pytestmark = pytest.mark.proof
ANSWERS = 150

# PostgreSQL stores no NUL, and UTF-8 has no surrogates.
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40),
    st.text(st.sampled_from("=+-@\t\r\n\"';,|_xX0123456789ABCDEF<>&\\/ \x01\x1f\x7f\u0085\u2028\ufeff\ufffe\U0001f98a"), max_size=12),
    st.sampled_from(["", "NaN", "null", "true", "1e5", "007", "1954-02-03", "_x000D_", "https://birds.example/?a=1&b=2", "'=1", "\\N", "\\."]),
)  # fmt: skip
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
DEEP = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
INFOS = st.fixed_dictionaries(
    {"text": TEXTS, "whole": st.integers(-(2**63), 2**63 - 1), "half": NUMBERS, "yes": st.booleans(), "deep": DEEP}
)


def made_up() -> list[dict[str, Any]]:
    """So many answers, always the same."""
    infos: list[dict[str, Any]] = []

    @settings(
        max_examples=ANSWERS,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(INFOS)
    def take(info: dict[str, Any]) -> None:
        infos.append(info)

    take()
    return infos


def plain(info: dict[str, Any]) -> dict[str, Any]:
    """An answer that was read: 7e150 is written with all its digits, which Python reads as a whole number."""
    return {**info, "half": float(info["half"])}


@pytest_twisted.ensureDeferred
async def test_what_was_answered_is_what_is_read(served: Any) -> None:
    infos = made_up()
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=len(infos), published=True, n_answers=1)
    for info in infos:
        task = (await ada.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": info}
        assert (await ada.post("/api/taskrun", json=body)).status == 200, info

    async def file(query: str) -> bytes:
        answer = await owner.get(f"/api/project/{project['id']}/export?type=task_run&{query}")
        assert answer.status == 200, answer.text
        return bytes(answer.body)

    lines = (await file("format=ndjson")).decode().split("\n")
    assert [plain(json.loads(line)["info"]) for line in lines if line] == infos
    assert [plain(row["info"]) for row in json.loads(await file("format=json"))] == infos
    columns = "info=columns"
    flat = [json.loads(line) for line in (await file(f"format=ndjson&{columns}")).decode().split("\n") if line]
    assert [plain({name: row[f"info_{name}"] for name in infos[0]}) for row in flat] == infos

    for separator, sign in (("comma", ","), ("semicolon", ";"), ("tab", "\t")):
        text = (await file(f"format=csv&{columns}&raw=1&separator={separator}")).decode("utf-8-sig")
        rows = [*csv.DictReader(io.StringIO(text, newline=""), delimiter=sign)]
        assert [row["info_text"] for row in rows] == [info["text"] for info in infos], separator
        assert [(int(row["info_whole"]), float(row["info_half"]), row["info_yes"] == "true") for row in rows] == [
            (info["whole"], info["half"], info["yes"]) for info in infos
        ]

    tables = {
        "parquet": pyarrow.parquet.read_table(pyarrow.BufferReader(await file(f"format=parquet&{columns}"))),
        "arrow": pyarrow.ipc.open_file(pyarrow.BufferReader(await file(f"format=arrow&{columns}"))).read_all(),
    }
    for name, table in tables.items():
        read = table.to_pydict()
        assert [float(value) for value in read["info_half"]] == [info["half"] for info in infos], name
        for key in ("text", "whole", "yes"):
            assert read[f"info_{key}"] == [info[key] for info in infos], (name, key)
        deep = [None if value is None else json.loads(value) for value in read["info_deep"]]
        assert deep == [info["deep"] for info in infos], name

    book = CalamineWorkbook.from_filelike(io.BytesIO(await file("format=xlsx")))
    names, *cells = book.get_sheet_by_name("Answers").to_python()
    sheet = [dict(zip(names, row, strict=True)) for row in cells]
    # XML has no U+FFFE and U+FFFF. They are written as Excel reads them, which calamine does not.
    texts = [info["text"].replace("\ufffe", "_xFFFE_").replace("\uffff", "_xFFFF_") for info in infos]
    assert [row["info_text"] for row in sheet] == texts
    # What a spreadsheet would round is a text there.
    assert [(int(row["info_whole"]), float(row["info_half"])) for row in sheet] == [
        (info["whole"], info["half"]) for info in infos
    ]
    assert [row["info_yes"] for row in sheet] == [info["yes"] for info in infos]
