"""``crowdctl import-zooniverse``: exports of Zooniverse become tasks and answers of volunteers without accounts."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

SUBJECTS = [
    "subject_id",
    "project_id",
    "workflow_id",
    "subject_set_id",
    "metadata",
    "locations",
    "classifications_count",
    "retired_at",
    "retirement_reason",
    "created_at",
    "updated_at",
]
CLASSIFICATIONS = [
    "classification_id",
    "user_name",
    "user_id",
    "user_ip",
    "workflow_id",
    "workflow_name",
    "workflow_version",
    "created_at",
    "gold_standard",
    "expert",
    "metadata",
    "annotations",
    "subject_data",
    "subject_ids",
]


def subject(number: int, retired: str = "", **more: str) -> dict[str, str]:
    return {
        "subject_id": str(number),
        "project_id": "1",
        "workflow_id": "7",
        "subject_set_id": "3",
        "metadata": json.dumps({"#camera": f"C{number}"}),
        "locations": json.dumps({"1": "https://panoptes.example/b.jpg", "0": "https://panoptes.example/a.jpg"}),
        "retired_at": retired,
        "created_at": "2017-05-01 10:00:00 UTC",
        **more,
    }


def said(number: int, of: int, user: str = "", ip: str = "", **more: str) -> dict[str, str]:
    return {
        "classification_id": str(number),
        "user_name": f"volunteer-{user}",
        "user_id": user,
        "user_ip": ip,
        "workflow_id": "7",
        "workflow_version": "12.34",
        "created_at": "2017-05-31 02:25:40 UTC",
        "metadata": json.dumps({"started_at": "2017-05-31T02:25:10.123Z", "user_agent": "Netscape"}),
        "annotations": json.dumps([{"task": "T0", "task_label": "What is it?", "value": "Owl"}]),
        "subject_ids": str(of),
        **more,
    }


def write(path: Path, columns: list[str], *rows: dict[str, str]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, columns)
        out.writeheader()
        out.writerows(rows)
    return path


@pytest.fixture
def files(crowdctl: Any, tmp_path: Path) -> tuple[str | Path, ...]:
    """Words of the command, for a project without tasks and two files with rows of all kinds."""
    folder = tmp_path / "owls"
    folder.mkdir()
    (folder / "project.json").write_text('{"name": "Owls", "short_name": "owls", "description": "Who hoots?"}')
    (folder / "presenter.html").write_text("<p>Who?</p>")
    crowdctl.json("admin", "create", "--name", "ada", "--email", "ada@example.org", "--password", "a good password")
    crowdctl.json("project", "load", folder, "--owner", "ada")
    subjects = write(
        tmp_path / "subjects.csv",
        SUBJECTS,
        subject(11, "2017-06-01 00:00:00 UTC"),
        subject(12),
        subject(12, subject_set_id="4"),
        subject(13, workflow_id="8"),
        subject(14, locations="no JSON"),
    )
    classifications = write(
        tmp_path / "classifications.csv",
        CLASSIFICATIONS,
        said(101, 11, "5"),
        said(102, 11, ip="0123abcd"),
        said(103, 11, "5"),  # once more the same volunteer
        said(104, 12, "5"),
        said(105, 13, "5"),  # its subject is in no file of this workflow
        said(106, 12, "6", workflow_id="8"),
        said(107, 12, "6", annotations="[1]"),
        said(108, 12, "6", subject_ids="12;13"),
        said(109, 12, "6", created_at="yesterday"),
    )
    return ("--workflow", "7", "--subjects", subjects, "--classifications", classifications)


def sums(report: Any) -> dict[str, tuple[int, ...]]:
    counts = {
        each["file"]: tuple(each[name] for name in ("read", "added", "present", "refused")) for each in report["files"]
    }
    assert all(read == added + present + refused for read, added, present, refused in counts.values())
    return counts


def test_subjects_and_classifications_come_over_once(crowdctl, files, rows):
    report = crowdctl.json("import-zooniverse", "owls", "--n-answers", "4", *files)
    assert sums(report) == {"subjects": (5, 2, 0, 3), "classifications": (9, 3, 0, 6)}
    tasks = rows("SELECT id, state, n_answers, info FROM task_record ORDER BY id")
    assert [(t["state"], t["n_answers"], t["info"]["subject_id"]) for t in tasks] == [
        ("completed", 2, 11),
        ("ongoing", 4, 12),
    ]
    assert tasks[0]["info"]["media"] == ["https://panoptes.example/a.jpg", "https://panoptes.example/b.jpg"]
    assert tasks[0]["info"]["metadata"] == {"#camera": "C11"}
    answers = rows(
        "SELECT actor, user_id, user_ip, created::text, finish_time::text, info, counted FROM task_run ORDER BY id"
    )
    assert all(a["counted"] and a["user_id"] is a["user_ip"] is None for a in answers)
    assert answers[0]["actor"] == answers[2]["actor"] != answers[1]["actor"] and answers[0]["actor"].startswith("x:")
    assert not {"5", "0123abcd"} & {a["actor"].removeprefix("x:") for a in answers}
    assert (answers[0]["created"][:19], answers[0]["finish_time"][:19]) == (
        "2017-05-31 02:25:10",
        "2017-05-31 02:25:40",
    )
    assert answers[0]["info"]["T0"] == "Owl" and answers[0]["info"]["annotations"][0]["task_label"] == "What is it?"
    assert rows("SELECT count(*) AS n FROM account") == [{"n": 1}] and crowdctl.json("check") == []
    again = crowdctl.json("import-zooniverse", "owls", "--n-answers", "4", *files)
    assert sums(again) == {"subjects": (5, 0, 2, 3), "classifications": (9, 0, 3, 6)}
    assert len(rows("SELECT id FROM task_run")) == 3


def test_each_refusal_has_its_reason(crowdctl, files):
    subjects, classifications = crowdctl.json("import-zooniverse", "owls", *files)["files"]
    assert {each["sentence"]: each["first"] for each in subjects["reasons"]} == {
        "The subject is in another subject set as well: it becomes one task.": ["12"],
        "It belongs to another workflow.": ["13"],
        "`locations` is not JSON.": ["14"],
    }
    assert {each["sentence"]: each["first"] for each in classifications["reasons"]} == {
        "It belongs to another workflow.": ["106"],
        "`annotations` is not a list of objects.": ["107"],
        "It is about several subjects, or none.": ["108"],
        "The same volunteer has another classification of the subject.": ["103"],
        "Its subject does not come over.": ["105"],
        "`created_at` is not a time.": ["109"],
    }
    assert subjects["refused_rows"] == classifications["refused_rows"] == []


def test_an_odd_number_is_one_refused_row(crowdctl, files, tmp_path):
    """Digits that int() does not take, and more of them than it takes."""
    odd = ("²", "٣", "9" * 5000, "-1", "")
    subjects = write(
        tmp_path / "odd-subjects.csv", SUBJECTS, subject(11), *(subject(1, subject_id=text) for text in odd)
    )
    classifications = write(
        tmp_path / "odd.csv",
        CLASSIFICATIONS,
        said(101, 11, "5"),
        *(said(200 + n, 11, "6", subject_ids=text) for n, text in enumerate(odd)),
        *(said(1, 11, "6", classification_id=text) for text in odd),
    )
    files = "--workflow", "7", "--subjects", subjects, "--classifications", classifications
    report = crowdctl.json("import-zooniverse", "owls", *files)
    assert sums(report) == {"subjects": (6, 1, 0, 5), "classifications": (11, 1, 0, 10)}
    assert {each["sentence"] for file in report["files"] for each in file["reasons"]} == {
        "`subject_id` is not a number.",
        "`classification_id` is not a number.",
        "It is about several subjects, or none.",
    }


def test_a_dry_run_changes_nothing(crowdctl, files, rows):
    report = crowdctl.json("import-zooniverse", "owls", "--dry-run", *files)
    assert report["dry_run"] and sums(report) == {"subjects": (5, 2, 0, 3), "classifications": (9, 3, 0, 6)}
    assert rows("SELECT (SELECT count(*) FROM task) AS t, (SELECT count(*) FROM task_run) AS r") == [{"t": 0, "r": 0}]
    assert "Dry run: nothing was changed." in crowdctl("import-zooniverse", "owls", "--dry-run", *files).output


def test_another_file_is_refused(crowdctl, files):
    *_, classifications = files
    broken = classifications.with_name("broken.csv")
    broken.write_bytes(b"\xff\xfe\x00\x01")
    assert "broken.csv cannot be read" in crowdctl.refused(
        "import-zooniverse", "owls", "--workflow", "7", "--subjects", broken
    )
    error = crowdctl.refused("import-zooniverse", "owls", "--workflow", "7", "--subjects", classifications)
    assert "is not such an export of Zooniverse: it has no column locations, retired_at, subject_id." in error
