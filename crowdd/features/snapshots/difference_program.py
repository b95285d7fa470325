"""The program that compares two snapshots, with bounded memory and time: ``differences`` starts it.

Its folder has the deflated files of both in ``before`` and ``after``, and ``about.json``: the hashes of the documents
of both, and codes of volunteers who have withdrawn. It gets ``changes.ndjson``, and ``summary.json`` as the last file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson

from crowdd.features.snapshots.canonical_json import dumps
from crowdd.features.snapshots.comparing import CHANGES, TABLES, Comparison, KeptSnapshot
from crowdd.features.snapshots.snapshot_program import read_deep_values
from crowdd.kernel.concurrency.isolated import Limits
from crowdd.kernel.values import Values

LIMITS: Final = Limits(memory=2_000_000_000, cpu_seconds=900, file_bytes=10_000_000_000, niceness=19)
MAX_NAMED: Final = 200  # settings that the summary has with their values
MAX_SHOWN: Final = 500  # characters of a value there
ABOUT_FILE, SUMMARY_FILE, CHANGES_FILE = "about.json", "summary.json", "changes.ndjson"
BEFORE_FOLDER, AFTER_FOLDER = "before", "after"


def compare(path: str) -> None:
    """Writes the changes, and then the summary."""
    read_deep_values()
    folder = Path(path)
    about = orjson.loads((folder / ABOUT_FILE).read_bytes())
    withdrawn = frozenset(about["withdrawn"])
    comparison = Comparison(
        KeptSnapshot(folder / BEFORE_FOLDER, withdrawn), KeptSnapshot(folder / AFTER_FOLDER, withdrawn)
    )
    counts = {kind: dict.fromkeys(CHANGES, 0) for kind in TABLES}
    named: dict[str, list[Values]] = {"setting": [], "document": []}
    with (folder / CHANGES_FILE).open("wb") as out:
        for change in comparison.changes((about[BEFORE_FOLDER], about[AFTER_FOLDER])):
            out.write(dumps(change) + b"\n")
            kind = change["kind"]
            if kind in counts:
                counts[kind][change["change"]] += 1
            elif len(named[kind]) < MAX_NAMED:
                named[kind].append(_short(change))
    summary = {"counts": counts, "settings": named["setting"], "documents": named["document"]}
    (folder / SUMMARY_FILE).write_bytes(orjson.dumps(summary))


def _short(change: Values) -> Values:
    """A change of a setting with its values as texts for people."""
    if "values" not in change:
        return {"name": change["name"], "change": change["change"]}
    return {"name": change["name"], "values": [_shown(value) for value in change["values"]]}


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else dumps(value).decode()
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
