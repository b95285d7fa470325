"""The notebook of the client, run cell by cell on a project with answers."""

from __future__ import annotations

import ast
import json
import uuid
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from crowdd_client import Client
from support.person import Person

NOTEBOOK = Path(__file__).parents[3] / "clients" / "python" / "examples" / "agreement.ipynb"
FIELDS = [{"name": "bird", "at": "", "type": "label", "choices": ["yes", "no"]}]


@pytest.mark.proof
def test_the_notebook_goes_from_a_project_to_a_figure_with_its_interval(client, new_name, owner, monkeypatch, capsys):
    name, tasks = new_name(), 12
    project = client.create_project(name, name, info={"task_presenter": "<p>?</p>", "answers": FIELDS})
    project.add_tasks([{"n": n} for n in range(tasks)], n_answers=4)
    project.publish()
    for number in range(4):
        with Client(owner.url, Person(owner.url).register(f"v{uuid.uuid4().hex[:8]}").key) as volunteer:
            mine = volunteer.project(project.id)
            for task in mine.next_tasks(tasks):  # the last one errs on every third task
                right = "yes" if task["info"]["n"] % 2 else "no"
                wrong = "no" if task["info"]["n"] % 2 else "yes"
                mine.submit(task["id"], wrong if number == 3 and task["info"]["n"] % 3 == 0 else right)
    monkeypatch.setenv("SITE", owner.url)
    monkeypatch.setenv("KEY", owner.key)
    monkeypatch.setenv("PROJECT", name)
    shown = run(NOTEBOOK)
    printed = capsys.readouterr().out
    assert f"{4 * tasks} answers to {tasks} tasks by 4 volunteers" in printed
    measures = [line for line in printed.splitlines() if line.endswith(f"n = {tasks} tasks, {4 * tasks} answers")]
    assert measures and all(line.partition(": ")[2][0].isdigit() and " to " in line for line in measures)
    figure = ElementTree.fromstring(shown[-1]._repr_svg_())
    lines = figure.findall("{http://www.w3.org/2000/svg}line")
    points = figure.findall("{http://www.w3.org/2000/svg}circle")
    assert len(lines) == len(points) == 2
    for line, point in zip(lines, points, strict=True):
        assert float(line.get("x1", "")) < float(point.get("cx", "")) < float(line.get("x2", ""))


def run(notebook: Path) -> list[Any]:
    """What each cell shows last. The cells share their names, as in a kernel."""
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(notebook), "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), str(notebook), "eval"), names))
    return shown
