"""A museum's file from its arrival to the answers: every number on the way is the one that the file says.

    make museum                 (python -m bench.transfer.museum [--url http://127.0.0.1:5000])

A file of 20,000 rows in Windows-1252, with semicolons and umlauts, of which 30 are damaged: quotation marks that are
never closed, rows with cells too many, numbers of answers that are no numbers. It is uploaded, looked at, imported
without the damaged rows, published, answered by volunteers and exported. With ``--url`` the server is one that runs
already, such as one that ``make run`` has just started in a fresh clone.
"""

from __future__ import annotations

import argparse
import csv
import io
import secrets
import sys
import time
from collections.abc import Iterator
from typing import Any

import attrs
import requests
from support.person import Person

from bench.support import testbed
from bench.support.figures import table

ROWS, DAMAGED, FINISHED = 20_000, 30, 40
COLUMNS = ("Inventar-Nr.", "Titel", "Fundort", "Beschreibung", "n_answers")
TITLES = ("Schüssel", "Krug mit Bärenkopf", "Öllampe", "Fußreif", "Münze „Zürich“", "Gefäß – grün")


@attrs.define
class Checked:
    """What was compared: lines for people, and what was wrong."""

    lines: list[tuple[str, object]] = attrs.field(factory=list)
    wrong: list[str] = attrs.field(factory=list)

    def expect(self, name: str, actual: object, expected: object) -> None:
        """Note a number, and whether it is the one that the file says."""
        self.lines.append((name, actual))
        if actual != expected:
            self.wrong.append(f"{name}: {actual} instead of {expected}")


def is_damaged(number: int) -> bool:
    """Thirty rows, never two in a row."""
    return number % (ROWS // DAMAGED) == 100 and number // (ROWS // DAMAGED) < DAMAGED


def rows() -> Iterator[str]:
    """The lines of the file."""
    yield ";".join(COLUMNS)
    for number in range(ROWS):
        title, height = TITLES[number % len(TITLES)], number % 90
        cells = [f"A {number:05}", title, "Küche, Ostflügel", f'"Höhe: {height} cm; Riß"', "2"]
        if is_damaged(number):
            kind = number // (ROWS // DAMAGED) % 3
            if kind == 0:
                cells[3] = '"nie geschlossen'
            elif kind == 1:
                cells += ["zuviel", "noch eine"]
            else:
                cells[4] = "zwei"
        yield ";".join(cells)


class Walk:
    """The owner's way, by the requests that a browser sends."""

    def __init__(self, url: str) -> None:
        self.url, self.found = url, Checked()
        self.owner = Person(url).register(f"museum{secrets.token_hex(4)}")
        self.name = f"collection-{secrets.token_hex(4)}"
        self.key = {"Authorization": self.owner.key}

    def run(self) -> Checked:
        """All of it."""
        self.project = self.owner.api("POST", "project", {
            "name": self.name, "short_name": self.name, "description": "Was steht auf der Karte?",
            "info": {"task_presenter": "<p>?</p>"},
        })["id"]  # fmt: skip
        self._import()
        self._publish()
        self._answer()
        self._export()
        return self.found

    def _page(self, path: str) -> Any:
        answer = requests.get(self.url + path, headers={**self.key, "Content-Type": "application/json"}, timeout=60)
        assert answer.status_code == 200, (path, answer.text[:300])
        return answer.json()

    def _import(self) -> None:
        """Uploads the file, looks at what it would become, skips what is damaged."""
        at = f"{self.url}/project/{self.name}/tasks/import?response_format=json"
        body = "\r\n".join(rows()).encode("cp1252")
        files = {"file": ("karteikarten.csv", body)}
        began = requests.post(at, headers=self.key, files=files, data={"map": "y"}, timeout=120).json()
        preview = self._until(began["next"], lambda shown: shown["state"] != "reading")
        expect, figures = self.found.expect, preview["preview"]
        expect("rows in the preview", figures["rows"], ROWS)
        expect("good rows in the preview", figures["added"], ROWS - DAMAGED)
        expect("refused rows in the preview", figures["refused"], DAMAGED)
        expect("answers in the preview", figures["answers"], 2 * (ROWS - DAMAGED))
        refused = requests.get(f"{self.url}{began['next'].split('?')[0]}/errors", headers=self.key, timeout=60)
        listed = list(csv.DictReader(io.StringIO(refused.content.decode("utf-8-sig"), newline="")))
        expect("rows in the file of refused rows", len(listed), DAMAGED)
        lines = [number + 2 for number in range(ROWS) if is_damaged(number)]
        expect("and they are the damaged ones", sorted(int(row["line"]) for row in listed) == lines, True)
        started = requests.post(
            self.url + began["next"], headers=self.key, json={"on_error": "skip"}, timeout=60
        ).json()
        assert started["status"] == "success", started
        done = self._until(began["next"], lambda shown: shown["state"] in ("done", "dead", "cancelled"))
        for name, number in (("rows", ROWS), ("added", ROWS - DAMAGED), ("refused", DAMAGED)):
            expect(f"{name} of the import", done[name], number)
        expect("rows = added + updated + already there + refused", done["rows"] == sum(
            done[name] for name in ("added", "updated", "present", "refused")
        ), True)  # fmt: skip
        expect("tasks of the project", self._project()["n_tasks"], ROWS - DAMAGED)
        first = self.owner.api("GET", "task", project_id=self.project, limit=1)[0]
        expect("title of the first task", first["info"]["Titel"], TITLES[0])
        expect("description of the first task", first["info"]["Beschreibung"], "Höhe: 0 cm; Riß")

    def _until(self, path: str, over: Any) -> dict[str, Any]:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            shown: dict[str, Any] = self._page(path)["import"]
            if over(shown):
                return shown
            time.sleep(0.2)
        raise TimeoutError(path)

    def _project(self) -> dict[str, Any]:
        project: dict[str, Any] = self._page(f"/project/{self.name}/")["project"]
        return project

    def _publish(self) -> None:
        self.owner.publish(self.name)
        shown = self._project()
        self.found.expect("published", shown["published"], True)
        self.found.expect("progress when published", shown["overall_progress"], 0)

    def _answer(self) -> None:
        """Two volunteers answer the same tasks, so that these are complete."""
        for number in range(2):
            volunteer = Person(self.url).register(f"volunteer{secrets.token_hex(4)}")
            for _ in range(FINISHED):
                task = volunteer.api("GET", f"project/{self.project}/newtask")
                run = {"project_id": self.project, "task_id": task["id"], "info": {"text": f"Größe {number}"}}
                volunteer.api("POST", "taskrun", run)
        shown = self._project()
        self.found.expect("complete tasks", shown["n_completed_tasks"], FINISHED)
        self.found.expect("volunteers", shown["n_volunteers"], 2)
        self.found.expect("progress in percent", shown["overall_progress"], 100 * FINISHED // (ROWS - DAMAGED))
        stats = self.owner.api("GET", "projectstats", project_id=self.project)[0]
        self.found.expect("answers in the statistics", stats["n_task_runs"], 2 * FINISHED)
        self.found.expect("tasks in the statistics", stats["n_tasks"], ROWS - DAMAGED)
        self.found.expect("complete tasks in the statistics", stats["n_completed_tasks"], FINISHED)
        self.found.expect("results with info in the statistics", stats["n_results"], 0)

    def _export(self) -> None:
        for type_, number in (("task", ROWS - DAMAGED), ("task_run", 2 * FINISHED), ("result", FINISHED)):
            at = f"{self.url}/project/{self.name}/tasks/export?type={type_}"
            as_csv = requests.get(f"{at}&format=csv", headers=self.key, timeout=120).content.decode("utf-8-sig")
            as_json = requests.get(f"{at}&format=json", headers=self.key, timeout=120).json()
            listed = list(csv.DictReader(io.StringIO(as_csv, newline="")))
            self.found.expect(f"rows of {type_} as CSV", len(listed), number)
            self.found.expect(f"rows of {type_} as JSON", len(as_json), number)
            if type_ == "task":
                titles = {row["info_Titel"] if "info_Titel" in row else row["Titel"] for row in listed}
                self.found.expect("titles as CSV are those of the file", titles == set(TITLES), True)


def main() -> int:
    """Runs it and prints a table; 1 when a number is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="a server that runs already")
    options = parser.parse_args()
    if options.url:
        checked = Walk(options.url).run()
    else:
        with (
            testbed.folder() as place,
            testbed.postgres(place) as database,
            testbed.crowdd(database.dsn, place) as server,
        ):
            checked = Walk(server.url).run()
    print(table("A museum's file", checked.lines, checked.wrong))
    return bool(checked.wrong)


if __name__ == "__main__":
    sys.exit(main())
