"""Trains a model on what people have read, and lets them read next what it is least sure of.

    pip install 'crowdd-client[pandas]' scikit-learn pillow
    SITE=https://crowdd.example KEY=… python learn.py digits

Call it again after more answers, by cron or from the receiver of a webhook: each call is a version of the model. KEY is
a key of the project's owner. Predictions never count as answers, and complete tasks stay as they are.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from urllib.parse import urljoin
from urllib.request import urlopen

import attrs
import numpy
from crowdd_client import Client
from PIL import Image
from sklearn.linear_model import LogisticRegression

QUESTION, MODEL = "digit", "logistic-regression"
CLASSES = 2  # the model begins when people have read so many different digits


@attrs.frozen
class Step:
    """What one call knows: digits by task, those that most people read and those that the model predicts."""

    read: Mapping[int, int]
    predicted: Mapping[int, int]

    @property
    def known(self) -> Mapping[int, int]:
        """A digit for each task of which anything is known. People come first."""
        return {**self.predicted, **self.read}


def pixels(address: str) -> numpy.ndarray:
    """A picture as 100 shades of grey, 0 to 1."""
    with urlopen(address) as file:
        picture = Image.open(io.BytesIO(file.read())).convert("L").resize((10, 10), Image.Resampling.BOX)
    return numpy.asarray(picture, dtype=float).ravel() / 255


def pictures(client: Client, name: str) -> dict[int, numpy.ndarray]:
    """The pixels of each task of a project."""
    return {
        task["id"]: pixels(urljoin(os.environ["SITE"], task["info"]["image"])) for task in client.project(name).tasks()
    }


def read_digits(client: Client, name: str) -> dict[int, int]:
    """The digit that most answers to a task name. Tasks with a tie, or of which nobody can tell, are left out."""
    votes: dict[int, list[int]] = {}
    for answer in client.project(name).answers():
        if answer["info"]["digit"] is not None:
            votes.setdefault(answer["task_id"], []).append(answer["info"]["digit"])
    counted = {task: numpy.bincount(digits) for task, digits in votes.items()}
    return {task: int(n.argmax()) for task, n in counted.items() if (n == n.max()).sum() == 1}


def step(client: Client, name: str, seen: Mapping[int, numpy.ndarray], share: float = 0.1) -> Step:
    """Train, predict and order once. ``share`` of the tasks stay in an order by chance: 1 leaves all of them there."""
    project, read = client.project(name), read_digits(client, name)
    if len(set(read.values())) < CLASSES:
        return Step(read, {})
    model = LogisticRegression(C=10, max_iter=500).fit([seen[task] for task in read], list(read.values()))
    tasks = sorted(seen)
    chances = model.predict_proba([seen[task] for task in tasks])
    predicted = {task: int(model.classes_[n.argmax()]) for task, n in zip(tasks, chances, strict=True)}
    about = {"project_id": project.id, "model": MODEL, "version": f"{len(read)} tasks", "question": QUESTION}
    rows = [
        about | {"task_id": task, "value": value, "probability": float(n.max())}
        for (task, value), n in zip(predicted.items(), chances, strict=True)
    ]
    for first in range(0, len(rows), 10_000):
        client.request("POST", "/api/prediction", body=rows[first : first + 10_000])
    order = {"uncertain": {"question": QUESTION, "model": MODEL}, "share": share}
    client.request("POST", f"/api/project/{project.id}/order", body=order)
    return Step(read, predicted)


if __name__ == "__main__":
    with Client(os.environ["SITE"]) as client:  # the key comes from the environment variable KEY
        done = step(client, sys.argv[1], pictures(client, sys.argv[1]))
    print(f"Trained on {len(done.read)} tasks that people have read, predicted {len(done.predicted)}.")
