"""/api/project/<id>/export: formats, kinds, columns and their types, rights, and downloads that go on."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import Any

import duckdb
import orjson
import pandas
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
import pytest_twisted
import zstandard
from support.checks.shows import shows
from support.servers.served import Response
from twisted.internet.task import Clock
from twisted.web.client import readBody
from twisted.web.http_headers import Headers

from crowdd.features.exports import data_files, exported_columns, file_writer, table_statements, workbooks
from crowdd.features.exports import spools as kept_spools
from crowdd.features.exports.column_statements import Column
from crowdd.features.exports.exported_columns import type_of
from crowdd.features.exports.feature import ExportsFeature
from crowdd.features.exports.formats import FORMATS, KINDS, Options
from crowdd.features.exports.spools import KEPT_SECONDS, KeptSpools, Spool, Spools
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.http.edge import response_writer
from crowdd.kernel.lazy import lazy
from crowdd.kernel.requester import SYSTEM

# Each value is the answer of somebody. None has a NUL, which PostgreSQL does not store.
NASTY = [
    {
        "text": "\x01\x02\x1f\x7f\u0085\u2028",
        "whole": 1,
        "exact": 12345678901234567890,
        "half": 0.5,
        "yes": True,
        "deep": [1],
    },
    {"text": "emoji \U0001f9d1\u200d\U0001f33e \u0301", "whole": -(2**63), "exact": 1, "half": 1e-7, "yes": False},
    {
        "text": "NaN",
        "whole": 2**63 - 1,
        "exact": 0.1,
        "half": -0.25,
        "deep": {"a": [None, {"b": ["\u05e9\u05dc\u05d5\u05dd"]}]},
    },
    {"text": "", "whole": 0, "half": 3, "deep": "null"},
    {"text": "\u0645\u0631\u062d\u0628\u0627 \u202eabc\u202c", "deep": 7},
    {"text": 'quo"te, comma; \r\n line\n\ttab', "deep": None},
    {"text": "=HYPERLINK(1)", "whole": None},
    {"text": "null"},
    {"text": "inf"},
    {"text": "1e5", 'a,b\n"c': "x"},
]
TYPES = {
    "info_text": "text", "info_whole": "integer", "info_exact": "decimal", "info_half": "number",
    "info_yes": "boolean", "info_deep": "json", 'info_a,b\n"c': "text",
}  # fmt: skip


async def answered(served: Any, infos: list[Any], **about: Any) -> tuple[Any, dict[str, Any]]:
    """An owner, and a published project in which ada gave these answers, each to a task of its own."""
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=len(infos) or 1, published=True, n_answers=1, **about)
    for info in infos:
        task = (await ada.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": info}
        assert (await ada.post("/api/taskrun", json=body)).status == 200
    return owner, project


async def exported(client: Any, project: dict[str, Any], query: str, **headers: str) -> Any:
    return await client.get(f"/api/project/{project['id']}/export?{query}", headers=headers)


def wanted(column: str, type_: str) -> list[Any]:
    values = [info.get(column.removeprefix("info_")) for info in NASTY]
    if type_ == "json":
        return [None if value is None else value for value in values]
    return [None if value is None else json.dumps(value) if type_ == "decimal" else value for value in values]


def told(values: list[Any], type_: str) -> list[Any]:
    """What a program read, as JSON values."""
    clean = [None if value is None or value is pandas.NA or value != value else value for value in values]
    return [value if value is None or type_ != "json" else json.loads(value) for value in clean]


@shows("export-formats")
@pytest_twisted.ensureDeferred
async def test_every_format_gives_back_what_was_answered_to_the_programs_that_read_it(served, tmp_path):
    owner, project = await answered(served, NASTY)
    files = {}
    for name in ("parquet", "arrow", "csv", "ndjson", "json"):
        answer = await exported(owner, project, f"format={name}&info=columns&raw=1")
        assert answer.status == 200, answer.text
        files[name] = tmp_path / f"file.{name}"
        files[name].write_bytes(answer.body)
    parquet = pyarrow.parquet.read_table(files["parquet"])
    arrow = pyarrow.ipc.open_file(files["arrow"]).read_all()
    sql = f"SELECT * FROM '{files['parquet']}' ORDER BY id"
    read = {
        "pyarrow, Parquet": parquet.to_pydict(),
        "pyarrow, Arrow": arrow.to_pydict(),
        "polars, Parquet": polars.read_parquet(files["parquet"]).to_dict(as_series=False),
        "polars, Arrow": polars.read_ipc(files["arrow"], memory_map=False).to_dict(as_series=False),
        "duckdb, Parquet": duckdb.sql(sql).to_arrow_table().to_pydict(),
        "pandas, Parquet": {
            name: list(column)
            for name, column in pandas.read_parquet(files["parquet"], dtype_backend="numpy_nullable").items()
        },
    }
    for program, columns in read.items():
        for name, type_ in TYPES.items():
            assert told(list(columns[name]), type_) == wanted(name, type_), (program, name)
        assert [str(at)[:19] for at in columns["finish_time"]] == [
            str(at)[:19] for at in parquet.to_pydict()["finish_time"]
        ]
    flat = [orjson.loads(line) for line in files["ndjson"].read_bytes().splitlines()]
    assert [json.loads(line) for line in files["ndjson"].read_text().split("\n")[:-1]] == json.loads(
        files["json"].read_text()
    )
    for name in TYPES:
        assert [row[name] for row in flat][1:] == [info.get(name.removeprefix("info_")) for info in NASTY][1:], name
    exact = json.loads(files["ndjson"].read_text().split("\n")[0])
    assert exact["info_exact"] == 12345678901234567890
    texts = [info.get("text") for info in NASTY]
    assert list(pandas.read_csv(files["csv"], keep_default_na=False, dtype=str)["info_text"]) == texts
    assert [
        row["info_text"] for row in csv.DictReader(io.StringIO(files["csv"].read_bytes().decode(), newline=""))
    ] == texts
    dialect = """all_varchar=true, nullstr='-', header=true, delim=',', quote='"', escape='"', strict_mode=false"""
    rows = duckdb.sql(f"SELECT info_text FROM read_csv('{files['csv']}', {dialect})")
    assert [row[0] or "" for row in rows.fetchall()] == texts
    assert [t or "" for t in polars.read_csv(files["csv"], infer_schema=False)["info_text"]] == texts


@pytest_twisted.ensureDeferred
async def test_times_are_the_same_moments_in_every_format(served):
    times = [f"2026-03-01T12:30:05.{part}" for part in ("000000", "120000", "000001", "999999")]
    owner, project = await answered(served, [{"n": n} for n, _ in enumerate(times)])
    for n, time in enumerate(times):
        sql = "UPDATE task_run SET finish_time = %(time)s::timestamptz WHERE project_id = %(p)s AND info = %(info)s::jsonb"
        await served.database.execute(sql, {"time": f"{time}Z", "p": project["id"], "info": f'{{"n": {n}}}'})
    parquet = pyarrow.parquet.read_table(pyarrow.BufferReader((await exported(owner, project, "format=parquet")).body))
    assert [at.strftime("%Y-%m-%dT%H:%M:%S.%f") for at in parquet["finish_time"].to_pylist()] == times
    assert str(parquet.schema.field("finish_time").type) == "timestamp[us, tz=UTC]"
    for query in ("format=ndjson&info=columns", "format=ndjson"):
        lines = (await exported(owner, project, query)).text.splitlines()
        assert [json.loads(line)["finish_time"] for line in lines] == times
    table = csv.DictReader(io.StringIO((await exported(owner, project, "format=csv")).text, newline=""))
    assert [row["finish_time"] for row in table] == [f"{time}Z" for time in times]


@shows("export-dictionary")
@pytest_twisted.ensureDeferred
async def test_the_dictionary_says_what_each_column_is(served):
    owner, project = await answered(served, NASTY)
    dictionary = (await exported(owner, project, "format=dictionary")).json()
    types = {column["name"]: (column["type"], column["origin"]) for column in dictionary["columns"]}
    assert {name: type_ for name, (type_, _) in types.items() if name in TYPES} == TYPES
    assert types["id"] == ("integer", "attribute") and types["finish_time"][0] == "timestamp"
    assert {type_ for type_, _ in types.values()} == set(dictionary["types"])
    header = (await exported(owner, project, "format=csv&info=columns")).text.partition("\r\n")[0]
    assert header.startswith("id,task_id,project_id,user_id") and "info_whole" in header
    fields = {
        "answers": [
            {"name": "what", "at": "/text", "type": "text"},
            {"name": "n", "at": "/whole", "type": "number", "min": 0},
        ]
    }
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": fields})).status == 200
    columns = {c["name"]: c for c in (await exported(owner, project, "format=dictionary")).json()["columns"]}
    assert columns["info_text"]["origin"] == "declared" and columns["info_text"]["answer_field"] == "what"
    assert (columns["info_whole"]["type"], columns["info_whole"]["origin"], columns["info_whole"]["min"]) == (
        "integer",
        "values",
        0,
    )


def test_the_type_of_a_column_has_all_of_its_values_exactly():
    cases = {
        "": "text", "null": "text", "integer": "integer", "integer bigint": "integer", "integer number": "number",
        "bigint number": "decimal", "decimal": "decimal", "boolean null": "boolean", "text null": "text",
        "text integer": "json", "json": "json",
    }  # fmt: skip
    assert {forms: type_of(frozenset(forms.split())) for forms in cases} == cases


@shows("export-rows")
@pytest_twisted.ensureDeferred
async def test_marks_have_a_row_each_and_volunteers_a_column_each(served):
    boxes = [{"x": 1, "y": 2.5, "width": 3, "height": 4, "label": "fox"}, {"x": 5, "y": 6, "width": 7, "height": 8}]
    owner, project = await answered(
        served, [{"boxes": boxes, "answer": "a"}, {"boxes": [], "answer": "b"}, {"answer": "c"}]
    )
    rows = [json.loads(line) for line in (await exported(owner, project, "rows=mark")).text.splitlines()]
    assert [(row["field"], row["mark"], row["x"], row["y"], row["label"]) for row in rows] == [
        ("boxes", 1, 1, 2.5, "fox"), ("boxes", 2, 5, 6, None)
    ]  # fmt: skip
    assert [row["value"] for row in rows] == boxes and len({row["id"] for row in rows}) == 1
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": {"answer_key": "answer"}})).status == 200
    answer = await exported(owner, project, "rows=task&format=csv")
    (volunteer,) = {run["volunteer"] for run in (await owner.get(f"/api/taskrun?project_id={project['id']}")).json()}
    assert answer.text == "".join(
        f"{line}\r\n"
        for line in (f"task_id,{volunteer}", *(f"{t},{v}" for t, v in zip(project["tasks"], "abc", strict=True)))
    )
    assert (await exported(owner, project, "rows=task&type=result")).status == 415


@pytest_twisted.ensureDeferred
async def test_too_many_volunteers_have_no_column_each(served, monkeypatch):
    monkeypatch.setattr(exported_columns, "MAX_VOLUNTEERS", 0)
    owner, project = await answered(served, [{"answer": 1}])
    assert "too many for a column each" in (await exported(owner, project, "rows=task&format=csv")).text


@shows("export-kinds")
@pytest_twisted.ensureDeferred
async def test_every_kind_leaves_in_every_format(served):
    owner, project = await answered(served, [{"answer": "a"}, {"answer": "b"}])
    await served.database.fetch("SELECT number_events(%(p)s, clock())", {"p": project["id"]})
    counts = {}
    for kind in KINDS:
        for format_ in FORMATS:
            answer = await exported(owner, project, f"type={kind}&format={format_}")
            if format_ == "geojson" and kind not in ("task_run", "consensus"):
                assert answer.status == 415 and "requires type=task_run, consensus" in answer.text
                continue
            assert answer.status == 200, (kind, format_, answer.text)
            if format_ == "ndjson":
                counts[kind] = len(answer.text.splitlines())
            if format_ == "parquet":
                assert pyarrow.parquet.read_table(pyarrow.BufferReader(answer.body)).num_rows == counts[kind]
    assert counts == {
        "task": 2,
        "task_run": 2,
        "result": 2,
        "consensus": 2,
        "volunteer": 1,
        "event": 3,
        "prediction": 0,
    }
    consensus = [json.loads(line) for line in (await exported(owner, project, "type=consensus")).text.splitlines()]
    assert [(one["field"], one["value"], one["answers"]) for one in consensus] == [
        ("answer", "a", 1),
        ("answer", "b", 1),
    ]
    (volunteer,) = [json.loads(line) for line in (await exported(owner, project, "type=volunteer")).text.splitlines()]
    assert (volunteer["task_runs"], volunteer["counted"]) == (2, 2)
    assert not {"link", "links"} & {*volunteer, *consensus[0]}, "these have no address"


@pytest.mark.parametrize("few_keys", [1, 50])
@pytest_twisted.ensureDeferred
async def test_keys_and_types_are_those_of_all_rows_however_few_are_looked_at_together(served, monkeypatch, few_keys):
    infos = [
        *NASTY,
        ["no", "object"],
        5,
        {"text": None, "late": 1, "b": 1, "it's %(project)s {": 1},
        {"late": 1.5, "a": 1},
        {"late": "x"},
    ]
    owner, project = await answered(served, [*infos, {"late": None, "whole": 2**63}])
    whole = (await exported(owner, project, "format=dictionary")).json()["columns"]
    monkeypatch.setattr(table_statements, "_FEW_KEYS", few_keys)
    monkeypatch.setattr(table_statements, "_FIRST_WINDOW", 1)
    for window in (1, 2, 7):
        monkeypatch.setattr(table_statements, "_WINDOW", window)
        assert (await exported(owner, project, "format=dictionary")).json()["columns"] == whole, window
        header = (await exported(owner, project, "format=csv&info=columns")).text.partition("\r\n")[0]
        assert header.endswith("info_b,info_late,info_it's %(project)s {,info_a")
    types = {column["name"]: column["type"] for column in whole}
    assert types["info_late"] == "json" and types["info_whole"] == "decimal" and types["info_a"] == "integer"


@shows("export-early")
@pytest.mark.parametrize(
    "query",
    [
        "format=ndjson&info=columns",
        "format=json&info=both",
        "format=csv&bom=1",
        "format=csv&info=wide&task=columns",
        "format=parquet",
        "format=xlsx",
        "type=workbook&format=xlsx&task=columns",
    ],
)
@pytest_twisted.ensureDeferred
async def test_a_file_begins_before_its_columns_are_known(served, monkeypatch, query):
    owner, project = await answered(served, [{"a": 'x"\n=1'}, {"b": 2.5}, {"c": None}])
    usual = (await exported(owner, project, query)).body
    monkeypatch.setattr(file_writer, "EARLY", -1.0)
    monkeypatch.setattr(table_statements, "_FIRST_WINDOW", 1)
    monkeypatch.setattr(table_statements, "_WINDOW", 1)
    sent, look = list[bytes](), table_statements.list_more_info_keys
    write = Spool.write

    async def looking(*about: Any, **more: Any) -> Any:
        assert b"".join(sent) and usual.startswith(b"".join(sent)), "it has begun, and truly"
        return await look(*about, **more)

    monkeypatch.setattr(Spool, "write", lambda self, part: (sent.append(part), write(self, part))[1])
    monkeypatch.setattr(table_statements, "list_more_info_keys", looking)
    assert (await exported(owner, project, query)).body == usual == b"".join(sent)
    assert len([part for part in sent if part]) > 1
    monkeypatch.setattr(table_statements, "list_more_info_keys", look)
    empty = await served.project(owner, "empty", tasks=1, published=True)
    nothing = (await exported(owner, empty, query)).body
    monkeypatch.setattr(file_writer, "EARLY", 60.0)
    assert (await exported(owner, empty, query)).body == nothing


@pytest_twisted.ensureDeferred
async def test_a_file_that_begins_otherwise_is_broken_off():
    parts: list[bytes] = []

    async def known(columns: Any) -> bytes:
        return b"abc"

    file = file_writer.Head(known, lambda part, rows: parts.append(part))
    file._until = 0
    await file.wait([Column("id", "integer", "t.id")])
    await file.wait([])
    file.write(b"a", 0)
    file.write(b"bcd", 1)
    assert b"".join(parts) == b"abcd"
    other = file_writer.Head(known, lambda part, rows: None)
    other._until = 0
    await other.wait([Column("id", "integer", "t.id")])
    with pytest.raises(RuntimeError):
        other.write(b"abd", 1)


@pytest_twisted.ensureDeferred
async def test_what_is_no_object_stays_in_the_column_info(served):
    owner, project = await answered(served, ["yes", {"a": 1}, [1, 2]])
    rows = [json.loads(line) for line in (await exported(owner, project, "info=columns")).text.splitlines()]
    assert [(row["info"], row["info_a"]) for row in rows] == [("yes", None), (None, 1), ([1, 2], None)]


@pytest_twisted.ensureDeferred
async def test_a_file_with_several_groups_of_rows_is_whole(served, monkeypatch):
    monkeypatch.setattr(data_files, "_GROUP_BYTES", 1)
    monkeypatch.setattr("crowdd.features.exports.file_writer.PART", 1)
    owner, project = await answered(served, NASTY)
    body = (await exported(owner, project, "format=parquet&info=json")).body
    file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(body))
    assert file.num_row_groups == len(NASTY)
    assert [json.loads(text) for text in file.read()["info"].to_pylist()] == NASTY


@pytest.mark.parametrize(
    ("module", "library", "format_", "extra"),
    [(data_files, "pyarrow", "parquet", "data"), (workbooks, "xlsxwriter", "xlsx", "workbooks")],
)
@pytest_twisted.ensureDeferred
async def test_without_its_library_a_sentence_names_the_extra(served, monkeypatch, module, library, format_, extra):
    owner, project = await answered(served, [])
    monkeypatch.setattr(module, library, lazy("not_installed_here", extra=extra))
    answer = await exported(owner, project, f"format={format_}")
    assert answer.status == 415 and f"crowdd[{extra}]" in answer.text
    assert answer.json()["error_code"] == "not_installed"


@shows("export-rights")
@pytest_twisted.ensureDeferred
async def test_who_may_not_see_answers_gets_no_file_of_any_kind(served):
    owner, project = await answered(served, [{"answer": "secret-answer"}])
    stranger, eve = served.client(), await served.person("eve")
    for kind in KINDS:
        expected = {"event": (401, 403), "prediction": (401, 403)}.get(kind, (200, 200))
        for person, status in zip((stranger, eve), expected, strict=True):
            assert (await exported(person, project, f"type={kind}")).status == status, kind
    assert (await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})).status == 200
    for kind in KINDS:
        for query in ("format=ndjson", "format=csv", "format=parquet", "format=dictionary"):
            for person, status in ((stranger, 401), (eve, 403), (owner, 200)):
                answer = await exported(person, project, f"type={kind}&{query}")
                assert answer.status == status, (kind, query)
                assert status == 200 or b"secret-answer" not in answer.body


@shows("export-resume")
@pytest_twisted.ensureDeferred
async def test_a_download_goes_on_where_it_was_and_only_with_its_tag(served):
    owner, project = await answered(served, [{"n": n} for n in range(3)])
    whole = await plain(served, owner, project, "format=csv")
    tag = whole.header("etag")
    rest = await plain(served, owner, project, "format=csv", Range="bytes=10-", **{"If-Range": tag})
    assert (rest.status, rest.body) == (206, whole.body[10:])
    assert rest.header("content-range") == f"bytes 10-{len(whole.body) - 1}/{len(whole.body)}"
    assert (await plain(served, owner, project, "format=csv", Range="bytes=99999-")).status == 416
    for query, headers in (("format=csv", {"If-Range": '"other"'}), ("format=json", {"If-Range": tag})):
        answer = await plain(served, owner, project, query, Range="bytes=10-", **headers)
        assert answer.status == 200, "another file comes whole"
    answer = await plain(served, served.client(), project, "format=csv", Range="bytes=10-", **{"If-Range": tag})
    assert answer.status == 200, "nobody gets the file of somebody else"
    await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})
    refused = await plain(served, served.client(), project, "format=csv", Range="bytes=10-")
    assert refused.status == 401


def test_kept_files_are_few_and_go_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_spools, "MAX_KEPT", 2)
    clock, spools = Clock(), Spools(tmp_path, 0)
    store, made = KeptSpools(clock), [spools.open() for _ in range(4)]
    for name, spool in zip("abcc", made, strict=True):
        store.keep(name, name * 2, spool)
        clock.advance(1)
    assert store.find("a") is None and store.find("b", "bb") and store.find("b", "cc") is None and store.find("c")
    assert store.find("c").spool is made[3], "an earlier one with the same key goes"
    clock.advance(KEPT_SECONDS - 2)
    assert store.find("b") is None and store.find("c")
    clock.advance(2)
    assert store.find("c") is None and clock.getDelayedCalls() == []


@pytest_twisted.ensureDeferred
async def test_text_is_compressed_on_its_way_for_clients_that_take_it(served):
    _owner, project = await answered(served, [{"n": n} for n in range(3)])
    row = await served.house[ProjectsFeature].projects.page(project["short_name"], SYSTEM)
    file = served.house[ExportsFeature].exports.file(SYSTEM, row, "task", "csv", Options())
    parts: list[bytes] = []
    await served.house[ExportsFeature].exports.write(file, lambda part, rows: parts.append(part))
    answer = await plain(served, served.client(), project, "type=task&format=csv", **{"Accept-Encoding": "gzip"})
    assert answer.header("content-encoding") == "gzip" and answer.header("etag").endswith('-gzip"')
    assert gzip.decompress(answer.body).count(b"\r\n") == b"".join(parts).count(b"\r\n") == 4


@shows("format-zstd")
@pytest_twisted.ensureDeferred
async def test_zstandard_is_used_where_client_and_server_have_it(served, monkeypatch):
    _owner, project = await answered(served, [{"n": n} for n in range(3)])
    query = "type=task_run&format=csv"
    whole = await plain(served, served.client(), project, query)
    packed = await plain(served, served.client(), project, query, **{"Accept-Encoding": "gzip, deflate, br, zstd"})
    tag = packed.header("etag")
    assert packed.header("content-encoding") == "zstd" and tag.endswith('-zstd"') and tag != whole.header("etag")
    assert packed.header("accept-ranges") == "none" and "Accept-Encoding" in packed.header("vary")
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed.body) == whole.body
    rest = await plain(
        served, served.client(), project, query, Range="bytes=10-", **{"If-Range": tag, "Accept-Encoding": "zstd"}
    )
    assert (rest.status, rest.header("content-encoding"), rest.body) == (200, None, whole.body), (
        "a packed one cannot go on"
    )
    for accepted, coding in (
        ("zstd;q=0.5, gzip", "gzip"),
        ("zstd;q=0", None),
        ("*", "gzip"),
        ("zstd;q=0.1, identity", None),
    ):
        answer = await plain(served, served.client(), project, query, **{"Accept-Encoding": accepted})
        assert answer.header("content-encoding") == coding, accepted
    parquet = await plain(served, served.client(), project, "format=parquet", **{"Accept-Encoding": "zstd"})
    assert parquet.header("content-encoding") is None, "it is compressed already"
    monkeypatch.setattr(response_writer, "offered_codings", lambda: ("gzip",))
    answer = await plain(served, served.client(), project, query, **{"Accept-Encoding": "zstd, gzip;q=0.5"})
    assert answer.header("content-encoding") == "gzip"


async def plain(served: Any, client: Any, project: dict[str, Any], query: str, **headers: str) -> Response:
    """A file as it came, not unpacked."""
    sent = Headers({name: [value] for name, value in headers.items()})
    if client.key:
        sent.addRawHeader("Authorization", client.key)
    address = f"{client.base}/api/project/{project['id']}/export?{query}"
    response = await served._agent.request(b"GET", address.encode(), sent)
    return Response(response.code, response.headers, await readBody(response))


@pytest.mark.parametrize("query", ["type=nothing", "format=xml", "info=all", "rows=column", "volunteer=x&type=task"])
@pytest_twisted.ensureDeferred
async def test_what_is_not_offered_is_refused(served, query):
    owner, project = await answered(served, [])
    assert (await exported(owner, project, query)).status in (404, 415)
