"""The files that describe a snapshot: three validators take them, and what others read in them is what was there."""

from __future__ import annotations

import hashlib
import importlib
import json
import zlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from crowdd.features.snapshots import snapshot_program
from crowdd.features.snapshots.verification import hash_of

LICENSED = {"license": "CC-BY-4.0", "authors": [{"name": 'Ada: "L"', "orcid": "0000-0002-1825-0097"}, {"name": "Bob"}]}
BARE: dict[str, Any] = {"license": None, "authors": []}


def about(said: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What the server tells the process of a project."""
    description = {
        "name": "Night: animals", "short_name": "night-animals", "description": "Who walks here?", "created": "2026-01-31T12:00:00.000000Z",
        "address": "https://crowdd.example/project/night-animals/snapshots", "site": "crowdd", "software": "0.1.0",
        "settings": {"sched": None}, "versions": {"task_presenter": None}, "audit": {"position": 3, "hash": "ab"}, **said, **changes,
    }  # fmt: skip
    return {
        "documents": {"project.json": {"name": "Night: animals", **said}, "presenter.html": "<p>?</p>"},
        "description": description,
        "recalibration": None,
    }


TASKS = [
    {
        "id": 70 + n,
        "created": "2026-01-01T00:00:00.000000Z",
        "info": info,
        "n_answers": 2 + n,
        "priority_0": 0.5,
        "state": "completed",
        "closed": "complete",
    }
    for n, info in enumerate([{"url": "a", "n": 1}, {"url": "b", "n": None}, None])
]
ANSWERS = [
    {
        "id": 900 + n, "task_id": 70 + n % 3, "volunteer": None if n == 4 else f"code{n % 2}", "info": ["fox", {"x": 1.5}, "marten", 7, None][n],
        "created": "2026-01-02T00:00:00.000000Z", "finish_time": f"2026-01-02T00:00:0{n}.000000Z", "timeout": None, "media_url": None,
        "class": ["fox", None, "marten", None, None][n], "fits": n != 1, "counted": n < 4, "not_counted": None if n < 4 else "late",
        "right": None, "questions_version": None,
    }
    for n in range(5)
]  # fmt: skip
RESULTS = [
    {
        "id": 5, "task_id": 71, "task_run_ids": [901, 904, 999], "last_version": True, "created": "2026-01-03T00:00:00.000000Z", "reason": "full",
        "confidence": 0.75, "posterior": None, "consensus": {"species": {"value": "fox"}}, "info": None, "model": None, "sample": None,
    }
]  # fmt: skip

GOLD = [{"id": 72, "right": ["fox"], "rule": None, "since": "2026-01-01T00:00:00.000000Z", "ended": None}]
RULE = {"name": "sure", "when": [{"measure": "votes", "min": 2}], "then": "complete"}
DECISION = {
    "rule": "sure", "version": 2, "kind": "complete", "at": "2026-01-01T00:00:00.000000Z", "n_answers": 2,
    "answers": [501, 999], "classes": [1, 1], "accuracies": [0.7, 0.8], "confidence": 0.9, "choices": ["fox", "owl"],
}  # fmt: skip
RAW = {
    "tasks": TASKS,
    "answers": ANSWERS,
    "results": RESULTS,
    "gold": GOLD,
    "rules": [{"version": 2, "since": "2026-01-01T00:00:00.000000Z", "rules": [RULE]}],
    "decisions": [{"id": 72, "decisions": [DECISION]}, {"id": 7777, "decisions": [DECISION]}],
}


def made(folder: Path, said: dict[str, Any] = LICENSED, **changes: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The findings of the process, and the files by name; they lie inflated in the folder ``crate``."""
    raw, out, crate = (folder / name for name in ("raw", "out", "crate"))
    for each in (raw, out, crate):
        each.mkdir(parents=True)
    for name, rows in RAW.items():
        (raw / f"{name}.ndjson").write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    findings = snapshot_program.write_files(raw, out, orjson.loads(orjson.dumps(about(said, **changes))))
    files = {
        each["name"]: zlib.decompress((out / each["name"]).read_bytes(), -zlib.MAX_WBITS) for each in findings["files"]
    }
    for name, content in files.items():
        (crate / name).write_bytes(content)
    return findings, files


def test_ids_become_numbers_and_the_manifest_fits(tmp_path):
    findings, files = made(tmp_path)
    rows = {
        name: [json.loads(line) for line in content.splitlines()]
        for name, content in files.items()
        if name.endswith(".ndjson")
    }
    assert [row["task"] for row in rows["tasks.ndjson"]] == [1, 2, 3]
    assert [(row["answer"], row["task"], row["volunteer"]) for row in rows["answers.ndjson"]] == [
        (1, 1, "code0"), (2, 2, "code1"), (3, 3, "code0"), (4, 1, "code1"), (5, 2, None),
    ]  # fmt: skip
    assert rows["results.ndjson"][0]["answers"] == [2, 5]
    assert [(row["volunteer"], row["answers"], row["last"][-9:]) for row in rows["volunteers.ndjson"]] == [
        ("code0", 2, "2.000000Z"), ("code1", 2, "3.000000Z"),
    ]  # fmt: skip
    assert not any("id" in row for name in ("tasks.ndjson", "answers.ndjson") for row in rows[name])
    manifest = json.loads(files["manifest.json"])
    assert manifest["hash"] == findings["hash"] == hash_of(manifest)
    assert manifest["counts"] == {
        "tasks": 3,
        "answers": 5,
        "results": 1,
        "gold": 1,
        "rules": 1,
        "decisions": 1,
        "volunteers": 2,
    }
    assert manifest["redundancy"] == {"min": 2, "max": 4}
    for each in findings["files"]:
        assert (len(files[each["name"]]), hashlib.sha256(files[each["name"]]).hexdigest()) == (
            each["bytes"],
            each["sha256"],
        )
    keys = json.loads(files["data_dictionary.json"])["tasks.ndjson"]["info"]
    assert keys == [{"name": "url", "rows": {"string": 2}}, {"name": "n", "rows": {"integer": 1, "null": 1}}]


def test_what_differs_from_server_to_server_is_not_in_the_hash(tmp_path):
    first, _files = made(tmp_path / "1")
    elsewhere = {
        "created": "2031-01-01T00:00:00.000000Z",
        "address": "https://b.example/x",
        "site": "b",
        "software": "9",
        "audit": {"position": 9, "hash": "b"},
    }
    second, files = made(tmp_path / "2", **elsewhere)
    assert second["hash"] == first["hash"]
    assert json.loads(files["manifest.json"])["software"]["version"] == "9"
    assert made(tmp_path / "3", BARE)[0]["hash"] != first["hash"]


@pytest.mark.parametrize("said", [LICENSED, BARE], ids=["licensed", "bare"])
def test_rocrate_reads_the_crate(tmp_path, said):
    rocrate = importlib.import_module("rocrate.rocrate")
    _found, files = made(tmp_path, said)
    crate = rocrate.ROCrate(tmp_path / "crate")
    assert crate.name == "Night: animals" and str(crate.datePublished).startswith("2026-01-31")
    described = {entity.id for entity in crate.data_entities}
    assert {"answers.ndjson", "tasks.ndjson", "presenter.html"} <= described <= files.keys()
    assert crate.dereference("answers.ndjson")["sha256"] == hashlib.sha256(files["answers.ndjson"]).hexdigest()
    graph = json.loads(files["ro-crate-metadata.json"])["@graph"]
    known = {entity["@id"] for entity in graph}
    named = {
        value["@id"]
        for entity in graph[1:]
        for value in flat(entity.values())
        if isinstance(value, dict) and value.keys() == {"@id"}
    }
    assert named <= known


def flat(values: Any) -> Any:
    for value in values:
        yield from value if isinstance(value, list) else [value]


@pytest.mark.parametrize("said", [LICENSED, BARE], ids=["licensed", "bare"])
def test_frictionless_validates_the_package_and_its_rows(tmp_path, said):
    frictionless = importlib.import_module("frictionless")
    made(tmp_path, said)
    package = frictionless.Package(str(tmp_path / "crate" / "datapackage.json"))
    report = package.validate()
    assert report.valid, report.flatten(["title", "message"])
    assert [row["answer"] for row in package.get_resource("answers").read_rows()] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("said", [LICENSED, BARE], ids=["licensed", "bare"])
def test_mlcroissant_validates_the_data_set_and_reads_records(tmp_path, said):
    croissant = importlib.import_module("mlcroissant")
    made(tmp_path, said)
    dataset = croissant.Dataset(jsonld=str(tmp_path / "crate" / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    assert {each.id for each in dataset.metadata.record_sets} >= {"tasks", "answers", "results", "volunteers"}
    # Of tables with free-form columns mlcroissant reads no records: it takes no object for a text.
    records = list(dataset.records("volunteers"))
    assert [(record["volunteers/volunteer"], record["volunteers/answers"]) for record in records] == [
        (b"code0", 2),
        (b"code1", 2),
    ]


def test_the_citation_file_is_yaml_with_what_the_format_wants(tmp_path):
    yaml = importlib.import_module("yaml")
    _found, files = made(tmp_path)
    work = yaml.safe_load(files["CITATION.cff"])
    assert {"cff-version", "message", "title", "authors", "type", "url", "version", "license"} <= work.keys()
    assert work["authors"] == [{"name": 'Ada: "L"', "orcid": "https://orcid.org/0000-0002-1825-0097"}, {"name": "Bob"}]
    assert work["license"] == "CC-BY-4.0" and "Attribution 4.0" in files["LICENSE.txt"].decode()
    assert "license" not in yaml.safe_load(made(tmp_path / "bare", BARE)[1]["CITATION.cff"])
