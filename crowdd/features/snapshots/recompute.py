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


def alpha(groups, z=1.959963984540054):
    """Krippendorff's alpha of classes, by tasks, and its interval by the standard error over tasks."""
    if len(classes := sorted({each for group in groups for each in group})) < 2:
        return [np.nan] * 3
    counts = np.array([[group.count(each) for each in classes] for group in groups], float)
    sizes, n = counts.sum(1), counts.sum()
    differ, chance = (sizes**2 - (counts**2).sum(1)) / (sizes - 1), (n**2 - (counts.sum(0) ** 2).sum()) / (n * (n - 1))
    known = len(sizes) >= 10 and differ.any()
    half = z * np.std(differ, ddof=1) * np.sqrt(len(sizes)) / n / chance if known else np.nan
    return [(value := 1 - differ.sum() / n / chance), value - half, np.minimum(1, value + half)]


def wilson(right, n, z=1.959963984540054):
    middle, half = right + z * z / 2, z * np.sqrt(right * (n - right) / n + z * z / 4)
    return [right / n, (middle - half) / (n + z * z), (middle + half) / (n + z * z)]


def main(folder):
    results, stated = read(folder, "results"), json.loads((folder / "figures.json").read_text("utf-8"))
    classes = {each["answer"]: json.dumps(each["class"]) for each in read(folder, "answers") if each["fits"]}
    weighed = [each for each in results if "prior" in (each["model"] or ())]
    off = max((np.abs(posterior(each["model"]) - each["model"]["posterior"]).max() for each in weighed), default=0)
    for each in (one for one in weighed if one["confidence"] is not None):
        right = np.interp(max(each["model"]["posterior"]), *map(stated["recalibration"].get, ("values", "shares")))
        off = max(off, abs(right - each["confidence"]))
    print(f"{len(weighed)} posteriors, at most {off:.1e} off.")
    first = (json.loads((folder / "project.json").read_text("utf-8"))["settings"]["trust"] or {}).get("min_answers")
    groups = [[classes[n] for n in one["answers"] if n in classes][:first] for one in results if one["last_version"]]
    groups, drawn = [each for each in groups if len(each) > 1], [each for each in results if each["sample"] is not None]
    right = wilson(sum(one["model"]["class"] == one["sample"] for one in drawn), len(drawn)) if drawn else [np.nan] * 3
    for name, key, n, own in (("alpha", "value", len(groups), alpha(groups)), ("accuracy", "share", len(drawn), right)):
        theirs = [(stated[name] or {}).get(each) for each in (key, "low", "high")]
        off = max(off, np.abs(np.diff(np.nan_to_num(np.array([own, theirs], float)), axis=0)).max())
        print("{}: {:.10f} ({:.4f} to {:.4f}), n = {}.".format(name.capitalize(), *own, n))
    return bool(off > 1e-9)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
