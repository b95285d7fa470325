"""Work the figures of a snapshot out again from its files: python recompute.py FOLDER. It needs numpy alone."""

# mypy: allow-untyped-defs, allow-untyped-calls

import json
import sys
from pathlib import Path

import numpy as np


def read(folder, name):
    return [json.loads(line) for line in (folder / f"{name}.ndjson").open("rb")]


def posterior(model):
    """Of each choice: e to the power of its prior and what each answer adds, normalised."""
    logs = np.array(model["prior"]) + sum(np.array(each["log_likelihoods"]) for each in model["answers"])
    return (shares := np.exp(np.maximum(logs - logs.max(), -700))) / shares.sum()


def alpha(groups):
    """Krippendorff's alpha of classes, by tasks."""
    groups = [group for group in groups if len(group) > 1]
    if len(classes := sorted({each for group in groups for each in group})) < 2:
        return None
    counts = np.array([[group.count(each) for each in classes] for group in groups], float)
    sizes, totals, n = counts.sum(1), counts.sum(0), counts.sum()
    observed = ((sizes**2 - (counts**2).sum(1)) / (sizes - 1)).sum()
    return 1 - observed * (n - 1) / (n**2 - (totals**2).sum())


def wilson(right, n, z=1.959963984540054):
    middle, half = right + z * z / 2, z * np.sqrt(right * (n - right) / n + z * z / 4)
    return [(middle - half) / (n + z * z), (middle + half) / (n + z * z)]


def main(folder):
    results, answers = read(folder, "results"), {each["answer"]: each for each in read(folder, "answers")}
    stated = json.loads((folder / "figures.json").read_text("utf-8"))
    weighed = [each for each in results if "prior" in (each["model"] or ())]
    off = max((np.abs(posterior(each["model"]) - each["model"]["posterior"]).max() for each in weighed), default=0)
    for each in (one for one in weighed if one["confidence"] is not None):
        right = np.interp(max(each["model"]["posterior"]), *map(stated["recalibration"].get, ("values", "shares")))
        off = max(off, abs(right - each["confidence"]))
    last = [each for each in results if each["last_version"]]
    first = (json.loads((folder / "project.json").read_text("utf-8"))["settings"]["trust"] or {}).get("min_answers")
    groups = [[json.dumps(answers[n]["class"]) for n in each["answers"] if answers[n]["fits"]][:first] for each in last]
    agreement, n = alpha(groups), sum(len(group) > 1 for group in groups)
    drawn = [each["model"]["class"] == each["sample"] for each in results if each["sample"] is not None]
    accuracy = [sum(drawn) / len(drawn), *wilson(sum(drawn), len(drawn))] if drawn else None
    print(f"{len(weighed)} posteriors, at most {off:.1e} off. Alpha: {agreement}, n = {n} tasks.")
    print(f"Accuracy: {'{:.4f} ({:.4f} to {:.4f}, Wilson)'.format(*accuracy) if accuracy else None}, n = {len(drawn)}.")
    theirs = map(((stated["alpha"] or {}) | (stated["accuracy"] or {})).get, ("value", "share", "low", "high"), [0] * 4)
    differ = np.abs(np.array([agreement or 0, *(accuracy or [0, 0, 0])]) - [*theirs]).max()
    return bool(off > 1e-9 or differ > 1e-9)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
