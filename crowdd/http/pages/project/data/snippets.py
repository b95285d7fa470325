"""Programs that read the answers of a project, with its addresses. None contains a key: they read it from KEY.

The texts are the same in each language. Nothing in them comes from an owner but the address, which is escaped.
"""

from __future__ import annotations

import attrs

_PANDAS = """\
# pip install pandas
import os

import pandas

address = "{csv}"
answers = pandas.read_csv(address, storage_options={{"Authorization": os.environ.get("KEY", "")}})
print(answers.groupby("task_id").size())
"""
_POLARS = """\
# pip install polars
import io
import os
import urllib.request

import polars

address = "{csv}"
request = urllib.request.Request(address, headers={{"Authorization": os.environ.get("KEY", "")}})
with urllib.request.urlopen(request) as response:
    answers = polars.read_csv(io.BytesIO(response.read()), infer_schema_length=None)
print(answers.group_by("task_id").len().sort("task_id"))
"""
_DUCKDB = """\
# pip install duckdb
import os
import shutil
import urllib.request

import duckdb

address = "{csv}"
request = urllib.request.Request(address, headers={{"Authorization": os.environ.get("KEY", "")}})
with urllib.request.urlopen(request) as response, open("answers.csv", "wb") as file:
    shutil.copyfileobj(response, file)
answers = duckdb.read_csv("answers.csv", header=True, delimiter=",", sample_size=-1)
print(duckdb.sql("SELECT task_id, count(*) AS answers FROM answers GROUP BY task_id ORDER BY task_id"))
"""
_CLIENT = """\
# pip install 'crowdd-client[pandas]'
from crowdd_client import Client

with Client("{site}") as client:  # reads KEY by itself
    project = client.project({id})
    answers = project.export("answers").to_pandas()
    print(answers.groupby("task_id").size())
    for answer in project.answers():  # row by row, also with filters: answers(task_id=12)
        print(answer["task_id"], answer["volunteer"], answer["info"])
"""
_R = """\
address <- "{csv}"
download.file(address, "answers.csv", mode = "wb", headers = c(Authorization = Sys.getenv("KEY")))
answers <- read.csv("answers.csv", fileEncoding = "UTF-8-BOM", check.names = FALSE)
print(table(answers$task_id))
"""
_CURL = """\
for type in task task_run result; do
  curl -fsS -H "Authorization: $KEY" -o $type.csv "{export}?type=$type&format=csv&raw=1"
done
curl -fsS -H "Authorization: $KEY" "{site}/api/taskrun?project_id={id}&all=1&limit=100&last_id=0"
"""
_PROGRAMS = (
    ("pandas", "pandas", "python", _PANDAS),
    ("polars", "polars", "python", _POLARS),
    ("duckdb", "DuckDB", "python", _DUCKDB),
    ("client", "crowdd-client", "python", _CLIENT),
    ("r", "R", "r", _R),
    ("curl", "curl", "sh", _CURL),
)


@attrs.frozen
class Snippet:
    """A program: its name in addresses, that of its library for people, its language, and its text."""

    name: str
    title: str
    language: str
    text: str


def snippets(site: str, export: str, project_id: int) -> list[Snippet]:
    """The programs for a project. ``site`` is the address of the server, ``export`` that of the project's exports."""
    # Cells are left as they are (raw): an apostrophe before a formula is for spreadsheets.
    places = {"site": site, "export": export, "id": project_id, "csv": f"{export}?type=task_run&format=csv&raw=1"}
    return [Snippet(name, title, language, text.format(**places)) for name, title, language, text in _PROGRAMS]
