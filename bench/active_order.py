"""What an order by use gains: the example of digits learns from simulated people, in that order and by chance.

    python -m bench.active_order [--rounds 8] [--each 15] [--seeds 3] [--picture FILE]

Two projects with the 200 pictures of ``examples/digits`` get the same number of answers. After each round
``examples/digits/learn.py`` trains, predicts and orders. The table has, for each number of answers, the share of all
pictures whose digit is right: what most people read, and where nobody has answered yet what the model predicts. Gate:
from half of the rounds on, the order by use is on average at least as good as chance. ``--picture`` needs matplotlib.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import os
import random
import statistics
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final
from unittest import mock

from crowdd_client import Client
from sklearn.datasets import load_digits
from support.person import Person

from bench import ROOT
from bench.support import testbed
from bench.support.figures import table

EXAMPLE: Final = ROOT / "examples/digits"
RIGHT: Final = 0.95  # share of the answers that are
PEOPLE: Final = 3
SHARES: Final = {"by use": 0.1, "by chance": 1.0}


def truth() -> list[int]:
    """What the pictures of the example show, in their order."""
    target = load_digits().target
    return [int(target[index]) for index in example("make_tasks").chosen(target)]


def example(name: str) -> Any:
    """A module of the example, as it stands in its folder."""
    if str(EXAMPLE) not in sys.path:
        sys.path.append(str(EXAMPLE))
    return importlib.import_module(name)


def tasks() -> list[dict[str, str | int]]:
    """The tasks of the example, with their pictures inside."""
    rows = [json.loads(line)["info"] for line in (EXAMPLE / "tasks.ndjson").read_text("utf-8").splitlines()]
    data = [base64.b64encode((EXAMPLE / row["image"]).read_bytes()).decode() for row in rows]
    return [
        {"image": f"data:image/png;base64,{one}", "number": row["number"]} for row, one in zip(rows, data, strict=True)
    ]


def learning(url: str, seed: int, share: float, rounds: int, each: int) -> list[float]:
    """The share of the pictures that is right after each round of one project."""
    learn, chance, name = example("learn"), random.Random(seed), f"digits{seed}{'use' if share < 1 else 'chance'}"
    owner, shown = Person(url).register(f"owner{name}"), truth()
    volunteers = [Person(url).register(f"v{number}{name}") for number in range(PEOPLE)]
    with Client(url, owner.key) as client, mock.patch.dict(os.environ, {"SITE": url}):
        project = client.create_project(name, name, "Which digit?", info={"task_presenter": "<p>?</p>"})
        project.add_tasks(tasks(), n_answers=PEOPLE)
        project.publish()
        numbers = {task["id"]: task["info"]["number"] - 1 for task in project.tasks()}
        # Nobody knows anything yet: each project begins in an order of its own.
        column = {"column": "number", "share": 1, "seed": seed}
        client.request("POST", f"/api/project/{project.id}/order", body=column)
        seen, figures = learn.pictures(client, name), []
        for _ in range(rounds):
            for _ in range(each):
                for person in volunteers:
                    task = person.api("GET", f"project/{project.id}/newtask")
                    digit = shown[numbers[task["id"]]]
                    read = digit if chance.random() < RIGHT else chance.randrange(10)
                    person.api(
                        "POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": {"digit": read}}
                    )
            known = learn.step(client, name, seen, share).known
            figures.append(sum(known.get(task) == shown[number] for task, number in numbers.items()) / len(numbers))
    return figures


def drawn(figures: Mapping[str, Sequence[float]], answers: Sequence[int], file: str) -> None:
    """The picture of both."""
    try:
        pictures = importlib.import_module("matplotlib.figure")
    except ImportError:
        raise SystemExit("--picture needs matplotlib: pip install matplotlib") from None
    figure = pictures.Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    for name, values in figures.items():
        axes.plot(answers, [100 * value for value in values], marker="o", label=name)
    axes.set(xlabel="answers", ylabel="pictures with the right digit, %")
    axes.legend()
    figure.savefig(file, metadata={"Date": None})


def main() -> int:
    """Prints the table; 1 when the gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in {"rounds": 8, "each": 15, "seeds": 3}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--picture")
    options = parser.parse_args()
    with testbed.folder() as place, testbed.postgres(place) as database, testbed.crowdd(database.dsn, place) as server:
        figures = {
            name: [
                statistics.mean(at)
                for at in zip(
                    *(learning(server.url, seed, share, options.rounds, options.each) for seed in range(options.seeds)),
                    strict=True,
                )
            ]
            for name, share in SHARES.items()
        }
    answers = [PEOPLE * options.each * (n + 1) for n in range(options.rounds)]
    if options.picture:
        drawn(figures, answers, options.picture)
    late = {name: statistics.mean(values[options.rounds // 2 :]) for name, values in figures.items()}
    lines: list[tuple[str, object]] = [
        (f"{n} answers", "  ".join(f"{name} {figures[name][at]:.3f}" for name in SHARES))
        for at, n in enumerate(answers)
    ]
    wrong = (
        []
        if late["by use"] >= late["by chance"]
        else [f"by use {late['by use']:.3f}, by chance {late['by chance']:.3f}"]
    )
    print(table("Pictures with the right digit", lines, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
