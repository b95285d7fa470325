"""Numbers that doubles do not have: exact in every way in and out, or refused with a sentence."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from decimal import Decimal
from typing import Any

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.importing import AT, brought, looked_at
from support.workbooks import table, xlsx

from crowdd.features.gallery import folder_export, folder_import, folders
from crowdd.features.gallery.feature import GalleryFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.kernel.requester import SYSTEM

NUMBERS = [
    "1", "0.1", "0.30000000000000004", "5e-324", "1.7976931348623157e308", "9007199254740993", "-9223372036854775808",
    "18446744073709551615", "18446744073709551616", "-9223372036854775809", "123456789012345678901234567890",
    "0.10000000000000001", "-12345678901234567890.123456789", "1e-400",
]  # fmt: skip
TOO_LONG = ["1e400", "9" * 400, "1e-401"]
WORDS = "Send it as text."


def exact(text: str | bytes) -> Any:
    """JSON with all its digits."""
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def equal(read: list[Any]) -> bool:
    return [Decimal(str(each)) for each in read] == [Decimal(number) for number in NUMBERS]


async def post(client: Any, path: str, text: str, method: str = "POST") -> Any:
    return await client.request(method, path, data=text.encode(), headers={"Content-Type": "application/json"})


async def by_api(served: Any, owner: Any, project: Any) -> None:
    for number in NUMBERS:
        body = f'{{"project_id": {project["id"]}, "info": {{"n": {number}, "deep": [{{"n": {number}}}]}}}}'
        answer = await post(owner, "/api/task", body)
        assert answer.status == 200 and exact(answer.body)["info"]["deep"] == [{"n": Decimal(number)}], answer.text


async def by_array(served: Any, owner: Any, project: Any) -> None:
    rows = ",".join(f'{{"project_id": {project["id"]}, "info": {{"n": {number}}}}}' for number in NUMBERS)
    assert (await post(owner, "/api/task", f"[{rows}]")).status == 200


async def by_large_array(served: Any, owner: Any, project: Any) -> None:
    more = "x" * 20_000
    rows = ",".join(f'{{"project_id": {project["id"]}, "info": {{"n": {n}, "x": "{more}"}}}}' for n in NUMBERS)
    assert (await post(owner, "/api/task", f"[{rows}]")).status == 200


async def by_change(served: Any, owner: Any, project: Any) -> None:
    for number in NUMBERS:
        task = (await owner.post("/api/task", json={"project_id": project["id"], "info": {"n": 0}})).json()["id"]
        answer = await post(owner, f"/api/task/{task}", f'{{"info": {{"n": {number}}}}}', "PUT")
        assert answer.status == 200 and exact(answer.body)["info"]["n"] == Decimal(number)


async def by_json(served: Any, owner: Any, project: Any) -> None:
    content = "[" + ",".join(f'{{"n": {number}}}' for number in NUMBERS) + "]"
    assert (await brought(served, owner, content.encode(), "tasks.json"))["added"] == len(NUMBERS)


async def by_ndjson(served: Any, owner: Any, project: Any) -> None:
    content = "".join(f'{{"n": {number}}}\n' for number in NUMBERS)
    assert (await brought(served, owner, content.encode(), "tasks.ndjson"))["added"] == len(NUMBERS)


async def by_csv(served: Any, owner: Any, project: Any) -> None:
    content = "n,b\n" + "".join(f"{number},x\n" for number in NUMBERS)
    assert (await brought(served, owner, content.encode(), "tasks.csv"))["added"] == len(NUMBERS)


WAYS_IN = [by_api, by_array, by_large_array, by_change, by_json, by_ndjson, by_csv]


@shows("exact-numbers")
@pytest.mark.parametrize("way_in", WAYS_IN, ids=lambda way: way.__name__)
@pytest_twisted.ensureDeferred
async def test_a_number_is_what_came_in_whichever_way_it_leaves(served, tmp_path, way_in):
    owner = await served.person("owner")
    project = await served.project(owner)
    await way_in(served, owner, project)
    numbers = NUMBERS
    tasks = exact((await owner.get(f"/api/task?project_id={project['id']}&limit=100")).body)
    assert equal([task["info"]["n"] for task in tasks])
    assert equal([exact((await owner.get(f"/api/task/{task['id']}")).body)["info"]["n"] for task in tasks])
    for number, task in zip(numbers, tasks, strict=True):
        page = await owner.get(f"/project/birds/task/{task['id']}", headers={"Accept": "text/html"})
        assert page.status == 200 and "orjson" not in page.text
        about = (await owner.get(f"/project/birds/tasks/{task['id']}", headers={"Accept": "text/html"})).text
        assert "orjson" not in about and (number in about or f"{Decimal(number):f}" in about or "e" in number), number
    export = f"/api/project/{project['id']}/export?type=task&info=columns&raw=1&format="
    files = {name: (await owner.get(export + name)).body for name in ("json", "ndjson", "csv", "parquet", "arrow")}
    assert equal([row["info_n"] for row in exact(files["json"])])
    assert equal([exact(line)["info_n"] for line in files["ndjson"].splitlines()])
    assert equal([row["info_n"] for row in csv.DictReader(io.StringIO(files["csv"].decode()))])
    assert equal(pyarrow.parquet.read_table(pyarrow.BufferReader(files["parquet"]))["info_n"].to_pylist())
    assert equal(pyarrow.ipc.open_file(pyarrow.BufferReader(files["arrow"])).read_all()["info_n"].to_pylist())
    for name in ("json", "csv"):
        packed = (await owner.get(f"/project/birds/tasks/export?type=task&format={name}")).body
        if packed.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(packed)) as archive:
                packed = archive.read(archive.namelist()[0])
        rows = exact(packed) if name == "json" else [*csv.DictReader(io.StringIO(packed.decode("utf-8-sig")))]
        assert equal([exact(row["info"])["n"] if name == "csv" else row["info"]["n"] for row in rows])
    row = await served.house[ProjectsFeature].projects.page("birds", SYSTEM)
    await folder_export.unload(served.house[GalleryFeature].unloading, row, tmp_path / "birds", lambda done: None)
    about = tmp_path / "birds" / "project.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "name": "Fish", "short_name": "fish"}))
    done = await folder_import.load(
        served.house[GalleryFeature].loading, folders.read_folder(tmp_path / "birds"), owner="owner"
    )
    again = exact((await owner.get(f"/api/task?project_id={done.id}&limit=100")).body)
    assert equal([task["info"]["n"] for task in again])


@shows("exact-numbers")
@pytest_twisted.ensureDeferred
async def test_numbers_of_a_data_frame_are_numbers_with_all_their_digits(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    out = io.BytesIO()
    columns = {
        "large": pyarrow.array([2**63 - 1], pyarrow.int64()),
        "larger": pyarrow.array([2**64 - 1], pyarrow.uint64()),
        "exact": pyarrow.array([Decimal("12345678901234567890.123456789")], pyarrow.decimal128(38, 9)),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    assert (await brought(served, owner, out.getvalue(), "tasks.parquet"))["added"] == 1
    (task,) = exact((await owner.get(f"/api/task?project_id={project['id']}")).body)
    assert task["info"] == {name: column[0].as_py() for name, column in columns.items()}


@shows("exact-numbers")
@pytest_twisted.ensureDeferred
async def test_a_workbook_that_has_rounded_a_number_says_so_in_its_row(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    rows = [
        ["n", "name"],
        [9007199254740993, "a"],
        [1234567890123456789, "b"],
        [2**53 - 1, "c"],
        ["1234567890123456789", "d"],
        [0.1, "e"],
    ]
    content = xlsx({"Sheet": table(rows)})
    upload = await looked_at(owner, content, "tasks.xlsx")
    assert upload["preview"]["refused"] == 2
    page = await owner.get(f"{AT}/{upload['id']}", headers={"Accept": "text/html"})
    assert "Format its column as text" in page.text
    done = await brought(served, owner, content, "tasks.xlsx", on_error="skip")
    assert (done["added"], done["refused"]) == (3, 2)
    tasks = (await owner.get(f"/api/task?project_id={project['id']}")).json()
    assert [task["info"]["n"] for task in tasks] == [2**53 - 1, "1234567890123456789", 0.1]


@shows("exact-numbers")
@pytest.mark.parametrize("number", TOO_LONG)
@pytest_twisted.ensureDeferred
async def test_a_number_that_cannot_be_stored_is_refused_with_a_sentence_in_every_format(served, number):
    owner = await served.person("owner")
    project = await served.project(owner)
    body = f'{{"project_id": {project["id"]}, "info": {{"n": {number}}}}}'
    for text in (body, f"[{body}]"):
        answer = await post(owner, "/api/task", text)
        assert answer.status == 415 and WORDS in answer.json()["exception_msg"], answer.text
    for name, content in (
        ("tasks.json", f'[{{"n": {number}}}, {{"n": 1}}]'),
        ("tasks.ndjson", f'{{"n": {number}}}\n{{"n": 1}}\n'),
    ):
        upload = await looked_at(owner, content.encode(), name)
        assert (upload["preview"]["added"], upload["preview"]["refused"]) == (1, 1)
        assert WORDS in (await owner.get(f"{AT}/{upload['id']}", headers={"Accept": "text/html"})).text
    assert (await owner.get(f"/api/task?project_id={project['id']}")).json() == []


@shows("exact-numbers")
@pytest_twisted.ensureDeferred
async def test_answers_keep_all_digits_and_agree_by_them(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=len(NUMBERS), published=True, n_answers=2)
    fields = [{"name": "n", "at": "/n", "type": "number"}]
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": {"answers": fields}})).status == 200
    for name in ("ada", "bob"):
        person = await served.person(name)
        for number in NUMBERS:
            task = (await person.get(f"/api/{project['id']}/newtask")).json()["id"]
            body = f'{{"project_id": {project["id"]}, "task_id": {task}, "info": {{"n": {number}}}}}'
            assert (await post(person, "/api/taskrun", body)).status == 200
    runs = exact((await owner.get(f"/api/taskrun?project_id={project['id']}&limit=100")).body)
    assert equal([run["info"]["n"] for run in runs[: len(NUMBERS)]])
    results = exact((await owner.get(f"/api/result?project_id={project['id']}&limit=100")).body)
    consensus = [result["consensus"]["n"] for result in results]
    assert equal([one["value"] for one in consensus]) and {one["answers"] for one in consensus} == {Decimal(2)}
    page = await owner.get("/project/birds/results", headers={"Accept": "text/html"})
    assert "orjson" not in page.text
