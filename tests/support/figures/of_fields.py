"""The figures of further answer fields: the results of a project by field, in JSON and on the page, and its tasks."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from statistics import median
from typing import Any

from support.figures import Compared
from support.figures.lively_site import FIELDS, Site
from support.figures.of_projects import LIKELIEST, alike, comparable, winner
from support.figures.reading import read

_RESULTS = """
SELECT x.task_id, array_agg(r.info ORDER BY r.id) AS infos FROM result x JOIN task_run r ON r.project_id = x.project_id AND r.id = ANY (x.task_run_ids)
 WHERE x.project_id = %(id)s AND x.last_version GROUP BY x.id, x.task_id ORDER BY x.id DESC"""


def _numbers(values: list[Any]) -> tuple[Any, float]:
    middle = median(values)
    return int(middle) if middle == int(middle) else middle, _mean(
        abs(a - b) <= FIELDS[1]["tolerance"] for a, b in combinations(values, 2)
    )


def _sets(values: list[Any]) -> tuple[Any, float]:
    named = Counter(one for value in values for one in value)
    return [one for one in FIELDS[2]["choices"] if 2 * named[one] > len(values)], _mean(
        _alike(frozenset(a), frozenset(b)) for a, b in combinations(values, 2)
    )


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    both = one & other
    return 1.0 if one == other else len(both) / len(one | other) * (2 / 3 if both in (one, other) else 1 / 3)


def _mean(values: Any) -> float:
    numbers = [float(value) for value in values]
    return sum(numbers) / len(numbers) if numbers else 1.0


async def of_fields(site: Site) -> Compared:
    """All of them, of the project with several fields."""
    who, values = site.people["helper"], {"id": site.projects["cats"]}
    rows = await site.rows(_RESULTS, **values)
    document = await site.json("/project/cats/results", who)
    page = await read(site, "/project/cats/results", who)
    yield "cats: names of fields", [one["name"] for one in document["fields"]], [field["name"] for field in FIELDS]
    yield "cats: first field", {key: document["fields"][0][key] for key in document["summary"]}, document["summary"]
    by_task: dict[int, list[Any]] = {}
    for nth, of in ((1, _numbers), (2, _sets)):
        key, name = FIELDS[nth]["at"][1:], FIELDS[nth]["name"]
        entries_by_task = {row["task_id"]: [info[key] for info in row["infos"] if key in info] for row in rows}
        consensus = {task: of(entries) for task, entries in entries_by_task.items() if entries}
        several = [consensus[task][1] for task, entries in entries_by_task.items() if len(entries) > 1]
        winners = Counter(json.dumps(value) for value, _ in consensus.values())
        expected = {
            "tasks": len(rows), "answers": sum(map(len, entries_by_task.values())), "several": len(several), "unanimous": several.count(1),
            "unanswered": len(rows) - len(consensus), "tied": 0, "kinds": len(winners), "others": sum(winners.values()) - sum(n for _, n in winners.most_common(10)),
            "bands": [sum(a < 0.5 for a in several), sum(0.5 <= a < 0.75 for a in several), sum(0.75 <= a < 1 for a in several), several.count(1)],
        }  # fmt: skip
        field = document["fields"][nth]
        yield f"cats: results of {name}", {name: field[name] for name in expected}, expected
        mean = sum(several) / len(several) if several else None
        yield f"cats: agreement of {name}", field["agreement"] and round(field["agreement"], 6), mean and round(mean, 6)
        outcomes = {json.dumps(one["answer"]): one["n"] for one in field["outcomes"]}
        yield f"cats: outcomes of {name}", outcomes, dict(winners)
        caption, column = (f"Answers to: {name}", 2) if of is _numbers else (f"Tasks by their consensus: {name}", 1)
        shown = sorted(n for cells in page.cells(caption) if (n := int(cells[column].split()[0])))  # bins may be empty
        yield (
            f"cats: {caption}",
            shown,
            sorted([*winners.values(), *([len(rows) - len(consensus)] if len(consensus) < len(rows) else [])]),
        )
        for task, entries in entries_by_task.items():
            by_task.setdefault(task, []).append((len(entries), *(consensus[task] if entries else (None, None))))
    for row in document["rows"]:
        shown = [(one["answers"], one["value"], one["agreement"]) for one in row["fields"][1:]]
        yield f"cats: fields of task {row['task_id']}", _rounded(shown), _rounded(by_task[row["task_id"]])
    one = await site.json(f"/project/cats/tasks/{rows[0]['task_id']}", who)
    answers = comparable("cats", [info["answer"] for info in rows[0]["infos"]])
    [consensus] = await site.rows(
        f"SELECT {LIKELIEST} AS likeliest FROM result x WHERE task_id = %(id)s AND last_version", id=rows[0]["task_id"]
    )
    yield (
        "cats: first field of a task",
        one["fields"][0]["value"],
        json.loads(winner("cats", {**consensus, "answers": answers})[0] or "null"),
    )
    yield "cats: agreement of a task", round(one["agreement"]["agreement"], 6), round(alike(answers), 6)
    yield "cats: further fields of a task", one["fields"][1:], document["rows"][0]["fields"][1:]


def _rounded(found: list[Any]) -> list[Any]:
    """(answers, value, agreement), where two answers or more have one."""
    return [(n, value, round(agreement, 6) if n > 1 else None) for n, value, agreement in found]
