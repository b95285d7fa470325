"""Check what rules decided, by the files of a snapshot: python recheck_rules.py FOLDER. It needs numpy alone."""

# mypy: allow-untyped-defs, allow-untyped-calls

import json
import sys
import unicodedata
from pathlib import Path

import numpy as np


def read(folder, name):
    return [json.loads(line) for line in (folder / f"{name}.ndjson").open("rb")]


def folded(text):
    return unicodedata.normalize("NFC", text).strip().casefold()


def number_of(choice, choices):
    """The number of a choice, from 1; 0: it is none. Spaces at its ends and case matter only if they must."""
    numbers = [n for n, each in enumerate(choices, 1) if json.dumps(each) == json.dumps(choice)]
    if numbers or not isinstance(choice, str):
        return numbers[0] if numbers else 0
    numbers = [n for n, each in enumerate(choices, 1) if isinstance(each, str) and folded(each) == folded(choice)]
    return numbers[0] if len(numbers) == 1 else 0


def measure(condition, decision):
    """What a condition measures of the answers of a decision; None: it cannot be told."""
    name, skill = condition["measure"], np.float32(condition.get("skill", 0))
    if name == "confidence":
        return decision["confidence"]
    pairs = zip(decision["classes"], decision["accuracies"], strict=True)
    classes = [n or 0 for n, accuracy in pairs if "skill" not in condition or np.float32(accuracy or 0) >= skill]
    votes = {n: classes.count(n) for n in classes if n}
    wanted = number_of(condition["choice"], decision["choices"]) if "choice" in condition else None
    if name == "votes":
        return max(votes.values(), default=0) if wanted is None else votes.get(wanted, 0)
    if name == "in_a_row":
        last = classes[-1] if wanted is None and classes else wanted
        return next((n for n, each in enumerate(reversed(classes)) if each != last or not last), len(classes))
    if name == "agreement":
        n = sum(votes.values())
        return sum(each * (each - 1) for each in votes.values()) / (n * (n - 1)) if n > 1 else None
    return len(classes) if name == "answers" else len(votes)


def holds(rule, decision):
    return all(
        (value := measure(each, decision)) is not None
        and np.float32(each.get("min", -np.inf)) <= np.float32(value) <= np.float32(each.get("max", np.inf))
        for each in rule["when"]
    )


def main(folder):
    versions = {each["version"]: {rule["name"]: rule for rule in each["rules"]} for each in read(folder, "rules")}
    decisions, results = read(folder, "decisions"), read(folder, "results")
    wrong, unknown = [], 0
    for each in decisions:
        rule = versions[each["version"]].get(each["rule"])
        known = each["classes"] is not None and each["choices"] is not None
        unknown += not known
        if rule is None or rule["then"] != each["kind"] or (known and not holds(rule, each)):
            wrong.append(f"task {each['task']}: {each['rule']} did not hold")
    noted = {(each["task"], each["rule"], each["version"]) for each in decisions if each["kind"] == "complete"}
    for each in results:
        rule = each["last_version"] and (each["model"] or {}).get("rule")
        if rule and (each["task"], rule["name"], rule["version"]) not in noted:
            wrong.append(f"task {each['task']}: no decision completed it")
    summary = f"{len(decisions)} decisions: {len(wrong)} wrong, {unknown} without what they were made of."
    print(*wrong, summary, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
